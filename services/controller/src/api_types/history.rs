//! The traffic history as operators read it.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;
use vestibule_domain::RoomId;
use vestibule_store::MinuteTraffic;

/// What happened in a room, minute by minute.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct History {
    /// Its name.
    #[schema(value_type = String, example = "on-sale")]
    pub room: RoomId,
    /// Minutes with traffic, in order; those without are left out.
    pub minutes: Vec<Minute>,
}

/// One minute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Minute {
    /// When it began, unix seconds.
    pub minute: u64,
    /// Newcomers by region.
    pub arrivals: BTreeMap<String, u64>,
    /// Sessions that began.
    pub admitted: u64,
}

// === impl History ===

impl History {
    /// The history of `room`, from minutes since 1970.
    #[must_use]
    pub fn new(room: RoomId, traffic: BTreeMap<u64, MinuteTraffic>) -> Self {
        let minute = |(minute, traffic): (u64, MinuteTraffic)| Minute {
            minute: minute * 60,
            arrivals: traffic.arrivals,
            admitted: traffic.admitted,
        };
        Self { room, minutes: traffic.into_iter().map(minute).collect() }
    }
}
