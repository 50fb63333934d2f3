//! How a room stands, in figures.

use serde::Serialize;
use utoipa::ToSchema;
use vestibule_domain::{RoomId, RoomSnapshot, slots::Use, wait};

/// How a room stands.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RoomStatus {
    /// Its name.
    #[schema(value_type = String, example = "on-sale")]
    pub room: RoomId,
    /// The highest queue number handed out.
    pub queue_counter: u64,
    /// Everyone whose position is at or below it may enter. Negative after negative increments.
    pub serving_counter: i64,
    /// Visitors waiting who are still there.
    pub waiting: u64,
    /// Sessions, those included that Redis has lost and that may still live.
    pub active_users: u64,
    /// Of these, sessions that Redis has lost and whose holders have not been seen again.
    pub unconfirmed_users: u64,
    /// Admissions in the last 60 seconds.
    pub admitted_last_minute: u64,
    /// Sessions that ever began since the reset.
    pub admitted: u64,
    /// Positions that expired unclaimed since the reset.
    pub expired: u64,
    /// Whether there is a line: a newcomer stands behind someone.
    pub queueing: bool,
    /// The pace of admissions, smoothed.
    pub admissions_per_second: f64,
    /// How long a newcomer would wait; null: unknown.
    pub wait_seconds: Option<u64>,
    /// Changes with every reset; request ids of before a reset are void.
    pub reset_epoch: u64,
    /// The controller that leads; null: none does this moment.
    pub leader: Option<String>,
}

// === impl RoomStatus ===

impl RoomStatus {
    /// The status of a room at one moment.
    #[must_use]
    pub fn new(snapshot: RoomSnapshot, leader: Option<String>) -> Self {
        Self {
            queue_counter: snapshot.queue_counter,
            serving_counter: snapshot.serving_counter,
            waiting: snapshot.waiting(),
            active_users: snapshot.active + snapshot.phantom,
            unconfirmed_users: snapshot.phantom,
            admitted_last_minute: snapshot.admitted_last_minute,
            admitted: snapshot.admitted,
            expired: snapshot.expired,
            queueing: snapshot.is_queueing(),
            admissions_per_second: snapshot.figures.admissions_per_second,
            wait_seconds: newcomers_wait(&snapshot),
            reset_epoch: snapshot.reset_epoch,
            room: snapshot.room,
            leader,
        }
    }
}

fn newcomers_wait(room: &RoomSnapshot) -> Option<u64> {
    let settings = &room.settings;
    if settings.suspended {
        return Some(0);
    }
    if settings.queue_all {
        return None;
    }
    if room.is_queueing() {
        let ahead = room.people_ahead(room.position(room.queue_counter + 1));
        return wait::fifo_seconds(ahead, room.figures.admissions_per_second).map(whole);
    }
    let usage = Use {
        ceiling: settings.total_active_users,
        active: room.active + room.phantom,
        rate: settings.new_users_per_minute,
        admitted_last_minute: room.admitted_last_minute,
    };
    usage.slots().filter(|slots| *slots > 0).map(|_| 0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive time")]
fn whole(seconds: f64) -> u64 {
    seconds.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(queue: u64, serving: i64, settings: &str) -> RoomSnapshot {
        let json = format!(
            r#"{{"room":"r","settings":{settings},"reset_epoch":7,"generation":1,"now_ms":1,
            "queue_counter":{queue},"serving_counter":{serving},"admitted":30,"active":20,
            "phantom":2,"expired":0,"skipped":0,"expired_position":0,"admitted_last_minute":5,
            "tokens_until":0,"figures":{{"waiting":40,"admissions_per_second":2.0,
            "ahead":[[50,0],[90,40]]}}}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    fn wait(queue: u64, serving: i64, settings: &str) -> Option<u64> {
        RoomStatus::new(room(queue, serving, settings), None).wait_seconds
    }

    #[test]
    fn the_figures_are_the_snapshots() {
        let status = RoomStatus::new(room(90, 50, "{}"), Some("controller-1".into()));
        assert_eq!((status.queue_counter, status.serving_counter, status.waiting), (90, 50, 40));
        assert_eq!((status.active_users, status.unconfirmed_users), (22, 2));
        assert!(status.queueing);
        assert!(!RoomStatus::new(room(90, 90, "{}"), None).queueing);
    }

    #[test]
    fn the_wait_is_told_only_when_it_is_known() {
        assert_eq!(wait(90, 50, "{}"), Some(20), "40 people at 2 a second");
        assert_eq!(wait(90, 50, r#"{"queue_all":true}"#), None);
        assert_eq!(wait(90, 50, r#"{"suspended":true}"#), Some(0));
        assert_eq!(wait(90, 90, r#"{"total_active_users":23}"#), Some(0));
        assert_eq!(wait(90, 90, r#"{"total_active_users":22}"#), None, "full");
        assert_eq!(wait(90, 90, "{}"), None, "nobody knows when the operator increments");
    }
}
