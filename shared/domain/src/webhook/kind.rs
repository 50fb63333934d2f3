//! What webhooks can be told of, spelled once.

use std::str::FromStr;

macro_rules! kinds {
    ($($(#[$doc:meta])+ $variant:ident = $name:literal,)+) => {
        /// What happened.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum EventKind { $($(#[$doc])+ $variant,)+ }

        impl EventKind {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Its name, in filters and in what is sent.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

kinds! {
    /// A room has had a line for some seconds.
    QueueingBegan = "room.queueing_began",
    /// It has had none for half a minute.
    QueueingEnded = "room.queueing_ended",
    /// Another event of the room is in force, or its pre-queue is over.
    PhaseChanged = "room.phase_changed",
    /// Other limits are in force.
    LimitsChanged = "room.limits_changed",
    /// Something wants to be looked at.
    AlarmFiring = "alarm.firing",
    /// It is over.
    AlarmResolved = "alarm.resolved",
    /// A visitor of an AWS-style room has got its first tokens.
    TokenGenerated = "token_generated",
    /// An AWS-style session was completed or abandoned.
    SessionUpdated = "session_updated",
    /// An AWS-style room has moved its serving counter by itself.
    AutomaticServingCounterIncr = "automatic_serving_counter_incr",
    /// The figures of an AWS-style room, once a minute.
    WaitingRoomMetrics = "waiting_room_metrics",
}

/// There is no such event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no such event")]
pub struct UnknownEventKind;

// === impl EventKind ===

impl EventKind {
    /// Whether it is one of the four that AWS-style rooms have: nobody is told of them who has not asked for them by
    /// name, since there may be thousands a second.
    #[must_use]
    pub const fn is_aws_style(self) -> bool {
        matches!(
            self,
            Self::TokenGenerated
                | Self::SessionUpdated
                | Self::AutomaticServingCounterIncr
                | Self::WaitingRoomMetrics
        )
    }

    /// Whether it is of a single visitor. Events of visitors are in no order.
    #[must_use]
    pub const fn is_of_a_visitor(self) -> bool {
        matches!(self, Self::TokenGenerated | Self::SessionUpdated)
    }
}

/// In which stream an event is kept. What happens to single visitors, thousands a second, crowds out nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventStream {
    /// Of rooms, and of no room.
    Main,
    /// Of single visitors.
    Visitors,
}

// === impl EventStream ===

impl EventStream {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Main, Self::Visitors];

    /// Where events of this name are kept.
    #[must_use]
    pub fn of(kind: &str) -> Self {
        let is_of_a_visitor = kind.parse().is_ok_and(EventKind::is_of_a_visitor);
        if is_of_a_visitor { Self::Visitors } else { Self::Main }
    }

    /// Under which name it is noted how far a webhook was told of it. No webhook's name has a colon.
    #[must_use]
    pub fn noted_as(self, webhook: &str) -> String {
        match self {
            Self::Main => webhook.to_owned(),
            Self::Visitors => format!("{webhook}:visitors"),
        }
    }
}

impl FromStr for EventKind {
    type Err = UnknownEventKind;

    fn from_str(name: &str) -> Result<Self, UnknownEventKind> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name).ok_or(UnknownEventKind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_read_as_it_is_written() {
        for kind in EventKind::ALL {
            assert_eq!(kind.name().parse(), Ok(*kind));
        }
        assert_eq!("room.*".parse::<EventKind>(), Err(UnknownEventKind));
        assert_eq!(EventKind::ALL.iter().filter(|kind| kind.is_aws_style()).count(), 4);
        assert_eq!(EventStream::of("token_generated"), EventStream::Visitors);
        assert_eq!(EventStream::of("a.later.release"), EventStream::Main);
    }
}
