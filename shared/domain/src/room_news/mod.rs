//! What changes in a room that somebody outside may want to be told: that people have begun to queue, that another event
//! is in force, that other limits are.

mod serving;

use serde::{Deserialize, Serialize};

pub use serving::{ServingMove, ServingWatch};

use crate::{RoomSnapshot, alarm::Held};

/// For how long there is a line before queueing counts as begun, and none before it counts as ended, ms: a room whose
/// seats are just full changes from one to the other all the time.
const QUEUEING_MS: (u64, u64) = (5_000, 30_000);

/// The event in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenPhase {
    /// Its name.
    pub event: String,
    /// Whether its pre-queue is open.
    pub prequeueing: bool,
}

/// The limits in force.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenLimits {
    /// The ceiling, where there is one.
    pub total_active_users: Option<u64>,
    /// The most admissions in a minute, where there is such a limit.
    pub new_users_per_minute: Option<u64>,
}

/// How a room was seen last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomWatch {
    queueing: Held,
    #[serde(default)]
    began_ms: u64,
    #[serde(default)]
    phase: Option<SeenPhase>,
    #[serde(default)]
    limits: SeenLimits,
}

/// What has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoomNews {
    /// There is a line.
    QueueingBegan {
        /// How many wait.
        waiting: u64,
    },
    /// There is none any more.
    QueueingEnded {
        /// For how many seconds there was one, if that was seen.
        after_seconds: Option<u64>,
    },
    /// Another event is in force, or its pre-queue is over; `None`: the room's own settings.
    PhaseChanged {
        /// What was in force.
        before: Option<SeenPhase>,
        /// What is in force.
        after: Option<SeenPhase>,
    },
    /// Other limits are in force.
    LimitsChanged {
        /// Those before.
        before: SeenLimits,
        /// Those now.
        after: SeenLimits,
    },
}

// === impl RoomWatch ===

impl RoomWatch {
    /// A room that is seen for the first time: nothing of it is news.
    #[must_use]
    pub fn first(room: &RoomSnapshot) -> Self {
        let queueing = Held { on: room.is_queueing(), since_ms: None };
        Self { queueing, began_ms: 0, phase: phase(room), limits: limits(room) }
    }

    /// Sees the room at `now_ms`; returns what has changed.
    pub fn see(&mut self, room: &RoomSnapshot, now_ms: u64) -> Vec<RoomNews> {
        let mut news = Vec::new();
        let phase = phase(room);
        if phase != self.phase {
            let before = std::mem::replace(&mut self.phase, phase.clone());
            news.push(RoomNews::PhaseChanged { before, after: phase });
        }
        let limits = limits(room);
        if limits != self.limits {
            let before = std::mem::replace(&mut self.limits, limits);
            news.push(RoomNews::LimitsChanged { before, after: limits });
        }
        if self.queueing.see(now_ms, room.is_queueing(), QUEUEING_MS) {
            news.push(self.queueing_news(room, now_ms));
        }
        news
    }

    fn queueing_news(&mut self, room: &RoomSnapshot, now_ms: u64) -> RoomNews {
        if self.queueing.on {
            self.began_ms = now_ms;
            return RoomNews::QueueingBegan { waiting: room.figures.waiting };
        }
        let began_ms = std::mem::take(&mut self.began_ms);
        let after = (began_ms > 0).then(|| now_ms.saturating_sub(began_ms) / 1_000);
        RoomNews::QueueingEnded { after_seconds: after }
    }
}

fn phase(room: &RoomSnapshot) -> Option<SeenPhase> {
    let event = room.event.as_ref()?;
    Some(SeenPhase { event: event.name.as_str().to_owned(), prequeueing: event.prequeueing })
}

fn limits(room: &RoomSnapshot) -> SeenLimits {
    SeenLimits {
        total_active_users: room.settings.total_active_users,
        new_users_per_minute: room.settings.new_users_per_minute,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(ceiling: u64, queue_counter: u64, event: &str) -> RoomSnapshot {
        let json = format!(
            r#"{{"room":"sale","settings":{{"total_active_users":{ceiling}}},"event":{event},
            "reset_epoch":7,"generation":1,"now_ms":1,"queue_counter":{queue_counter},
            "serving_counter":10,"admitted":10,"active":0,"unconfirmed":0,"expired":0,"skipped":0,
            "expired_position":0,"admitted_last_minute":0,"tokens_until":0,
            "figures":{{"waiting":{}}}}}"#,
            queue_counter - 10
        );
        serde_json::from_str(&json).unwrap()
    }

    const SALE: &str = r#"{"name":"sale","prequeueing":true,"start":5,"end":9,"draw":false}"#;

    #[test]
    fn nothing_is_news_of_a_room_that_is_seen_first() {
        let queueing = room(5, 20, SALE);
        let mut watch = RoomWatch::first(&queueing);
        assert_eq!(watch.see(&queueing, 1_000_000), []);
    }

    #[test]
    fn queueing_begins_after_some_seconds_and_ends_after_half_a_minute() {
        let (still, queueing) = (room(5, 10, "null"), room(5, 13, "null"));
        let mut watch = RoomWatch::first(&still);
        assert_eq!(watch.see(&queueing, 1_000), []);
        assert_eq!(watch.see(&queueing, 6_000), [RoomNews::QueueingBegan { waiting: 3 }]);
        assert_eq!(watch.see(&still, 10_000), []);
        assert_eq!(watch.see(&queueing, 20_000), []);
        assert_eq!(watch.see(&still, 30_000), []);
        let ended = RoomNews::QueueingEnded { after_seconds: Some(54) };
        assert_eq!(watch.see(&still, 60_000), [ended]);
    }

    #[test]
    fn phases_and_limits_are_told_as_they_were_and_are() {
        let mut watch = RoomWatch::first(&room(5, 10, "null"));
        let news = watch.see(&room(7, 10, SALE), 1_000);
        let phase = SeenPhase { event: "sale".to_owned(), prequeueing: true };
        let limits =
            |ceiling| SeenLimits { total_active_users: Some(ceiling), ..SeenLimits::default() };
        let expected = [
            RoomNews::PhaseChanged { before: None, after: Some(phase) },
            RoomNews::LimitsChanged { before: limits(5), after: limits(7) },
        ];
        assert_eq!(news, expected);
        assert_eq!(watch.see(&room(7, 10, SALE), 2_000), []);
    }
}
