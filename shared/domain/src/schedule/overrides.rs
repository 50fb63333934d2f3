//! What an event sets differently from its room. A field that is not set has the room's current
//! value: when the room changes, its events change with it.

use serde::{Deserialize, Serialize};
use vestibule_site::LocalText;

use crate::{FieldError, QueueingMethod, RoomSettings};

/// The settings of an event; null: the room's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Overrides {
    /// The ceiling on live sessions; null: the room's. Set together with `new_users_per_minute`, or
    /// not at all.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 2_147_483_647))]
    pub total_active_users: Option<u64>,
    /// The most admissions in any 60 seconds, not above `total_active_users`; null: the room's.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 2_147_483_647))]
    pub new_users_per_minute: Option<u64>,
    /// A visitor's session ends after so many seconds without a request; null: as the room has it.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 604_800))]
    pub session_duration_seconds: Option<u64>,
    /// Whether a visitor's session ends after its duration however busy the visitor is; null: as
    /// the room has it.
    pub disable_session_renewal: Option<bool>,
    /// The order in which people enter; null: the room's.
    pub queueing_method: Option<QueueingMethod>,
    /// Whether nothing is left; null: as the room has it.
    pub sold_out: Option<bool>,
    /// What the line is for; null: the room's.
    pub title: Option<LocalText>,
    /// What visitors are told while they wait and when it is their turn; null: what the room tells them.
    pub message: Option<LocalText>,
    /// What those are told whom the room turns away; null: what the room tells them.
    pub closed_message: Option<LocalText>,
}

// === impl Overrides ===

impl Overrides {
    /// The settings of `room`, with these overrides applied.
    #[must_use]
    pub fn over(&self, room: &RoomSettings) -> RoomSettings {
        RoomSettings {
            total_active_users: self.total_active_users.or(room.total_active_users),
            new_users_per_minute: self.new_users_per_minute.or(room.new_users_per_minute),
            session_duration_seconds: self
                .session_duration_seconds
                .unwrap_or(room.session_duration_seconds),
            disable_session_renewal: self
                .disable_session_renewal
                .unwrap_or(room.disable_session_renewal),
            queueing_method: self.queueing_method.unwrap_or(room.queueing_method),
            sold_out: self.sold_out.unwrap_or(room.sold_out),
            title: self.title.clone().or_else(|| room.title.clone()),
            message: self.message.clone().or_else(|| room.message.clone()),
            closed_message: self.closed_message.clone().or_else(|| room.closed_message.clone()),
            ..room.clone()
        }
    }

    /// All fields that can be overridden, with the values of `settings`.
    #[must_use]
    pub fn all_of(settings: &RoomSettings) -> Self {
        Self {
            total_active_users: settings.total_active_users,
            new_users_per_minute: settings.new_users_per_minute,
            session_duration_seconds: Some(settings.session_duration_seconds),
            disable_session_renewal: Some(settings.disable_session_renewal),
            queueing_method: Some(settings.queueing_method),
            sold_out: Some(settings.sold_out),
            title: settings.title.clone(),
            message: settings.message.clone(),
            closed_message: settings.closed_message.clone(),
        }
    }

    /// All errors that do not depend on the room; empty when there are none.
    #[must_use]
    pub fn errors(&self) -> Vec<FieldError> {
        let mut errors = self.over(&RoomSettings::default()).errors();
        let other = match (self.total_active_users, self.new_users_per_minute) {
            (Some(_), None) => ("new_users_per_minute", "total_active_users"),
            (None, Some(_)) => ("total_active_users", "new_users_per_minute"),
            _ => return errors,
        };
        let reason = format!("must be set because {} is: an event sets both or neither", other.1);
        errors.push(FieldError { field: other.0.into(), reason });
        errors
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn fields(overrides: &Overrides) -> Vec<Cow<'static, str>> {
        overrides.errors().into_iter().map(|error| error.field).collect()
    }

    #[test]
    fn each_null_is_the_rooms_value() {
        let room = RoomSettings {
            total_active_users: Some(100),
            new_users_per_minute: Some(50),
            session_duration_seconds: 600,
            disable_session_renewal: true,
            queue_all: true,
            ..RoomSettings::default()
        };
        assert_eq!(Overrides::default().over(&room), room);
        let event = Overrides {
            total_active_users: Some(5),
            new_users_per_minute: Some(4),
            disable_session_renewal: Some(false),
            ..Overrides::default()
        };
        let expected = RoomSettings {
            total_active_users: Some(5),
            new_users_per_minute: Some(4),
            disable_session_renewal: false,
            ..room.clone()
        };
        assert_eq!(event.over(&room), expected);
        let event = Overrides { session_duration_seconds: Some(60), ..Overrides::default() };
        assert_eq!(event.over(&room), RoomSettings { session_duration_seconds: 60, ..room });
    }

    #[test]
    fn words_are_the_events_where_it_has_some() {
        let text = |text: &str| Some(LocalText::Same(text.to_owned()));
        let room = RoomSettings { title: text("a"), message: text("b"), ..RoomSettings::default() };
        let event = Overrides { message: text("c"), sold_out: Some(true), ..Overrides::default() };
        let expected = RoomSettings { message: text("c"), sold_out: true, ..room.clone() };
        assert_eq!(event.over(&room), expected);
        assert_eq!(Overrides::all_of(&expected).over(&RoomSettings::default()), expected);
        let wrong = Overrides { title: text("two\nlines"), ..Overrides::default() };
        assert_eq!(fields(&wrong), ["title"]);
    }

    #[test]
    fn both_limits_or_neither() {
        let ceiling = Overrides { total_active_users: Some(5), ..Overrides::default() };
        assert_eq!(fields(&ceiling), ["new_users_per_minute"]);
        let rate = Overrides { new_users_per_minute: Some(5), ..Overrides::default() };
        assert_eq!(fields(&rate), ["total_active_users"]);
        let both = Overrides { total_active_users: Some(5), ..rate };
        assert_eq!(fields(&both), [""; 0]);
        assert_eq!(fields(&Overrides::default()), [""; 0]);
    }

    #[test]
    fn bounds_are_those_of_a_room() {
        let wrong = Overrides {
            total_active_users: Some(4),
            new_users_per_minute: Some(5),
            session_duration_seconds: Some(0),
            ..Overrides::default()
        };
        assert_eq!(fields(&wrong), ["session_duration_seconds", "new_users_per_minute"]);
    }
}
