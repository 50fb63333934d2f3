//! What is in force, and until when.

use serde::{Deserialize, Serialize};

use super::EventName;
use crate::RoomSettings;

/// A period in which the same settings are in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// When the next phase begins, unix milliseconds; `None`: no event is scheduled.
    pub until_ms: Option<u64>,
    /// What is in force until then.
    pub in_force: InForce,
}

/// The settings in force, and the event that they come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InForce {
    /// The room's settings with the event's overrides.
    pub settings: RoomSettings,
    /// The event in force; `None`: the room's own settings are in force.
    #[serde(default)]
    pub event: Option<EventInForce>,
}

/// The event that is in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventInForce {
    /// Its name.
    pub name: EventName,
    /// Whether its pre-queue is open and it has not started: nobody is admitted.
    pub prequeueing: bool,
    /// When it starts, unix seconds.
    pub start: u64,
    /// When it ends, unix seconds.
    pub end: u64,
    /// Whether everyone who comes before the start is shuffled at the start.
    pub draw: bool,
}

/// How far an event has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum EventState {
    /// It has not begun.
    Scheduled,
    /// Its pre-queue is open.
    Prequeueing,
    /// It has started.
    Running,
    /// It has ended.
    Over,
    /// It, or its room, is suspended: it is passed over.
    Suspended,
}
