//! What is in force at what time, to the millisecond. Which configs are allowed is tested in
//! `change`.

use proptest::prelude::*;

use super::*;
use crate::schedule::Overrides;

fn event(name: &str, prequeue_start: Option<u64>, start: u64, end: u64) -> Event {
    Event {
        name: name.parse().unwrap(),
        description: String::new(),
        start,
        end,
        prequeue_start,
        draw: false,
        beacon: None,
        draw_id: String::new(),
        commitment: None,
        sealed_seed: None,
        suspended: false,
        overrides: Overrides::default(),
    }
}

fn config(events: Vec<Event>) -> RoomConfig {
    RoomConfig { version: 1, events, ..RoomConfig::default() }
}

/// The event in force, whether it is pre-queueing, and until when.
fn in_force_at(config: &RoomConfig, now_ms: u64) -> (Option<(String, bool)>, Option<u64>) {
    let phase = config.phase_at(now_ms);
    let event = phase.in_force.event.map(|event| (event.name.to_string(), event.prequeueing));
    (event, phase.until_ms)
}

#[test]
fn boundaries_are_half_open_to_the_millisecond() {
    let config = config(vec![event("b", None, 5000, 6000), event("a", Some(1000), 2000, 3000)]);
    let a = |prequeueing| Some(("a".to_owned(), prequeueing));
    let b = Some(("b".to_owned(), false));
    let cases = [
        (0, None, Some(1_000_000)),
        (999_999, None, Some(1_000_000)),
        (1_000_000, a(true), Some(2_000_000)),
        (1_999_999, a(true), Some(2_000_000)),
        (2_000_000, a(false), Some(3_000_000)),
        (2_999_999, a(false), Some(3_000_000)),
        (3_000_000, None, Some(5_000_000)),
        (4_999_999, None, Some(5_000_000)),
        (5_000_000, b.clone(), Some(6_000_000)),
        (5_999_999, b, Some(6_000_000)),
        (6_000_000, None, None),
        (u64::MAX, None, None),
    ];
    for (now, event, until) in cases {
        assert_eq!(in_force_at(&config, now), (event, until), "{now}");
    }
}

#[test]
fn events_back_to_back_leave_no_gap() {
    let config = config(vec![event("a", None, 1000, 2000), event("b", Some(2000), 2300, 3000)]);
    assert_eq!(in_force_at(&config, 1_999_999), (Some(("a".into(), false)), Some(2_000_000)));
    assert_eq!(in_force_at(&config, 2_000_000), (Some(("b".into(), true)), Some(2_300_000)));
}

#[test]
fn an_event_follows_its_room_as_it_changes() {
    let mut sale = event("sale", None, 1000, 2000);
    sale.overrides.session_duration_seconds = Some(60);
    let mut config = config(vec![sale]);
    for ceiling in [10, 20] {
        config.settings.total_active_users = Some(ceiling);
        config.settings.session_duration_seconds = 10 * ceiling;
        let settings = config.phase_at(1_000_000).in_force.settings;
        assert_eq!(settings.total_active_users, Some(ceiling));
        assert_eq!(settings.session_duration_seconds, 60);
        assert_eq!(config.resolved(&config.events[0]), settings);
        assert_eq!(config.phase_at(2_000_000).in_force.settings, config.settings);
    }
    config.settings.queue_all = true;
    assert!(config.phase_at(1_000_000).in_force.settings.queue_all);
}

#[test]
fn sessions_of_an_event_outlast_it() {
    let mut sale = event("sale", Some(900), 1000, 2000);
    sale.overrides.session_duration_seconds = Some(3_600);
    let config = config(vec![sale, event("short", None, 9_000, 9_100)]);
    let longest = |seconds: u64| config.longest_session_seconds(seconds * 1000);
    assert_eq!((longest(899), longest(900)), (300, 3_600), "those inside are renewed");
    assert_eq!((longest(5_600), longest(5_601)), (3_600, 300));
}

#[test]
fn suspended_events_are_skipped() {
    let mut config = config(vec![event("a", Some(1000), 2000, 3000), event("b", None, 4000, 5000)]);
    config.events[0].suspended = true;
    assert_eq!(in_force_at(&config, 2_500_000), (None, Some(4_000_000)));
    assert_eq!(config.state_of(&config.events[0], 2_500_000), EventState::Suspended);
    config.settings.suspended = true;
    assert_eq!(in_force_at(&config, 4_500_000), (None, None));
    assert_eq!(config.next_event(0), None);
    assert_eq!(config.state_of(&config.events[1], 4_500_000), EventState::Suspended);
    assert_eq!(config.state_of(&config.events[1], 5_000_000), EventState::Over);
}

#[test]
fn an_events_life_has_its_states_and_the_next_one_is_known() {
    let config = config(vec![event("a", Some(1000), 2000, 3000), event("b", None, 4000, 5000)]);
    let next = |now| config.next_event(now).map(|event| event.name.as_str());
    let states = [
        (999_999, EventState::Scheduled, Some("a")),
        (1_000_000, EventState::Prequeueing, Some("b")),
        (1_999_999, EventState::Prequeueing, Some("b")),
        (2_000_000, EventState::Running, Some("b")),
        (2_999_999, EventState::Running, Some("b")),
        (3_000_000, EventState::Over, Some("b")),
        (4_000_000, EventState::Over, None),
    ];
    for (now, state, following) in states {
        assert_eq!((config.state_of(&config.events[0], now), next(now)), (state, following));
    }
    assert_eq!(config.event("b").map(|event| event.start), Some(4000));
    assert_eq!(config.event("c"), None);
}

#[test]
fn the_stored_form_is_read_back() {
    let config = config(vec![event("a", Some(1000), 2000, 3000)]);
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<RoomConfig>(&text).unwrap(), config);
    let phase = config.phase_at(1_500_000);
    let text = serde_json::to_string(&phase).unwrap();
    assert_eq!(serde_json::from_str::<Phase>(&text).unwrap(), phase);
}

/// Events one after the other, some back to back, some with a pre-queue, some suspended.
fn configs() -> impl Strategy<Value = RoomConfig> {
    let one = (0u64..3, any::<bool>(), 60u64..90, 0u8..4);
    prop::collection::vec(one, 0..6).prop_map(|plans| {
        let mut time = 10;
        let events = plans.into_iter().enumerate().map(|(index, (gap, prequeue, length, odds))| {
            let opens = time + gap;
            let start = if prequeue { opens + 300 } else { opens };
            time = start + length;
            let name = format!("e{index}");
            let suspended = odds == 0;
            Event { suspended, ..event(&name, prequeue.then_some(opens), start, time) }
        });
        config(events.collect())
    })
}

proptest! {
    /// Phases cover all time without overlapping: within one nothing changes, at its end something
    /// does, and following the ends passes every boundary exactly once.
    #[test]
    fn phases_tile_the_time_line(config in configs()) {
        let mut now = 0;
        let mut begins = vec![];
        loop {
            let phase = config.phase_at(now);
            let Some(until) = phase.until_ms else { break };
            prop_assert!(until > now);
            for within in [now, now + (until - now) / 2, until - 1] {
                prop_assert_eq!(&config.phase_at(within), &phase);
            }
            prop_assert_ne!(&config.phase_at(until).in_force.event, &phase.in_force.event);
            begins.push(until / 1000);
            now = until;
        }
        let in_use = config.events.iter().filter(|event| !event.suspended);
        let mut expected: Vec<_> =
            in_use.flat_map(|event| [event.opens(), event.start, event.end]).collect();
        expected.sort_unstable();
        expected.dedup();
        prop_assert_eq!(begins, expected);
    }

    /// At most one event is in force, and its time includes the current one.
    #[test]
    fn who_is_in_force_is_whose_time_it_is(config in configs(), now in 0u64..3_000_000) {
        let due: Vec<_> = config.events.iter()
            .filter(|e| !e.suspended && (e.opens() * 1000..e.end * 1000).contains(&now))
            .map(|e| e.name.clone())
            .collect();
        prop_assert!(due.len() <= 1);
        let event = config.phase_at(now).in_force.event;
        prop_assert_eq!(event.map(|e| e.name), due.first().cloned());
    }
}
