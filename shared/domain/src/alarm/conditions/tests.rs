//! Each condition holds, and nearly holds.

use super::*;

fn room(settings: &str, queue_counter: u64, waiting: u64) -> RoomSnapshot {
    let json = format!(
        r#"{{"room":"sale","settings":{settings},"reset_epoch":7,"generation":1,"now_ms":1,
        "queue_counter":{queue_counter},"serving_counter":10,"admitted":10,"active":0,"unconfirmed":0,
        "expired":0,"skipped":0,"expired_position":0,"admitted_last_minute":0,"tokens_until":0,
        "figures":{{"waiting":{waiting}}}}}"#
    );
    serde_json::from_str(&json).unwrap()
}

fn alarms(room: &RoomSnapshot, free: Option<f64>, waits: Option<(f64, f64)>) -> Vec<Alarm> {
    let found = room_conditions(SeenRoom { room, free, waits });
    found.into_iter().map(|condition| condition.alarm).collect()
}

const LIMITS: &str = r#"{"total_active_users":1000,"new_users_per_minute":100}"#;

#[test]
fn queueing_is_when_people_wait() {
    assert_eq!(alarms(&room("{}", 20, 1), None, None), [Alarm::QueueingBegan]);
    assert_eq!(alarms(&room("{}", 20, 0), None, None), []);
}

#[test]
fn seats_are_empty_beyond_a_tenth_of_the_tighter_limit_while_people_wait() {
    let holds = |room: &RoomSnapshot, free| alarms(room, free, None).contains(&Alarm::SeatsEmpty);
    assert!(holds(&room(LIMITS, 20, 5), Some(10.5)));
    assert!(!holds(&room(LIMITS, 20, 5), Some(10.0)), "a tenth");
    assert!(!holds(&room(LIMITS, 20, 0), Some(90.0)), "nobody waits");
    assert!(!holds(&room(LIMITS, 10, 5), Some(90.0)), "they have been called");
    assert!(!holds(&room("{}", 20, 5), None), "there is no limit");
}

#[test]
fn ghosts_are_most_of_many_places() {
    let holds = |counter, waiting| {
        alarms(&room("{}", counter, waiting), None, None).contains(&Alarm::GhostsInLine)
    };
    assert!(holds(110, 49));
    assert!(!holds(110, 50), "half");
    assert!(!holds(109, 10), "99 places are few");
    assert!(!holds(110, 0), "nobody is there at all");
}

#[test]
fn estimates_are_off_by_more_than_half_and_a_minute() {
    let holds = |told, waited| {
        alarms(&room("{}", 20, 0), None, Some((told, waited))).contains(&Alarm::EstimatesOff)
    };
    assert!(holds(901.0, 600.0) && holds(299.0, 600.0) && holds(71.0, 10.0));
    assert!(!holds(900.0, 600.0) && !holds(300.0, 600.0) && !holds(70.0, 10.0));
}

const NOW_S: u64 = 800 * DAY;

fn deployment(change: impl FnOnce(&mut SeenDeployment)) -> Vec<(Alarm, String)> {
    let mut seen = SeenDeployment { now_ms: NOW_S * 1_000, ..SeenDeployment::default() };
    change(&mut seen);
    let found = deployment_conditions(&seen);
    found.into_iter().map(|condition| (condition.alarm, condition.subject)).collect()
}

fn only(alarm: Alarm) -> Vec<(Alarm, String)> {
    vec![(alarm, String::new())]
}

#[test]
fn a_deployment_without_trouble_has_no_alarm() {
    assert_eq!(deployment(|_| {}), []);
}

#[test]
fn that_redis_went_back_is_told_for_ten_minutes() {
    let at = |ago: u64| deployment(|seen| seen.restored_at_ms = Some(NOW_S * 1_000 - ago));
    assert_eq!(at(600_000), only(Alarm::RedisRewound));
    assert_eq!(at(600_001), []);
}

#[test]
fn what_redis_is_like_is_told() {
    let found = deployment(|seen| seen.not_persistent = true);
    assert_eq!(found, only(Alarm::RedisNotPersistent));
    assert_eq!(deployment(|seen| seen.evicts = true), only(Alarm::RedisEvicts));
}

#[test]
fn a_room_of_which_nothing_is_heard_is_not_served() {
    let heard = |ms: &[u64]| deployment(|seen| seen.unheard_ms = ms.to_vec());
    assert_eq!(heard(&[10_001, 0]), only(Alarm::RoomsNotServed));
    assert_eq!(heard(&[10_000, 0]), []);
}

#[test]
fn the_history_is_late_after_three_minutes() {
    let upto = |ago| deployment(|seen| seen.closed_upto = Some(NOW_S - ago));
    assert_eq!(upto(181), only(Alarm::HistoryNotWritten));
    assert_eq!(upto(180), []);
}

#[test]
fn a_key_is_old_after_a_year() {
    let made = |ago| deployment(|seen| seen.keys = vec![("k".to_owned(), NOW_S - ago)]);
    assert_eq!(made(365 * DAY + 1), [(Alarm::SigningKeyOld, "k".to_owned())]);
    assert_eq!(made(365 * DAY), []);
}

#[test]
fn an_older_secret_is_told() {
    let found = deployment(|seen| seen.secret_is_being_replaced = true);
    assert_eq!(found, only(Alarm::OldSecretStays));
}

#[test]
fn a_token_that_was_there_a_day_ago_ends_within_three_days() {
    let token = |made_ago, left| {
        deployment(|seen| seen.tokens = vec![("ci".to_owned(), NOW_S - made_ago, NOW_S + left)])
    };
    assert_eq!(token(DAY, 3 * DAY - 1), [(Alarm::ApiTokenEnds, "ci".to_owned())]);
    assert_eq!(token(DAY, 3 * DAY), [], "it has three days");
    assert_eq!(token(DAY - 1, 60), [], "whoever has made it today knows");
    assert_eq!(token(DAY, 0), [], "it is over");
}

#[test]
fn the_bounds_are_those_of_the_rules() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/prometheus/rules/vestibule.yml");
    let rules = std::fs::read_to_string(path).unwrap();
    let minutes = |ms: u64| ms / 60_000;
    for (alarm, bound) in [
        (Alarm::SeatsEmpty, format!("> {FREE} * (")),
        (Alarm::GhostsInLine, format!(">= {FEW_PLACES}\n")),
        (Alarm::EstimatesOff, format!(", {OFF_BY_SECONDS})\n")),
        (Alarm::RedisRewound, format!("[{}m]", minutes(REWOUND_FOR_MS))),
        (Alarm::HistoryNotWritten, format!("> {CLOSED_WITHIN}\n")),
        (Alarm::SigningKeyOld, format!("> {} * {DAY}\n", KEY_IS_OLD / DAY)),
        (Alarm::ApiTokenEnds, format!("< {} * {DAY}\n", TOKEN_ENDS / DAY)),
    ] {
        let rule = rules.split("- alert: ").find(|rule| rule.starts_with(alarm.name())).unwrap();
        assert!(rule.contains(&bound), "{}: {bound}", alarm.name());
    }
}
