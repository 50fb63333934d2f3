//! Which changes of a config are refused, and why. What is in force at what time is tested in
//! `room_config`.

use std::borrow::Cow;

use super::*;
use crate::{
    inlet::PeriodicInlet,
    schedule::{Beacon, Overrides},
};

const NOW: u64 = 10_000;

/// Pre-queue at 20 000, start at 21 000, end at 22 000.
fn event() -> Event {
    let json = r#"{"name":"sale","prequeue_start_time":20000,"event_start_time":21000,"event_end_time":22000,"draw_at_event_start":true}"#;
    serde_json::from_str(json).unwrap()
}

fn other(name: &str, prequeue_start: Option<u64>, start: u64, end: u64) -> Event {
    Event { name: name.parse().unwrap(), prequeue_start, start, end, draw: false, ..event() }
}

fn with(events: Vec<Event>) -> RoomConfig {
    RoomConfig { events, ..RoomConfig::default() }
}

fn fields(errors: &[FieldError]) -> Vec<Cow<'static, str>> {
    errors.iter().map(|error| error.field.clone()).collect()
}

/// The fields that are refused when `changed` replaces [`event`] at `now`.
fn refused(changed: &Event, now: u64) -> Vec<Cow<'static, str>> {
    let config = with(vec![event()]);
    fields(&config.errors_of_change(changed, Some(&event()), now))
}

#[test]
fn a_sound_event_is_taken() {
    assert_eq!(with(vec![]).errors_of_change(&event(), None, NOW), []);
    assert_eq!(with(vec![event()]).errors_of_change(&event(), Some(&event()), NOW), []);
}

#[test]
fn an_unsound_event_is_refused_with_its_own_errors() {
    let short = Event { end: 21_059, ..event() };
    assert_eq!(fields(&with(vec![]).errors_of_change(&short, None, NOW)), ["event_end_time"]);
}

#[test]
fn a_new_event_may_begin_now_and_not_earlier() {
    let config = with(vec![]);
    let queue = |now| fields(&config.errors_of_change(&event(), None, now));
    assert_eq!(queue(20_000), [""; 0]);
    assert_eq!(queue(20_001), ["prequeue_start_time"]);
    let plain = other("plain", None, 21_000, 22_000);
    let start = |now| fields(&config.errors_of_change(&plain, None, now));
    assert_eq!(start(21_000), [""; 0]);
    assert_eq!(start(21_001), ["event_start_time"]);
}

#[test]
fn events_that_overlap_are_refused_and_named() {
    let cases = [
        (Some(19_000), 19_500, 20_000, None),
        (None, 19_500, 20_001, Some("event_end_time")),
        (None, 20_000, 20_500, Some("event_start_time")),
        (None, 21_999, 23_000, Some("event_start_time")),
        (None, 22_000, 23_000, None),
        (Some(21_999), 22_500, 23_000, Some("prequeue_start_time")),
        (Some(22_000), 22_500, 23_000, None),
        (None, 19_000, 30_000, Some("event_end_time")),
    ];
    let mut config = with(vec![event()]);
    for (prequeue, start, end, field) in cases {
        let new = other("new", prequeue, start, end);
        let errors = config.errors_of_change(&new, None, NOW);
        assert_eq!(fields(&errors), field.into_iter().collect::<Vec<_>>(), "{start}");
        if let [error] = errors.as_slice() {
            assert_eq!(error.reason, "overlaps with the event sale");
        }
        let aside = Event { suspended: true, ..new };
        assert_eq!(config.errors_of_change(&aside, None, NOW), [], "a suspended one may");
    }
    config.events[0].suspended = true;
    let new = other("new", None, 20_000, 30_000);
    assert_eq!(config.errors_of_change(&new, None, NOW), [], "over a suspended one, too");
}

#[test]
fn resuming_a_suspended_event_checks_for_overlaps() {
    let new = other("new", None, 20_000, 30_000);
    let aside = Event { suspended: true, ..new.clone() };
    let config = with(vec![event(), aside.clone()]);
    let errors = config.errors_of_change(&new, Some(&aside), NOW);
    assert_eq!(fields(&errors), ["event_start_time"]);
}

#[test]
fn before_it_opens_everything_may_change() {
    let moved = Event {
        prequeue_start: Some(11_000),
        start: 12_000,
        end: 13_000,
        draw: false,
        description: "other".into(),
        ..event()
    };
    assert_eq!(refused(&moved, 10_999), [""; 0]);
    let into_the_past = Event { prequeue_start: Some(9_999), ..event() };
    assert_eq!(refused(&into_the_past, NOW), ["prequeue_start_time"]);
    let none = Event { prequeue_start: None, draw: false, ..event() };
    assert_eq!(refused(&none, 19_999), [""; 0]);
}

#[test]
fn once_the_pre_queue_is_open_the_draw_is_settled() {
    let beacon = Beacon { url: "https://x".into(), round: 1, public_key: "ab".repeat(48) };
    let cases = [
        (Event { prequeue_start: Some(20_100), ..event() }, vec!["prequeue_start_time"]),
        (Event { start: 21_100, ..event() }, vec!["event_start_time"]),
        (Event { draw: false, ..event() }, vec!["draw_at_event_start"]),
        (Event { beacon: Some(beacon), ..event() }, vec!["beacon"]),
        (
            Event { prequeue_start: None, draw: false, ..event() },
            vec!["prequeue_start_time", "draw_at_event_start"],
        ),
        (Event { end: 23_000, ..event() }, vec![]),
        (Event { suspended: true, ..event() }, vec![]),
    ];
    for (changed, fields) in cases {
        assert_eq!(refused(&changed, 19_999), [""; 0], "{changed:?}");
        assert_eq!(refused(&changed, 20_000), fields, "{changed:?}");
    }
}

#[test]
fn without_a_draw_the_start_may_be_postponed_until_it_comes() {
    let before = Event { draw: false, ..event() };
    let later = Event { start: 21_500, ..before.clone() };
    let config = with(vec![before.clone()]);
    assert_eq!(config.errors_of_change(&later, Some(&before), 20_999), []);
    let late = config.errors_of_change(&later, Some(&before), 21_000);
    assert_eq!(fields(&late), ["event_start_time"]);
    let drawn = Event { draw: true, ..before.clone() };
    let errors = config.errors_of_change(&drawn, Some(&before), 20_000);
    assert_eq!(fields(&errors), ["draw_at_event_start"]);
}

#[test]
fn the_end_moves_to_any_time_that_has_not_passed() {
    let ending = |end| Event { end, ..event() };
    assert_eq!(refused(&ending(21_500), 21_500), [""; 0]);
    assert_eq!(refused(&ending(21_499), 21_500), ["event_end_time"]);
    assert_eq!(refused(&ending(30_000), 21_999), [""; 0]);
    assert_eq!(refused(&ending(30_000), 22_000), ["event_end_time"], "it is over");
    assert_eq!(refused(&Event { description: "x".into(), ..event() }, 30_000), [""; 0]);
}

#[test]
fn a_room_has_a_thousand_events_and_no_more() {
    let many = |count: u64| {
        let one = |index| other(&format!("e{index}"), None, index * 100, index * 100 + 60);
        with((300..300 + count).map(one).collect())
    };
    assert_eq!(many(999).errors_of_change(&event_after_all(), None, NOW), []);
    let full = many(1000);
    let errors = full.errors_of_change(&event_after_all(), None, NOW);
    assert_eq!(fields(&errors), ["name"]);
    let again = Event { description: "x".into(), ..full.events[5].clone() };
    assert_eq!(full.errors_of_change(&again, Some(&full.events[5]), NOW), []);
}

fn event_after_all() -> Event {
    other("last", None, 1_000_000, 2_000_000)
}

#[test]
fn settings_that_an_event_conflicts_with_are_refused_and_name_it() {
    // Events set both limits or neither. An older store may hold an event with only one of them.
    let half = Overrides { new_users_per_minute: Some(50), ..Overrides::default() };
    let mut config = with(vec![Event { overrides: half, ..event() }]);
    assert_eq!(config.errors_of_settings(NOW), []);
    config.settings.total_active_users = Some(40);
    let errors = config.errors_of_settings(NOW);
    assert_eq!(fields(&errors), ["new_users_per_minute"]);
    assert!(errors[0].reason.starts_with("with the event sale: must not be above"));
    config.settings.session_duration_seconds = 0;
    assert_eq!(fields(&config.errors_of_settings(NOW)), ["session_duration_seconds"]);
}

#[test]
fn an_event_that_is_over_is_not_combined_with_the_settings() {
    let limits = Overrides {
        total_active_users: Some(5),
        new_users_per_minute: Some(5),
        ..Overrides::default()
    };
    let limited = Event { overrides: limits, ..event() };
    let mut config = with(vec![limited.clone()]);
    config.settings.periodic_inlet = Some(PeriodicInlet::default());
    let told = |now| {
        (config.errors_of_settings(now), config.errors_of_change(&limited, Some(&limited), now))
    };
    let (of_settings, of_change) = told(limited.end - 1);
    assert_eq!(fields(&of_settings), ["periodic_inlet"]);
    assert_eq!(fields(&of_change), ["periodic_inlet"]);
    assert_eq!(told(limited.end), (vec![], vec![]));
}
