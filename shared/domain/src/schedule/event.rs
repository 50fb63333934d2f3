//! A scheduled event of a room, as operators write it and as it is stored, and the checks that
//! depend on neither the room nor the time.

use serde::{Deserialize, Serialize};

use super::{Beacon, EventName, Overrides, moment};
use crate::FieldError;

/// The shortest event, from start to end, in seconds.
pub const MIN_DURATION_SECONDS: u64 = 60;
/// The shortest pre-queue, in seconds.
pub const MIN_PREQUEUE_SECONDS: u64 = 300;
/// The last second of the year 9999, unix seconds.
pub const MAX_MOMENT: u64 = 253_402_300_799;
/// The longest description, in characters.
const MAX_DESCRIPTION: usize = 1_000;

/// An event: from its start to its end, what it sets goes before what its room sets.
///
/// What it leaves out, or sets to null, is the room's, as it is at that moment. Events of a room do
/// not overlap, pre-queues included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Event {
    /// Its name: in every answer, and not needed in requests, whose address has it.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, example = "album-release"))]
    pub name: EventName,
    /// For people.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(default = "", max_length = 1000))]
    pub description: String,
    /// When it starts: RFC 3339, or in requests also unix seconds.
    #[serde(rename = "event_start_time", with = "moment")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime, example = "2026-11-05T10:00:00Z"))]
    pub start: u64,
    /// When it ends, at least 60 seconds later: at this second the room's own settings are back.
    #[serde(rename = "event_end_time", with = "moment")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime, example = "2026-11-05T12:00:00Z"))]
    pub end: u64,
    /// When its pre-queue opens, at least 5 minutes before the start; null: it has none. From then
    /// on everyone who comes waits, and nobody is let in until the start.
    #[serde(default, rename = "prequeue_start_time", with = "moment::option")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime, default = json!(null),
        example = "2026-11-05T09:30:00Z"))]
    pub prequeue_start: Option<u64>,
    /// Whether everyone who comes in the pre-queue gets a place by chance at the start. Who comes
    /// later stands behind them.
    #[serde(default, rename = "draw_at_event_start")]
    #[cfg_attr(feature = "openapi", schema(default = false))]
    pub draw: bool,
    /// Public randomness that goes into the draw, so that nobody could know it before; null: none.
    #[serde(default)]
    pub beacon: Option<Beacon>,
    /// What the draw's seed is derived from, random hexadecimal; empty: there is none. Stored, and
    /// never in the API.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "openapi", schema(ignore))]
    pub draw_id: String,
    /// SHA-256 of the draw's seed, in hexadecimal: published now, so that nobody can choose another
    /// seed later; null: there is no draw. Made here: requests may only repeat it. With another beacon comes another one.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(read_only))]
    pub commitment: Option<String>,
    /// That seed, sealed, if it is of an earlier secret of the deployment. Stored, and never in the API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(ignore))]
    pub sealed_seed: Option<String>,
    /// Passed over, as if it were not there.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(default = false))]
    pub suspended: bool,
    /// What it sets differently from the room.
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(ignore))]
    pub overrides: Overrides,
}

// === impl Event ===

impl Event {
    /// The same with the draw that `before` was announced with.
    #[must_use]
    pub fn with_draw_of(self, before: &Self) -> Self {
        Self {
            draw_id: before.draw_id.clone(),
            commitment: before.commitment.clone(),
            sealed_seed: before.sealed_seed.clone(),
            ..self
        }
    }

    /// The same without what only the store knows of its draw.
    #[must_use]
    pub fn without_secrets(self) -> Self {
        Self { draw_id: String::new(), sealed_seed: None, ..self }
    }

    /// When it comes into force, unix seconds: with its pre-queue if it has one.
    #[must_use]
    pub fn opens(&self) -> u64 {
        self.prequeue_start.unwrap_or(self.start)
    }

    /// Everything that is out of bounds; empty when all is well.
    #[must_use]
    pub fn errors(&self) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let mut check = |well: bool, field: &'static str, reason: &str| {
            if !well {
                errors.push(FieldError { field: field.into(), reason: reason.into() });
            }
        };
        let described = self.description.chars().count() <= MAX_DESCRIPTION;
        check(described, "description", "must have at most 1000 characters");
        check(self.start <= MAX_MOMENT, "event_start_time", "must be before the year 10000");
        check(self.end <= MAX_MOMENT, "event_end_time", "must be before the year 10000");
        let lasts = self.end >= self.start.saturating_add(MIN_DURATION_SECONDS);
        check(lasts, "event_end_time", "must be at least 60 seconds after event_start_time");
        let opens = self.prequeue_start.unwrap_or(0).saturating_add(MIN_PREQUEUE_SECONDS);
        check(
            self.prequeue_start.is_none() || opens <= self.start,
            "prequeue_start_time",
            "must be at least 300 seconds before event_start_time",
        );
        check(
            !self.draw || self.prequeue_start.is_some(),
            "draw_at_event_start",
            "needs a prequeue_start_time: who comes in the pre-queue is drawn",
        );
        check(
            self.draw || self.beacon.is_none(),
            "beacon",
            "needs draw_at_event_start: there is no draw for it to go into",
        );
        errors.extend(self.beacon.iter().flat_map(Beacon::errors));
        errors.extend(self.overrides.errors());
        errors
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn event() -> Event {
        let json = r#"{"name":"sale","event_start_time":2000,"event_end_time":3000,"prequeue_start_time":1000,"draw_at_event_start":true}"#;
        serde_json::from_str(json).unwrap()
    }

    fn fields(event: &Event) -> Vec<Cow<'static, str>> {
        event.errors().into_iter().map(|error| error.field).collect()
    }

    #[test]
    fn what_is_left_out_of_the_stored_form_has_its_default() {
        let sound = event();
        assert_eq!(fields(&sound), [""; 0]);
        assert_eq!((sound.draw_id.as_str(), sound.commitment.as_ref()), ("", None));
        assert_eq!(sound.overrides, Overrides::default());
        let text = serde_json::to_string(&sound).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), sound);
    }

    #[test]
    fn lengths_are_checked_to_the_second() {
        let with = |start, end, prequeue_start| Event { start, end, prequeue_start, ..event() };
        assert_eq!(fields(&with(1300, 1360, Some(1000))), [""; 0]);
        assert_eq!(fields(&with(1300, 1359, Some(1000))), ["event_end_time"]);
        assert_eq!(fields(&with(1299, 1360, Some(1000))), ["prequeue_start_time"]);
        assert_eq!(fields(&with(1300, 1000, Some(1000))), ["event_end_time"]);
        assert_eq!(fields(&with(1300, 1400, Some(u64::MAX))), ["prequeue_start_time"]);
        let beyond = with(MAX_MOMENT + 1, u64::MAX, Some(1000));
        assert_eq!(fields(&beyond), ["event_start_time", "event_end_time"]);
    }

    #[test]
    fn a_draw_needs_a_pre_queue_and_a_beacon_needs_a_draw() {
        let no_queue = Event { prequeue_start: None, ..event() };
        assert_eq!(fields(&no_queue), ["draw_at_event_start"]);
        let beacon = Beacon { url: "https://x".into(), round: 1, public_key: "ab".repeat(48) };
        let sound = Event { beacon: Some(beacon), ..event() };
        assert_eq!(fields(&sound), [""; 0]);
        assert_eq!(fields(&Event { draw: false, ..sound.clone() }), ["beacon"]);
        let mut wrong = sound;
        wrong.beacon.as_mut().unwrap().round = 0;
        assert_eq!(fields(&wrong), ["beacon.round"]);
    }

    #[test]
    fn the_rest_is_bounded_too() {
        let wordy = |count: usize| Event { description: "ä".repeat(count), ..event() };
        assert_eq!(fields(&wordy(1000)), [""; 0]);
        assert_eq!(fields(&wordy(1001)), ["description"]);
        let overrides = Overrides { total_active_users: Some(1), ..Overrides::default() };
        assert_eq!(fields(&Event { overrides, ..event() }), ["new_users_per_minute"]);
    }
}
