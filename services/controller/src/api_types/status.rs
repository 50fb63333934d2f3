//! How a room stands, in figures.

use serde::Serialize;
use utoipa::ToSchema;
use vestibule_domain::{
    QueueingMethod, RoomId, RoomSnapshot,
    schedule::{EventName, RoomConfig, moment},
};
use vestibule_store::EndedSessions;

/// How a room stands.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RoomStatus {
    /// Its name.
    #[schema(value_type = String, example = "on-sale")]
    pub room: RoomId,
    /// What it does.
    pub state: RoomState,
    /// The method in force: the event's, or the room's own.
    pub queueing_method: QueueingMethod,
    /// The event in force, pre-queue included; null: the room's own settings are in force.
    #[schema(value_type = Option<String>, example = "album-release")]
    pub event: Option<EventName>,
    /// When the event that comes next starts; null: none is planned, or the room is suspended.
    #[serde(with = "moment::option")]
    #[schema(value_type = Option<String>, format = DateTime, example = "2026-11-05T10:00:00Z")]
    pub next_event_start_time: Option<u64>,
    /// When its pre-queue opens; null: it has none.
    #[serde(with = "moment::option")]
    #[schema(value_type = Option<String>, format = DateTime, example = "2026-11-05T09:30:00Z")]
    pub next_event_prequeue_start_time: Option<u64>,
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
    /// The ceiling on sessions in force: the event's, or the room's own; null: there is none.
    pub total_active_users: Option<u64>,
    /// The most admissions in a minute in force; null: no such limit.
    pub new_users_per_minute: Option<u64>,
    /// Admissions in the last 60 seconds.
    pub admitted_last_minute: u64,
    /// Sessions that ever began since the reset.
    pub admitted: u64,
    /// Sessions that were completed since the reset: by their visitors, or by the site.
    pub completed_sessions: u64,
    /// Sessions that the site has given up since the reset.
    pub abandoned_sessions: u64,
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

/// What a room does. The first that is true, from `suspended` up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoomState {
    /// There is no line.
    NotQueueing,
    /// There is a line.
    Queueing,
    /// An event's pre-queue is open: nobody enters until it starts.
    EventPrequeueing,
    /// Everyone is held: see `queue_all`.
    QueueAll,
    /// The room is off.
    Suspended,
}

// === impl RoomStatus ===

impl RoomStatus {
    /// The status of a room at one moment, of a room for which this is planned.
    #[must_use]
    pub fn new(
        snapshot: RoomSnapshot,
        config: &RoomConfig,
        ended: EndedSessions,
        leader: Option<String>,
    ) -> Self {
        let next = config.next_event(snapshot.now_ms);
        Self {
            state: RoomState::from_snapshot(&snapshot),
            queueing_method: snapshot.settings.queueing_method,
            next_event_start_time: next.map(|event| event.start),
            next_event_prequeue_start_time: next.and_then(|event| event.prequeue_start),
            queue_counter: snapshot.queue_counter,
            serving_counter: snapshot.serving_counter,
            waiting: snapshot.waiting(),
            active_users: snapshot.active + snapshot.unconfirmed,
            unconfirmed_users: snapshot.unconfirmed,
            total_active_users: snapshot.settings.total_active_users,
            new_users_per_minute: snapshot.settings.new_users_per_minute,
            admitted_last_minute: snapshot.admitted_last_minute,
            admitted: snapshot.admitted,
            completed_sessions: ended.completed,
            abandoned_sessions: ended.abandoned,
            expired: snapshot.expired,
            queueing: snapshot.is_queueing(),
            admissions_per_second: snapshot.figures.admissions_per_second,
            wait_seconds: newcomers_wait(&snapshot),
            reset_epoch: snapshot.reset_epoch,
            event: snapshot.event.map(|event| event.name),
            room: snapshot.room,
            leader,
        }
    }
}

// === impl RoomState ===

impl RoomState {
    fn from_snapshot(room: &RoomSnapshot) -> Self {
        if room.settings.suspended {
            Self::Suspended
        } else if room.settings.queue_all {
            Self::QueueAll
        } else if room.is_prequeueing() {
            Self::EventPrequeueing
        } else if room.is_queueing() {
            Self::Queueing
        } else {
            Self::NotQueueing
        }
    }
}

fn newcomers_wait(room: &RoomSnapshot) -> Option<u64> {
    if room.is_open() || room.is_queueing() || room.rejects() {
        return room
            .outlook(room.queue_counter + 1, room.now_ms, room.progress())
            .wait
            .seconds
            .map(whole);
    }
    room.usage().slots().filter(|slots| *slots > 0).map(|_| 0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive time")]
fn whole(seconds: f64) -> u64 {
    seconds.round() as u64
}

#[cfg(test)]
mod tests {
    use vestibule_domain::schedule::EventInForce;

    use super::*;

    fn room(queue: u64, serving: i64, settings: &str) -> RoomSnapshot {
        let json = format!(
            r#"{{"room":"r","settings":{settings},"reset_epoch":7,"generation":1,"now_ms":1,
            "queue_counter":{queue},"serving_counter":{serving},"admitted":30,"active":20,
            "unconfirmed":2,"expired":0,"skipped":0,"expired_position":0,"admitted_last_minute":5,
            "tokens_until":0,"figures":{{"waiting":40,"admissions_per_second":2.0,
            "ahead":[[50,0],[90,40]]}}}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    fn status(room: RoomSnapshot) -> RoomStatus {
        RoomStatus::new(room, &RoomConfig::default(), EndedSessions::default(), None)
    }

    fn wait(queue: u64, serving: i64, settings: &str) -> Option<u64> {
        status(room(queue, serving, settings)).wait_seconds
    }

    #[test]
    fn the_figures_are_the_snapshots() {
        let status = status(room(90, 50, "{}"));
        assert_eq!((status.queue_counter, status.serving_counter, status.waiting), (90, 50, 40));
        assert_eq!((status.active_users, status.unconfirmed_users), (22, 2));
        assert!(status.queueing);
        assert!(!self::status(room(90, 90, "{}")).queueing);
    }

    #[test]
    fn the_state_is_what_matters_most() {
        let event: EventInForce = serde_json::from_str(
            r#"{"name":"launch","prequeueing":true,"start":9,"end":99,"draw":false}"#,
        )
        .unwrap();
        let mut line = room(90, 50, r#"{"suspended":true,"queue_all":true}"#);
        line.event = Some(event);
        let mut states = vec![status(line.clone()).state];
        line.settings.suspended = false;
        states.push(status(line.clone()).state);
        line.settings.queue_all = false;
        states.push(status(line.clone()).state);
        line.event.as_mut().unwrap().prequeueing = false;
        let running = status(line.clone());
        assert_eq!(running.event.map(|name| name.to_string()).as_deref(), Some("launch"));
        states.push(running.state);
        line.serving_counter = 90;
        states.push(status(line).state);
        let names = serde_json::to_value(states).unwrap();
        let expected = ["suspended", "queue_all", "event_prequeueing", "queueing", "not_queueing"];
        assert_eq!(names, serde_json::json!(expected));
    }

    #[test]
    fn the_event_that_comes_next_is_told() {
        let config = r#"{"events":[{"name":"b","event_start_time":9000,"event_end_time":9999},
            {"name":"a","event_start_time":2000,"event_end_time":3000,"prequeue_start_time":1000}]}"#;
        let config: RoomConfig = serde_json::from_str(config).unwrap();
        let told = |now_ms| {
            let room = RoomSnapshot { now_ms, ..room(0, 0, "{}") };
            let status = RoomStatus::new(room, &config, EndedSessions::default(), None);
            (status.next_event_start_time, status.next_event_prequeue_start_time)
        };
        assert_eq!(told(999_999), (Some(2000), Some(1000)));
        assert_eq!(told(1_000_000), (Some(9000), None));
        assert_eq!(told(9_000_000), (None, None));
    }

    #[test]
    fn the_wait_is_told_only_when_it_is_known() {
        assert_eq!(wait(90, 50, "{}"), Some(20), "40 people at 2 a second");
        assert_eq!(wait(90, 50, r#"{"queue_all":true}"#), None);
        assert_eq!(wait(90, 50, r#"{"suspended":true}"#), Some(0));
        assert_eq!(wait(90, 50, r#"{"queueing_method":"passthrough"}"#), Some(0));
        assert_eq!(wait(90, 90, r#"{"queueing_method":"reject"}"#), None);
        assert_eq!(wait(90, 90, r#"{"total_active_users":23}"#), Some(0));
        assert_eq!(
            wait(90, 90, r#"{"total_active_users":22}"#),
            Some(20),
            "full, and 40 are before"
        );
        assert_eq!(wait(90, 90, "{}"), None, "nobody knows when the operator increments");
    }
}
