//! Everything configured for a room, and the function that says what is in force at what time.

mod given_up;

use serde::{Deserialize, Serialize};
use vestibule_site::SiteBinding;

pub use self::given_up::{COOKIE_SECONDS, GivenUp, MAX_GIVEN_UP};
use super::{Event, EventInForce, EventState, InForce, Phase};
use crate::RoomSettings;

/// The most events of one room.
pub const MAX_EVENTS: usize = 1_000;

/// A room's own settings and its events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoomConfig {
    /// Counts changes; 0: never stored.
    pub version: u64,
    /// The room's own settings.
    pub settings: RoomSettings,
    /// Its events, in any order.
    pub events: Vec<Event>,
    /// Its binding to a site.
    pub binding: SiteBinding,
    /// What its tokens call it still, and the cookies that browsers may hold still. A release before this one leaves out
    /// what it does not know of that.
    #[serde(skip_serializing_if = "GivenUp::is_empty")]
    pub given_up: GivenUp,
}

// === impl RoomConfig ===

impl RoomConfig {
    /// What is in force at `now_ms`, unix milliseconds, and until when. Call it again with
    /// `until_ms` for the next phase.
    #[must_use]
    pub fn phase_at(&self, now_ms: u64) -> Phase {
        let begun = |event: &&Event| millis(event.opens()) <= now_ms && now_ms < millis(event.end);
        // Events do not overlap. If a store has overlapping ones, the one that opens first is in
        // force.
        match self.events_in_use().filter(begun).min_by_key(|event| event.opens()) {
            Some(event) => self.phase_of(event, now_ms),
            None => Phase {
                until_ms: self.next_event(now_ms).map(|event| millis(event.opens())),
                in_force: InForce { settings: self.settings.clone().in_force(), event: None },
            },
        }
    }

    /// The event of this name.
    #[must_use]
    pub fn event(&self, name: &str) -> Option<&Event> {
        self.events.iter().find(|event| event.name.as_str() == name)
    }

    /// The settings in force during `event`: its overrides over the room's current settings.
    #[must_use]
    pub fn resolved(&self, event: &Event) -> RoomSettings {
        event.overrides.over(&self.settings)
    }

    /// For how long, in seconds, a session may last at most that began, or was renewed, under what is or was in force at
    /// `now_ms`, unix milliseconds: those of an event go on when it is over.
    #[must_use]
    pub fn longest_session_seconds(&self, now_ms: u64) -> u64 {
        let session = |event: &Event| self.resolved(event).session_duration_seconds;
        let may_run = |event: &&Event| {
            let until = event.end.saturating_add(session(event));
            millis(event.opens()) <= now_ms && now_ms <= millis(until)
        };
        let of_events = self.events.iter().filter(may_run).map(session);
        of_events.fold(self.settings.session_duration_seconds, u64::max)
    }

    /// The event that comes into force next after `now_ms`, unix milliseconds.
    #[must_use]
    pub fn next_event(&self, now_ms: u64) -> Option<&Event> {
        let ahead = |event: &&Event| millis(event.opens()) > now_ms;
        self.events_in_use().filter(ahead).min_by_key(|event| event.opens())
    }

    /// How far `event` has come at `now_ms`, unix milliseconds.
    #[must_use]
    pub fn state_of(&self, event: &Event, now_ms: u64) -> EventState {
        if now_ms >= millis(event.end) {
            EventState::Over
        } else if event.suspended || self.settings.suspended {
            EventState::Suspended
        } else if now_ms >= millis(event.start) {
            EventState::Running
        } else if now_ms >= millis(event.opens()) {
            EventState::Prequeueing
        } else {
            EventState::Scheduled
        }
    }

    /// Events that are not suspended.
    fn events_in_use(&self) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(|event| !event.suspended && !self.settings.suspended)
    }

    fn phase_of(&self, event: &Event, now_ms: u64) -> Phase {
        let prequeueing = now_ms < millis(event.start);
        let in_force = EventInForce {
            name: event.name.clone(),
            prequeueing,
            start: event.start,
            end: event.end,
            draw: event.draw,
        };
        let settings = self.resolved(event).in_force();
        Phase {
            until_ms: Some(millis(if prequeueing { event.start } else { event.end })),
            in_force: InForce { settings, event: Some(in_force) },
        }
    }
}

fn millis(seconds: u64) -> u64 {
    seconds.saturating_mul(1000)
}

#[cfg(test)]
mod tests;
