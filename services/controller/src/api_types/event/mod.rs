//! A scheduled event as operators write and read it: the domain's, without what is stored of its
//! draw.

use serde::Serialize;
use serde_json::Value;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, Schema},
};
use vestibule_domain::{
    RoomSettings,
    schedule::{self, EventName, EventState, Overrides},
};
use vestibule_runtime::{Problem, ProblemType};

use super::{Members, members::merged_schema};

/// An event, as it is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Event(schedule::Event);

/// The events of a room.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct EventList {
    /// In the order in which they come into force.
    pub events: Vec<Event>,
}

/// An event with everything resolved, and how far it has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EventDetails {
    /// The event; what it leaves to its room has the room's value. A limit of null: none.
    #[serde(flatten)]
    event: Event,
    #[serde(flatten)]
    progress: EventProgress,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
struct EventProgress {
    /// How far it has come, by the room's time.
    state: EventState,
}

// === impl Event ===

impl From<schedule::Event> for Event {
    fn from(event: schedule::Event) -> Self {
        Self(event.without_secrets())
    }
}

impl PartialSchema for Event {
    fn schema() -> RefOr<Schema> {
        merged_schema(
            "An event: from its start to its end, what it sets goes before what its room sets.\n\n\
             What it leaves out, or sets to null, is the room's, as it is at that moment. Events of \
             a room do not overlap, pre-queues included.",
            [schedule::Event::schema(), Overrides::schema()],
        )
    }
}

impl ToSchema for Event {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schedule::Event::schemas(schemas);
        Overrides::schemas(schemas);
    }
}

// === impl EventDetails ===

impl EventDetails {
    /// `event`, which brings `settings` into force.
    #[must_use]
    pub fn new(event: schedule::Event, settings: &RoomSettings, state: EventState) -> Self {
        let event = schedule::Event { overrides: Overrides::all_of(settings), ..event };
        Self { event: event.into(), progress: EventProgress { state } }
    }
}

impl PartialSchema for EventDetails {
    fn schema() -> RefOr<Schema> {
        merged_schema(
            "An event with what it leaves to its room resolved, as the room is now (a limit of \
             null: none), and how far it has come.",
            [Event::schema(), EventProgress::schema()],
        )
    }
}

impl ToSchema for EventDetails {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        Event::schemas(schemas);
        EventProgress::schemas(schemas);
    }
}

// === impl Members ===

impl Members {
    /// The event `name` with these members over the defaults. Its commitment is as the client sent
    /// it: see [`take_commitment`].
    ///
    /// # Errors
    /// A 400 that names the wrong field and the reason.
    pub fn create_event(mut self, name: &EventName) -> Result<schedule::Event, Problem> {
        self.name_if_unnamed(name);
        let overrides = self.take()?;
        let event: schedule::Event = self.take()?;
        self.refuse_rest()?;
        // A document that was read, changed and sent back names its event.
        if event.name != *name {
            return Err(invalid_event().field("name", "is not the event of the address"));
        }
        Ok(schedule::Event { overrides, ..event })
    }

    /// `current` with these members over it, as a JSON merge patch (RFC 7396); a null stands for
    /// itself where a member may be null.
    ///
    /// # Errors
    /// A 400 that names the wrong field and the reason.
    pub fn merge_event(self, current: &schedule::Event) -> Result<schedule::Event, Problem> {
        self.over(&Event::from(current.clone()))?.create_event(&current.name)
    }

    pub(super) fn name_if_unnamed(&mut self, name: &EventName) {
        let given = self.0.entry("name").or_insert(Value::Null);
        if given.is_null() {
            *given = name.as_str().into();
        }
    }
}

/// Takes from `event` the commitment that a client sent: it is made here.
///
/// # Errors
/// A 400 when it is not that of `before`, in whose place the event goes.
pub(crate) fn take_commitment(
    event: &mut schedule::Event,
    before: Option<&schedule::Event>,
) -> Result<(), Problem> {
    let sent = event.commitment.take();
    if sent.is_some() && sent.as_ref() != before.and_then(|before| before.commitment.as_ref()) {
        return Err(invalid_event().field("commitment", "is made here and cannot be set"));
    }
    Ok(())
}

/// A 400 for an event; the fields are added by the caller.
pub(crate) fn invalid_event() -> Problem {
    Problem::new(ProblemType::InvalidRequest).detail("the event cannot be set like this")
}

#[cfg(test)]
mod tests;
