//! Scheduled events of a room: one file for each operation.

pub(crate) mod delete_event;
pub(crate) mod get_event;
pub(crate) mod get_event_details;
pub(crate) mod list_events;
pub(crate) mod patch_event;
pub(crate) mod put_event;

use serde::Deserialize;
use utoipa::IntoParams;
use vestibule_domain::{
    RoomId,
    schedule::{Event, EventName, RoomConfig},
};
use vestibule_runtime::{Problem, ProblemType};

/// Which event of which room.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct EventAddress {
    /// The room's name.
    #[param(inline)]
    room: RoomId,
    /// The event's name.
    #[param(inline)]
    event: EventName,
}

/// The event of this name, or the 404 that there is none.
fn find(config: &RoomConfig, name: &EventName) -> Result<Event, Problem> {
    let event = config.event(name.as_str()).cloned();
    event.ok_or_else(|| Problem::new(ProblemType::EventNotFound))
}
