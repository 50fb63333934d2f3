//! Inlets: what moves a room's serving counter on without anybody's hand. The *periodic* one serves so many more people
//! once in a while, unless its alarm is raised; the *max-size* one serves people in the place of those who a site says
//! have left. They are for rooms without limits, in which people enter by increments alone, and are what the original of
//! the AWS-style API has as programs of their own. How far the counter moves is decided by scripts, on what is there.

mod alarm;
mod max_size;
mod periodic;
mod report;
mod topic;

pub use self::{
    alarm::{AlarmChange, AlarmState},
    max_size::MaxSizeInlet,
    periodic::{Period, PeriodicInlet},
    report::{InletReport, MAX_REPORTED},
    topic::{MAX_TOPICS, Topic, TopicError},
};

use crate::FieldError;

/// The largest number of people that a setting names.
const MOST: u64 = 2_147_483_647;

/// What a room has set about its inlets, and what they depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inlets<'a> {
    pub(crate) periodic: Option<PeriodicInlet>,
    pub(crate) max_size: Option<MaxSizeInlet>,
    pub(crate) topics: &'a [String],
    /// Whether people enter by increments alone.
    pub(crate) has_no_limits: bool,
    /// Whether who is served and does not come is passed over.
    pub(crate) passes_over: bool,
}

// === impl Inlets ===

impl Inlets<'_> {
    /// Everything that is wrong with them.
    pub(crate) fn errors(self) -> Vec<FieldError> {
        let periodic = self.periodic.iter().flat_map(PeriodicInlet::errors);
        let max_size = self.max_size.iter().flat_map(|inlet| inlet.errors(self.passes_over));
        let errors = periodic.chain(max_size).chain(self.combination_error());
        errors.chain(topic::errors(self.topics)).collect()
    }

    /// What an inlet does means nothing where the limits decide, and two of them would not know of each other.
    fn combination_error(self) -> Option<FieldError> {
        let error = |field: &'static str, reason: &str| {
            Some(FieldError { field: field.into(), reason: reason.to_owned() })
        };
        let field = match (&self.periodic, &self.max_size) {
            (Some(_), Some(_)) => {
                let reason = "must be null while there is a periodic_inlet: a room has one inlet";
                return error("max_size_inlet", reason);
            }
            (Some(_), None) => "periodic_inlet",
            (None, Some(_)) => "max_size_inlet",
            (None, None) => return None,
        };
        if self.has_no_limits {
            return None;
        }
        let reason = "must be null while there is a total_active_users or a new_users_per_minute: these let people in \
                      by themselves";
        error(field, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RoomSettings;

    fn fields(room: &RoomSettings) -> Vec<String> {
        room.errors().into_iter().map(|error| error.field.into_owned()).collect()
    }

    #[test]
    fn an_inlet_is_for_a_room_without_limits_and_alone_there() {
        let periodic = RoomSettings {
            periodic_inlet: Some(PeriodicInlet::default()),
            ..RoomSettings::default()
        };
        let max_size = RoomSettings {
            max_size_inlet: Some(MaxSizeInlet { max_size: 100 }),
            ..RoomSettings::default()
        };
        assert_eq!((fields(&periodic), fields(&max_size)), (vec![], vec![]));
        let limited =
            |room: &RoomSettings| RoomSettings { total_active_users: Some(5), ..room.clone() };
        assert_eq!(fields(&limited(&periodic)), ["periodic_inlet"]);
        assert_eq!(fields(&limited(&max_size)), ["max_size_inlet"]);
        let rate = RoomSettings { new_users_per_minute: Some(5), ..periodic.clone() };
        assert_eq!(fields(&rate), ["periodic_inlet"]);
        let both = RoomSettings { max_size_inlet: max_size.max_size_inlet, ..periodic };
        assert_eq!(fields(&both), ["max_size_inlet"]);
    }
}
