//! What a room is restored to when the store has lost it, computed from its last snapshot and from
//! the counters that the running services have observed.

use serde::{Deserialize, Serialize};

use crate::{RoomSnapshot, check_in, schedule::RoomConfig};

/// The highest counters of a room that one service has observed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatermarkReport {
    /// The room's reset epoch.
    pub reset_epoch: u64,
    /// The highest queue number.
    pub queue_counter: u64,
    /// The highest serving counter; `None`: none was observed since the reset.
    pub serving_counter: Option<i64>,
    /// The most sessions that ever began.
    pub admitted: u64,
    /// Seats taken, at most, when `admitted` sessions had begun.
    pub active: u64,
}

/// What a lost room is restored to, in addition to its last snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restoration {
    /// The highest queue number observed.
    pub queue_counter: u64,
    /// The highest serving counter.
    pub serving_counter: i64,
    /// The most sessions that ever began.
    pub admitted: u64,
    /// The largest number of seats that can be taken.
    pub active: u64,
    /// For how long the seats of holders who have not returned count as taken, in seconds.
    pub seats_held_seconds: u64,
    /// How long it takes until everyone in line has checked in again, in seconds.
    pub presence_seconds: u64,
    /// The largest number that can have been admitted in the last minute.
    pub admitted_last_minute: u64,
    /// The id of the draw that the pool waits for.
    pub pool_id: String,
}

// === impl Restoration ===

impl Restoration {
    /// Restores a room from `last`, its last snapshot, and from reports of the same reset epoch.
    /// Each counter is the highest one observed, and as many seats count as taken as possible.
    #[must_use]
    pub fn new(last: &RoomSnapshot, reports: &[WatermarkReport], config: &RoomConfig) -> Self {
        let own = report_from_snapshot(last);
        let current = reports.iter().filter(|report| report.reset_epoch == own.reset_epoch);
        let all: Vec<WatermarkReport> = current.copied().chain([own]).collect();
        let highest = |field: fn(&WatermarkReport) -> u64| all.iter().map(field).max().unwrap_or(0);
        let admitted = highest(|report| report.admitted);
        let seats = all.iter().map(|report| report.active + (admitted - report.admitted)).min();
        let session = last.settings.session_duration_seconds;
        Self {
            queue_counter: highest(|report| report.queue_counter),
            serving_counter: all
                .iter()
                .filter_map(|report| report.serving_counter)
                .max()
                .unwrap_or(0),
            admitted,
            active: seats.unwrap_or(own.active),
            seats_held_seconds: session.max(last.tokens_until.saturating_sub(last.now_seconds()))
                + 1,
            presence_seconds: presence_seconds(last),
            admitted_last_minute: last.admitted_last_minute + (admitted - last.admitted),
            pool_id: pool_id(last, config),
        }
    }
}

fn report_from_snapshot(last: &RoomSnapshot) -> WatermarkReport {
    WatermarkReport {
        reset_epoch: last.reset_epoch,
        queue_counter: last.queue_counter,
        serving_counter: Some(last.serving_counter),
        admitted: last.admitted,
        active: last.active + last.unconfirmed,
    }
}

/// How long it takes until everyone in line has checked in again: one and a half times the longest
/// interval that was given, and 5 seconds.
fn presence_seconds(room: &RoomSnapshot) -> u64 {
    let conditions = room.line_conditions(None, room.now_ms, room.progress());
    let method = room.settings.queueing_method;
    let longest_ms = u64::from(check_in::interval_ms(method, &conditions, 1.0));
    (longest_ms * 3 / 2).div_ceil(1000) + 5
}

/// The draw that the pool waits for: that of the event in force.
fn pool_id(last: &RoomSnapshot, config: &RoomConfig) -> String {
    let event = last.event.as_ref().and_then(|event| config.event(event.name.as_str()));
    event.map(|event| event.draw_id.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(queue_counter: u64, admitted: u64, active: u64) -> WatermarkReport {
        let serving_counter = Some(40);
        WatermarkReport { reset_epoch: 7, queue_counter, serving_counter, admitted, active }
    }

    fn snapshot() -> RoomSnapshot {
        serde_json::from_str(
            r#"{"room":"r","settings":{},"reset_epoch":7,"generation":1,"now_ms":1000000,
            "queue_counter":90,"serving_counter":50,"admitted":30,"active":20,"unconfirmed":2,
            "expired":0,"skipped":0,"expired_position":0,"admitted_last_minute":5,
            "tokens_until":4000,"figures":{}}"#,
        )
        .unwrap()
    }

    fn restored(reports: &[WatermarkReport]) -> Restoration {
        Restoration::new(&snapshot(), reports, &RoomConfig::default())
    }

    #[test]
    fn counters_return_to_the_highest_observed() {
        let foreign = WatermarkReport { reset_epoch: 6, queue_counter: 5000, ..report(0, 0, 0) };
        let without_serving = WatermarkReport { serving_counter: None, ..report(99, 33, 25) };
        let to = restored(&[report(104, 30, 22), without_serving, foreign]);
        assert_eq!(to.queue_counter, 104);
        assert_eq!(to.serving_counter, 50);
        assert_eq!(to.admitted, 33);
        assert_eq!(to.admitted_last_minute, 8, "all that are new may be of the last minute");
    }

    #[test]
    fn as_many_seats_are_taken_as_can_be() {
        let to = restored(&[report(0, 33, 24)]);
        assert_eq!(to.active, 24, "22 at 30 admissions could be 25 at 33; someone saw 24");
        let to = restored(&[report(0, 33, 60)]);
        assert_eq!(to.active, 25);
        assert_eq!(to.seats_held_seconds, 3001, "an AWS-style token lives on till 4000");
    }

    #[test]
    fn the_pool_waits_for_the_draw_of_the_event_in_force() {
        let mut last = snapshot();
        let event = r#"{"name":"sale","event_start_time":2000,"event_end_time":3000,"draw_at_event_start":true,"draw_id":"d1"}"#;
        let events = vec![serde_json::from_str(event).unwrap()];
        let config = RoomConfig { events, ..RoomConfig::default() };
        assert_eq!(Restoration::new(&last, &[], &config).pool_id, "");
        let in_force = r#"{"name":"sale","prequeueing":true,"start":2000,"end":3000,"draw":true}"#;
        last.event = Some(serde_json::from_str(in_force).unwrap());
        assert_eq!(Restoration::new(&last, &[], &config).pool_id, "d1");
    }

    #[test]
    fn presence_comes_together_within_the_longest_interval_told() {
        let room = |waiting: u64| {
            let mut room = snapshot();
            (room.queue_counter, room.serving_counter) = (9, 0);
            (room.figures.waiting, room.figures.admissions_per_second) = (waiting, 10.0);
            room
        };
        assert_eq!(presence_seconds(&room(0)), 7, "1.15 s at the front");
        let [short, long] = [6_000, 10_000_000].map(|waiting| presence_seconds(&room(waiting)));
        assert!(7 < short && short < long, "{short} {long}");
        let longest = u64::from(check_in::LONGEST_MS) * 3 / 2 / 1000;
        assert!(long <= longest + 5, "{long}");
    }
}
