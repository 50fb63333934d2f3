//! Resets that only those apart have acknowledged while servers are split. The others hear of them once the servers are
//! whole again, and go on in the earlier line until then.

use vestibule_history::{Event, Spans, What};

use crate::crowd::Times;

/// How long after a split the services may take until they have heard of each other: another fault may keep their server
/// away meanwhile.
const HEARD_WITHIN_MS: u64 = 10_000;

/// Each such reset that the others have heard of: the room, and from when until when it was in force for those apart
/// only. `events`: all histories, in order of time.
pub(crate) fn resets_heard_late(events: &[Event]) -> Vec<(String, Times)> {
    let splits = splits(events);
    let heard_late = events.iter().enumerate().filter_map(|(place, reset)| {
        let What::Reset { reset_epoch } = reset.what else { return None };
        let split = splits.of(reset)?;
        let heard = events[place..].iter().find(|event| {
            event.room == reset.room
                && !split.contains(event)
                && event.reset_epoch().is_some_and(|shown| shown >= reset_epoch)
        })?;
        let until_ms = split
            .until_ms()
            .map_or(heard.at_ms, |whole_ms| heard.at_ms.min(whole_ms + HEARD_WITHIN_MS));
        Some((reset.room.as_ref()?.to_string(), reset.began_ms..=until_ms))
    });
    heard_late.collect()
}

fn splits(events: &[Event]) -> Spans {
    let mut splits = Spans::default();
    for event in events {
        if let What::Servers(are) = &event.what {
            splits.observe(are, event.at_ms);
        }
    }
    splits
}

#[cfg(test)]
mod tests {
    use vestibule_history::ServersAre;

    use super::*;

    fn event((began_ms, at_ms): (u64, u64), by: &str, what: What) -> Event {
        let room = serde_json::from_str("\"sale\"").unwrap();
        Event { at_ms, began_ms, by: by.into(), room: Some(room), what }
    }

    fn reset(times: (u64, u64), by: &str, reset_epoch: u64) -> Event {
        event(times, by, What::Reset { reset_epoch })
    }

    fn served(at_ms: u64, by: &str, reset_epoch: u64) -> Event {
        event((at_ms, at_ms), by, What::Served { reset_epoch, serving_counter: 5 })
    }

    fn split() -> Event {
        let apart = vec!["old".into()];
        let are = ServersAre::Split { since_ms: 90, apart };
        event((110, 110), "servers", What::Servers(are))
    }

    fn healed() -> Event {
        event((200, 200), "servers", What::Servers(ServersAre::Healed))
    }

    fn late(events: &[Event]) -> Vec<Times> {
        let late = resets_heard_late(events).into_iter();
        late.map(|(room, times)| (room == "sale").then_some(times).unwrap()).collect()
    }

    #[test]
    fn a_reset_of_those_apart_is_heard_late_and_one_of_the_others_at_once() {
        let of_those_apart = [
            split(),
            reset((120, 130), "old", 8),
            served(140, "old", 8),
            served(150, "new", 7),
            healed(),
            served(400, "new", 7),
            served(443, "old", 8),
            served(500, "new", 8),
        ];
        assert_eq!(late(&of_those_apart), [120..=443]);
        let of_the_others = [
            split(),
            reset((120, 130), "new", 8),
            served(140, "old", 7),
            healed(),
            served(443, "old", 8),
        ];
        assert_eq!(late(&of_the_others), []);
    }

    #[test]
    fn one_before_the_split_is_late_only_where_the_replica_lagged() {
        let lagged = [
            reset((85, 95), "old", 8),
            split(),
            served(120, "new", 7),
            healed(),
            served(300, "new", 8),
        ];
        assert_eq!(late(&lagged), [85..=300]);
        let before = [reset((80, 85), "old", 8), split(), served(120, "new", 8), healed()];
        assert_eq!(late(&before), []);
    }

    #[test]
    fn who_hears_of_it_too_late_or_never_has_no_excuse() {
        let told =
            |at_ms| [split(), reset((120, 130), "old", 8), healed(), served(at_ms, "new", 8)];
        assert_eq!(late(&told(4_000)), [120..=4_000]);
        assert_eq!(late(&told(60_000)), [120..=200 + HEARD_WITHIN_MS]);
        assert_eq!(late(&told(60_000)[..3]), []);
    }
}
