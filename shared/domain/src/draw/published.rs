//! Everything that is published of a room's draws, and which of them is shown when no draw is
//! named.

use std::collections::BTreeMap;

use super::{DrawRecord, DrawState};
use crate::{RoomId, schedule::RoomConfig};

/// The draws of `room`, ordered by their start: the finished ones in `drawn`, by draw id, and those
/// of the events in `config` that are not drawn yet, as they stand at `now_ms`, in the room's `reset_epoch`.
#[must_use]
pub fn published(
    room: &RoomId,
    config: &RoomConfig,
    drawn: &BTreeMap<String, DrawRecord>,
    (reset_epoch, now_ms): (u64, u64),
) -> Vec<DrawRecord> {
    let upcoming = config.events.iter().filter(|event| !drawn.contains_key(&event.draw_id));
    let upcoming = upcoming
        .filter_map(|event| DrawRecord::before_draw(room, event, config.state_of(event, now_ms)));
    let drawn = drawn.values().cloned().map(|record| DrawRecord {
        superseded: record.reset_epoch.is_some_and(|drawn_in| drawn_in < reset_epoch),
        ..record
    });
    let mut all: Vec<_> = drawn.chain(upcoming).collect();
    all.sort_by_key(|record| record.event_start);
    all
}

/// The draw under way; else the next one; else the last one, of those before the last reset only if there is no other.
#[must_use]
pub fn foremost(records: &[DrawRecord]) -> Option<&DrawRecord> {
    let under_way = [DrawState::Collecting, DrawState::Drawing];
    let first = |states: &[DrawState]| records.iter().find(|record| states.contains(&record.state));
    let is_drawn = |record: &&DrawRecord| record.state == DrawState::Drawn;
    first(&under_way)
        .or_else(|| first(&[DrawState::Committed]))
        .or_else(|| records.iter().rfind(|record| is_drawn(record) && !record.superseded))
        .or_else(|| records.iter().rfind(is_drawn))
        .or_else(|| records.last())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finished_draws_replace_upcoming_ones_and_the_one_under_way_is_foremost() {
        let event = |name: &str, opens: u64| {
            format!(
                r#"{{"name":"{name}","event_start_time":{},"event_end_time":{},"prequeue_start_time":{opens},"draw_at_event_start":true,
                "draw_id":"id-{name}","commitment":"ab"}}"#,
                opens + 300,
                opens + 900,
            )
        };
        let json = format!(r#"{{"events":[{},{}]}}"#, event("late", 9_000), event("soon", 1_000));
        let config: RoomConfig = serde_json::from_str(&json).unwrap();
        let room = RoomId::new("sale").unwrap();
        let at = |drawn: &BTreeMap<String, DrawRecord>, now_s: u64| {
            let all = published(&room, &config, drawn, (7, now_s * 1000));
            let first = foremost(&all).unwrap();
            (all.len(), first.event.clone(), first.state)
        };
        let mut drawn = BTreeMap::new();
        assert_eq!(at(&drawn, 500), (2, "soon".into(), DrawState::Committed));
        assert_eq!(at(&drawn, 1_000), (2, "soon".into(), DrawState::Collecting));
        assert_eq!(at(&drawn, 1_300), (2, "soon".into(), DrawState::Drawing));
        let record = DrawRecord {
            state: DrawState::Drawn,
            ..published(&room, &config, &drawn, (7, 0)).swap_remove(0)
        };
        drawn.insert("id-soon".into(), record);
        assert_eq!(at(&drawn, 1_301), (2, "late".into(), DrawState::Committed));
        assert_eq!(foremost(&[]), None);
    }

    #[test]
    fn a_draw_from_before_a_reset_is_superseded() {
        let room = RoomId::new("sale").unwrap();
        let record = |event_start, reset_epoch| DrawRecord {
            state: DrawState::Drawn,
            event_start,
            reset_epoch,
            ..DrawRecord::cancelled(&room, &[7; 32])
        };
        let drawn = [record(1, None), record(2, Some(7)), record(3, Some(6))];
        let drawn = (0..).map(|id: u8| id.to_string()).zip(drawn).collect();
        let all = published(&room, &RoomConfig::default(), &drawn, (7, 0));
        let superseded: Vec<_> = all.iter().map(|record| record.superseded).collect();
        assert_eq!(
            superseded,
            [false, false, true],
            "of a record of an older release nobody knows"
        );
        assert_eq!(foremost(&all), all.get(1));
        assert_eq!(foremost(&all[2..]), all.get(2), "it stays to be checked");
    }
}
