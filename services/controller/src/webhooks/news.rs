//! What events say, as JSON: the members of their `data`. Never a ticket, a token, or an address of a visitor.

use serde::Serialize;
use serde_json::{Value, json};
use vestibule_domain::{
    RoomSnapshot,
    alarm::Change,
    room_news::{RoomNews, SeenPhase},
    schedule::moment,
    webhook::EventKind,
};
use vestibule_store::EndedSessions;

/// What the original tells of a room once a minute: one number, and five texts.
#[derive(Debug, Serialize)]
pub(crate) struct WaitingRoomMetrics {
    event_id: String,
    num_active_tokens: u64,
    total_num_tokens: String,
    queue_counter: String,
    serving_number: String,
    completed_sessions: String,
    abandoned_sessions: String,
}

/// What the original tells when a serving counter has moved by itself.
#[derive(Debug, Serialize)]
pub(crate) struct AutomaticIncrement {
    previous_serving_counter_position: i64,
    increment_by: i64,
    current_serving_counter_position: i64,
}

/// What the original tells of a session that was ended.
#[derive(Debug, Serialize)]
pub(crate) struct SessionUpdated<'a> {
    pub(crate) event_id: &'a str,
    pub(crate) request_id: &'a str,
    pub(crate) status: &'static str,
}

// === impl WaitingRoomMetrics ===

impl WaitingRoomMetrics {
    /// Of a room as it is, in which so many seats are of sessions that have ended.
    pub(crate) fn new(room: &RoomSnapshot, kept_seats: u64, ended: EndedSessions) -> Self {
        Self {
            event_id: room.event_id().to_owned(),
            num_active_tokens: room.sessions(kept_seats),
            total_num_tokens: room.admitted.to_string(),
            queue_counter: room.queue_counter.to_string(),
            serving_number: room.serving_counter.to_string(),
            completed_sessions: ended.completed.to_string(),
            abandoned_sessions: ended.abandoned.to_string(),
        }
    }
}

// === impl AutomaticIncrement ===

impl AutomaticIncrement {
    /// From one position to another.
    pub(crate) fn new(before: i64, after: i64) -> Self {
        Self {
            previous_serving_counter_position: before,
            increment_by: after.saturating_sub(before),
            current_serving_counter_position: after,
        }
    }
}

/// What is told of a room.
pub(crate) fn of_room(room: &str, news: &RoomNews) -> (EventKind, Value) {
    match news {
        RoomNews::QueueingBegan { waiting } => {
            (EventKind::QueueingBegan, json!({ "room": room, "waiting": waiting }))
        }
        RoomNews::QueueingEnded { after_seconds } => {
            (EventKind::QueueingEnded, json!({ "room": room, "after_seconds": after_seconds }))
        }
        RoomNews::PhaseChanged { before, after } => {
            let (before, after) = (phase(before.as_ref()), phase(after.as_ref()));
            let data = json!({ "room": room, "before": before, "after": after });
            (EventKind::PhaseChanged, data)
        }
        RoomNews::LimitsChanged { before, after } => {
            let data = json!({ "room": room, "before": before, "after": after });
            (EventKind::LimitsChanged, data)
        }
    }
}

/// What is told of an alarm.
pub(crate) fn of_alarm(change: &Change) -> (EventKind, Value) {
    let kind = if change.firing { EventKind::AlarmFiring } else { EventKind::AlarmResolved };
    let subject = Some(&change.subject).filter(|subject| !subject.is_empty());
    let data = json!({
        "alarm": change.alarm.name(),
        "severity": change.alarm.severity().name(),
        "subject": subject,
        "room": change.about.room,
        "summary": change.about.summary,
        "since": moment::write(change.about.since_ms / 1_000).ok(),
        "runbook": change.alarm.runbook(),
    });
    (kind, data)
}

fn phase(phase: Option<&SeenPhase>) -> Value {
    let Some(SeenPhase { event, prequeueing }) = phase else { return Value::Null };
    let state = if *prequeueing { "prequeueing" } else { "running" };
    json!({ "event": event, "state": state })
}

#[cfg(test)]
mod tests {
    use vestibule_domain::{
        RoomId,
        alarm::{Alarm, Pending},
        room_news::SeenLimits,
    };

    use super::*;

    #[test]
    fn the_figures_of_a_minute_are_the_originals() {
        let room: RoomSnapshot = serde_json::from_value(json!({
            "room": "sale", "settings": {}, "reset_epoch": 7, "generation": 1, "now_ms": 1,
            "queue_counter": 90, "serving_counter": -5, "admitted": 30, "active": 20,
            "unconfirmed": 2, "expired": 0, "skipped": 0, "expired_position": 0,
            "admitted_last_minute": 5, "tokens_until": 0, "figures": {},
        }))
        .unwrap();
        let ended = EndedSessions { completed: 4, abandoned: 3 };
        let told = serde_json::to_value(WaitingRoomMetrics::new(&room, 1, ended)).unwrap();
        let expected = json!({
            "event_id": "sale", "num_active_tokens": 21, "total_num_tokens": "30",
            "queue_counter": "90", "serving_number": "-5", "completed_sessions": "4",
            "abandoned_sessions": "3",
        });
        assert_eq!(told, expected);
    }

    #[test]
    fn an_increment_says_from_where_to_where() {
        let told = serde_json::to_value(AutomaticIncrement::new(3, 5)).unwrap();
        let expected = json!({
            "previous_serving_counter_position": 3, "increment_by": 2,
            "current_serving_counter_position": 5,
        });
        assert_eq!(told, expected);
    }

    #[test]
    fn what_is_told_of_rooms_and_alarms() {
        let after = SeenPhase { event: "release".to_owned(), prequeueing: true };
        let news = RoomNews::PhaseChanged { before: None, after: Some(after) };
        let (kind, data) = of_room("sale", &news);
        assert_eq!(kind, EventKind::PhaseChanged);
        let state = json!({ "event": "release", "state": "prequeueing" });
        assert_eq!(data, json!({ "room": "sale", "before": null, "after": state }));
        let limits = SeenLimits { total_active_users: Some(5), new_users_per_minute: None };
        let news = RoomNews::LimitsChanged { before: SeenLimits::default(), after: limits };
        assert_eq!(of_room("sale", &news).1["after"]["total_active_users"], 5);
        let about = Pending {
            since_ms: 60_000,
            firing: true,
            over_since_ms: None,
            summary: "Room sale: people wait".to_owned(),
            room: Some(RoomId::new("sale").unwrap()),
        };
        let subject = "sale".to_owned();
        let change = Change { alarm: Alarm::QueueingBegan, subject, firing: true, about };
        let (kind, data) = of_alarm(&change);
        let expected = json!({
            "alarm": "VestibuleQueueingBegan", "severity": "info", "subject": "sale", "room": "sale",
            "summary": "Room sale: people wait", "since": "1970-01-01T00:01:00Z",
            "runbook": "docs/runbooks/VestibuleQueueingBegan.md",
        });
        assert_eq!((kind, data), (EventKind::AlarmFiring, expected));
    }
}
