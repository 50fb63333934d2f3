//! A scheduled event as operators write and read it. The rules are those of
//! `vestibule_domain::schedule`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, Type, schema::SchemaType},
};
use vestibule_domain::{
    QueueingMethod, RoomSettings,
    schedule::{self, EventName, EventState, Overrides},
};
use vestibule_runtime::{Problem, ProblemType, extract::Json};

use super::{Members, Moment};

/// An event: from its start to its end, what it sets goes before what its room sets.
///
/// What it leaves out, or sets to null, is the room's, as it is at that moment. Events of a room do
/// not overlap, pre-queues included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// Its name: in every answer, and not needed in requests, whose address has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "album-release")]
    pub name: Option<EventName>,
    /// For people.
    #[serde(default)]
    #[schema(max_length = 1000)]
    pub description: String,
    /// When it starts: RFC 3339, or in requests also unix seconds.
    #[schema(value_type = String, format = DateTime, example = "2026-11-05T10:00:00Z")]
    pub event_start_time: Moment,
    /// When it ends, at least 60 seconds later: at this second the room's own settings are back.
    #[schema(value_type = String, format = DateTime, example = "2026-11-05T12:00:00Z")]
    pub event_end_time: Moment,
    /// When its pre-queue opens, at least 5 minutes before the start; null: it has none. From then
    /// on everyone who comes waits, and nobody is let in until the start.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime, default = json!(null),
        example = "2026-11-05T09:30:00Z")]
    pub prequeue_start_time: Option<Moment>,
    /// Whether everyone who comes in the pre-queue gets a place by chance at the start. Who comes
    /// later stands behind them.
    #[serde(default)]
    #[schema(default = false)]
    pub draw_at_event_start: bool,
    /// Public randomness that goes into the draw, so that nobody could know it before; null: none.
    #[serde(default)]
    pub beacon: Option<Beacon>,
    /// SHA-256 of the draw's seed, in hexadecimal: published now, so that nobody can choose another
    /// seed later; null: there is no draw. Made here: requests may only repeat it.
    #[serde(default)]
    #[schema(read_only)]
    pub commitment: Option<String>,
    /// Passed over, as if it were not there.
    #[serde(default)]
    #[schema(default = false)]
    pub suspended: bool,
    /// The ceiling on live sessions; null: the room's. Set together with `new_users_per_minute`, or
    /// not at all.
    #[serde(default)]
    #[schema(default = json!(null), minimum = 0, maximum = 2_147_483_647)]
    pub total_active_users: Option<u64>,
    /// The most admissions in any 60 seconds, not above `total_active_users`; null: the room's.
    #[serde(default)]
    #[schema(default = json!(null), minimum = 0, maximum = 2_147_483_647)]
    pub new_users_per_minute: Option<u64>,
    /// A visitor's session ends after so many seconds without a request; null: as the room has it.
    #[serde(default)]
    #[schema(default = json!(null), minimum = 1, maximum = 604_800)]
    pub session_duration_seconds: Option<u64>,
    /// Whether a visitor's session ends after its duration however busy the visitor is; null: as
    /// the room has it.
    #[serde(default)]
    #[schema(default = json!(null))]
    pub disable_session_renewal: Option<bool>,
    /// The order in which people enter; null: the room's.
    #[serde(default)]
    #[schema(schema_with = method_or_null)]
    pub queueing_method: Option<QueueingMethod>,
}

/// A round of a public randomness beacon (drand).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Beacon {
    /// Where the beacon answers.
    #[schema(max_length = 512, example = "https://api.drand.sh/v2/beacons/quicknet")]
    pub url: String,
    /// The round that goes into the draw: one that is not published before the pre-queue closes.
    #[schema(minimum = 1)]
    pub round: u64,
    /// The beacon's public key, 48 or 96 bytes in hexadecimal, by which its answer is checked.
    pub public_key: String,
}

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
    pub event: Event,
    /// How far it has come, by Redis's clock.
    pub state: EventState,
}

// === impl Event ===

impl Event {
    /// The event `name` as the domain has it, in the place of `before`. What the draw needs is not
    /// in it yet.
    ///
    /// # Errors
    /// A 400 when it brings a commitment that is not that of `before`.
    pub fn into_domain(
        self,
        name: EventName,
        before: Option<&schedule::Event>,
    ) -> Result<schedule::Event, Problem> {
        let made = before.and_then(|before| before.commitment.as_ref());
        if self.commitment.is_some() && self.commitment.as_ref() != made {
            return Err(invalid_event().field("commitment", "is made here and cannot be set"));
        }
        let overrides = Overrides {
            total_active_users: self.total_active_users,
            new_users_per_minute: self.new_users_per_minute,
            session_duration_seconds: self.session_duration_seconds,
            disable_session_renewal: self.disable_session_renewal,
            queueing_method: self.queueing_method,
        };
        Ok(schedule::Event {
            name,
            description: self.description,
            start: self.event_start_time.0,
            end: self.event_end_time.0,
            prequeue_start: self.prequeue_start_time.map(|moment| moment.0),
            draw: self.draw_at_event_start,
            beacon: self.beacon.map(schedule::Beacon::from),
            draw_id: String::new(),
            commitment: None,
            suspended: self.suspended,
            overrides,
        })
    }
}

impl From<schedule::Event> for Event {
    fn from(event: schedule::Event) -> Self {
        Self {
            name: Some(event.name),
            description: event.description,
            event_start_time: Moment(event.start),
            event_end_time: Moment(event.end),
            prequeue_start_time: event.prequeue_start.map(Moment),
            draw_at_event_start: event.draw,
            beacon: event.beacon.map(Beacon::from),
            commitment: event.commitment,
            suspended: event.suspended,
            total_active_users: event.overrides.total_active_users,
            new_users_per_minute: event.overrides.new_users_per_minute,
            session_duration_seconds: event.overrides.session_duration_seconds,
            disable_session_renewal: event.overrides.disable_session_renewal,
            queueing_method: event.overrides.queueing_method,
        }
    }
}

// === impl Beacon ===

impl From<Beacon> for schedule::Beacon {
    fn from(Beacon { url, round, public_key }: Beacon) -> Self {
        Self { url, round, public_key }
    }
}

impl From<schedule::Beacon> for Beacon {
    fn from(schedule::Beacon { url, round, public_key }: schedule::Beacon) -> Self {
        Self { url, round, public_key }
    }
}

// === impl EventDetails ===

impl EventDetails {
    /// `event`, which brings `settings` into force.
    #[must_use]
    pub fn new(event: schedule::Event, settings: &RoomSettings, state: EventState) -> Self {
        let event = Event {
            total_active_users: settings.total_active_users,
            new_users_per_minute: settings.new_users_per_minute,
            session_duration_seconds: Some(settings.session_duration_seconds),
            disable_session_renewal: Some(settings.disable_session_renewal),
            queueing_method: Some(settings.queueing_method),
            ..event.into()
        };
        Self { event, state }
    }
}

impl PartialSchema for EventDetails {
    /// The event's schema and one more member: an `allOf` would not do, as the event's own schema
    /// allows no other member.
    fn schema() -> RefOr<Schema> {
        let mut schema = Event::schema();
        if let RefOr::T(Schema::Object(object)) = &mut schema {
            object.description = Some(DETAILS.into());
            object.properties.insert("state".into(), states());
            object.required.push("state".into());
        }
        schema
    }
}

impl ToSchema for EventDetails {}

const DETAILS: &str = "An event with what it leaves to its room resolved, as the room is now (a \
    limit of null: none), and how far it has come.";

// === impl Members ===

impl Members {
    /// The event `name` with these members over the defaults.
    ///
    /// # Errors
    /// A 400 that names the wrong field and the reason.
    pub fn create_event(self, name: &EventName) -> Result<Event, Problem> {
        let text = Value::Object(self.into_inner()).to_string();
        let Json(given) = Json::<Event>::from_bytes(text.as_bytes())?;
        // A document that was read, changed and sent back names its event.
        if given.name.as_ref().is_some_and(|given| given != name) {
            return Err(invalid_event().field("name", "is not the event of the address"));
        }
        Ok(given)
    }

    /// `current` with these members over it, as a JSON merge patch (RFC 7396); a null stands for
    /// itself where a member may be null.
    ///
    /// # Errors
    /// A 400 that names the wrong field and the reason.
    pub fn merge_event(self, current: &schedule::Event) -> Result<Event, Problem> {
        let document = serde_json::to_value(Event::from(current.clone()));
        let Ok(Value::Object(mut merged)) = document else {
            return Err(Problem::new(ProblemType::Internal));
        };
        for (field, value) in self.into_inner() {
            merge_member(&mut merged, field, value);
        }
        Self::from_inner(merged).create_event(&current.name)
    }
}

/// A 400 for an event; the fields are added by the caller.
pub(crate) fn invalid_event() -> Problem {
    Problem::new(ProblemType::InvalidRequest).detail("the event cannot be set like this")
}

fn merge_member(members: &mut Map<String, Value>, field: String, value: Value) {
    match (members.get_mut(&field), value) {
        (Some(Value::Object(current)), Value::Object(changes)) => current.extend(changes),
        (_, value) => {
            members.insert(field, value);
        }
    }
}

fn method_or_null() -> RefOr<Schema> {
    let names = QueueingMethod::ALL.map(|method| Value::from(method.name()));
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
        .default(Some(Value::Null))
        .enum_values(Some(names.into_iter().chain([Value::Null])))
        .description(Some("The order in which people enter; null: the room's."))
        .into()
}

fn states() -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(EventState::ALL.map(EventState::name)))
        .description(Some("How far it has come, by Redis's clock."))
        .into()
}

#[cfg(test)]
mod tests;
