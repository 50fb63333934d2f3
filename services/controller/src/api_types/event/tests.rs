//! An event's document, both ways, and what is refused in it. What its values mean is the domain's.

use super::*;

const TIMES: &str = r#""event_start_time":2000,"event_end_time":3000"#;

fn name() -> EventName {
    "sale".parse().unwrap()
}

fn members(json: &str) -> Members {
    serde_json::from_str(json).unwrap()
}

fn read(document: &str, before: Option<&schedule::Event>) -> Result<schedule::Event, Problem> {
    settled(members(document).create_event(&name())?, before)
}

fn create(members_besides_times: &str) -> Result<schedule::Event, Problem> {
    read(&format!("{{{TIMES}{members_besides_times}}}"), None)
}

fn merge(patch: &str, current: &schedule::Event) -> Result<schedule::Event, Problem> {
    settled(members(patch).merge_event(current)?, Some(current))
}

fn settled(
    mut event: schedule::Event,
    before: Option<&schedule::Event>,
) -> Result<schedule::Event, Problem> {
    take_commitment(&mut event, before)?;
    Ok(event)
}

fn full() -> schedule::Event {
    let all = r#","description":"d","prequeue_start_time":1000,"draw_at_event_start":true,
        "beacon":{"url":"https://x","round":3,"public_key":"ab"},"suspended":true,
        "total_active_users":5,"new_users_per_minute":4,"session_duration_seconds":60,
        "disable_session_renewal":true,"queueing_method":"fifo""#;
    create(all).unwrap()
}

fn wrong(result: Result<schedule::Event, Problem>) -> Vec<String> {
    result.unwrap_err().errors().iter().map(|error| error.field.to_string()).collect()
}

#[test]
fn both_ways_lose_nothing() {
    let event = full();
    assert_eq!((event.start, event.end, event.prequeue_start), (2000, 3000, Some(1000)));
    assert_eq!(event.overrides.disable_session_renewal, Some(true));
    let document = serde_json::to_string(&Event::from(event.clone())).unwrap();
    assert!(document.contains(r#""prequeue_start_time":"1970-01-01T00:16:40Z""#), "{document}");
    assert_eq!(read(&document, None).unwrap(), event);
    let stored = schedule::Event { draw_id: "d".into(), ..event };
    let told = serde_json::to_value(Event::from(stored)).unwrap();
    assert_eq!(told.get("draw_id"), None, "what is stored of the draw is not told");
}

#[test]
fn what_is_left_out_is_the_rooms() {
    let event = create("").unwrap();
    assert_eq!(event.overrides, Overrides::default());
    assert_eq!((event.prequeue_start, event.draw, event.beacon), (None, false, None));
    let document = serde_json::to_value(Event::from(create("").unwrap())).unwrap();
    for field in ["queueing_method", "total_active_users", "commitment", "prequeue_start_time"] {
        assert_eq!(document.get(field), Some(&Value::Null), "{field} is told to be null");
    }
}

#[test]
fn a_patch_changes_only_what_it_names() {
    let current = full();
    let patch = r#"{"name":"sale","event_end_time":"1970-01-01T01:00:00Z","beacon":{"round":4},
        "total_active_users":null,"new_users_per_minute":null}"#;
    let patched = merge(patch, &current).unwrap();
    let mut expected = schedule::Event { end: 3600, ..current.clone() };
    expected.beacon.as_mut().unwrap().round = 4;
    expected.overrides.total_active_users = None;
    expected.overrides.new_users_per_minute = None;
    assert_eq!(patched, expected);
    let without = merge(r#"{"beacon":null}"#, &current).unwrap();
    assert_eq!(without.beacon, None);
    let beacon = r#"{"beacon":{"url":"https://y","round":1,"public_key":"cd"}}"#;
    let with = merge(beacon, &without).unwrap();
    assert_eq!(with.beacon.unwrap().url, "https://y");
}

#[test]
fn the_wrong_field_is_named() {
    let cases = [
        (r#","limit":5"#, "limit"),
        (r#","name":"other""#, "name"),
        (r#","name":"a b""#, "name"),
        (r#","prequeue_start_time":"soon""#, "prequeue_start_time"),
        (r#","prequeue_start_time":-1"#, "prequeue_start_time"),
        (r#","draw_at_event_start":null"#, "draw_at_event_start"),
        (r#","beacon":{"url":"https://x","round":1}"#, "beacon.public_key"),
        (r#","beacon":{"url":"https://x","round":"1","public_key":""}"#, "beacon.round"),
        (r#","total_active_users":-1"#, "total_active_users"),
        (r#","queueing_method":"lifo""#, "queueing_method"),
        (r#","description":5"#, "description"),
        (r#","commitment":"ab""#, "commitment"),
        (r#","draw_id":"ab""#, "draw_id"),
    ];
    for (json, field) in cases {
        assert_eq!(wrong(create(json)), [field], "{json}");
        let patch = format!("{{{}}}", &json[1..]);
        let current = schedule::Event { beacon: None, ..full() };
        assert_eq!(wrong(merge(&patch, &current)), [field], "{json}");
    }
    let timeless = read(r#"{"event_start_time":5}"#, None);
    assert_eq!(wrong(timeless), ["event_end_time"]);
}

#[test]
fn a_commitment_may_be_repeated_and_not_set() {
    let before = schedule::Event { commitment: Some("ab".into()), ..full() };
    let repeat = |commitment: &str| {
        read(&format!(r#"{{{TIMES},"commitment":{commitment}}}"#), Some(&before))
    };
    assert!(repeat(r#""ab""#).is_ok() && repeat("null").is_ok());
    assert_eq!(wrong(repeat(r#""cd""#)), ["commitment"]);
    let patched = merge(r#"{"description":"x"}"#, &before).unwrap();
    assert_eq!(patched.commitment, None, "the caller settles the draw");
}

#[test]
fn details_resolve_what_is_left_to_the_room() {
    let event = create(r#","session_duration_seconds":60"#).unwrap();
    let room = RoomSettings { total_active_users: Some(7), ..RoomSettings::default() };
    let settings = event.overrides.over(&room);
    let details = EventDetails::new(event, &settings, EventState::Scheduled);
    let document = serde_json::to_value(details).unwrap();
    let expected = [
        ("name", Value::from("sale")),
        ("state", Value::from("scheduled")),
        ("total_active_users", Value::from(7)),
        ("new_users_per_minute", Value::Null),
        ("session_duration_seconds", Value::from(60)),
        ("disable_session_renewal", Value::from(false)),
        ("queueing_method", Value::from("fifo")),
    ];
    for (field, value) in expected {
        assert_eq!(document[field], value, "{field}");
    }
}
