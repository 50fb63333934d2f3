//! Alarms: what should be looked at, by what the leading controller knows. They have the names and the conditions of the
//! rules in `deploy/prometheus/rules`, as near as one controller can come to them; those that only somebody outside can
//! see, such as that nobody leads, are not here. What is done about each is in `docs/runbooks`.

mod conditions;
mod held;
mod mean;
mod watch;

pub use conditions::{SeenDeployment, SeenRoom, deployment_conditions, room_conditions};
pub use held::Held;
pub use mean::Mean;
pub use watch::{Alarms, Change, Condition, Pending};

macro_rules! alarms {
    ($($(#[$doc:meta])+ $variant:ident = $name:literal, $severity:ident, $for_s:expr;)+) => {
        /// Which alarm.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Alarm { $($(#[$doc])+ $variant,)+ }

        impl Alarm {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Its name: that of the rule, and of its page in `docs/runbooks`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// How much it matters.
            #[must_use]
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)+ }
            }

            /// For how long its condition holds before it fires, ms.
            #[must_use]
            pub const fn holds_for_ms(self) -> u64 {
                1_000 * match self { $(Self::$variant => $for_s,)+ }
            }
        }
    };
}

alarms! {
    /// People wait in a room.
    QueueingBegan = "VestibuleQueueingBegan", Info, 60;
    /// Seats stand empty while people wait.
    SeatsEmpty = "VestibuleSeatsEmpty", Critical, 120;
    /// Of most places in line nobody is there.
    GhostsInLine = "VestibuleGhostsInLine", Warning, 600;
    /// Told waits do not come true.
    EstimatesOff = "VestibuleEstimatesOff", Warning, 300;
    /// Redis had gone back.
    RedisRewound = "VestibuleRedisRewound", Warning, 0;
    /// Redis writes nothing to a disk.
    RedisNotPersistent = "VestibuleRedisNotPersistent", Warning, 300;
    /// Redis throws keys away.
    RedisEvicts = "VestibuleRedisEvicts", Warning, 300;
    /// Lines stand still, since nobody serves their rooms.
    RoomsNotServed = "VestibuleRoomsNotServed", Critical, 60;
    /// Minutes are not closed into the history.
    HistoryNotWritten = "VestibuleHistoryNotWritten", Warning, 60;
    /// The key that signs tokens is over a year old.
    SigningKeyOld = "VestibuleSigningKeyOld", Warning, 600;
    /// A secret has been replaced for a week.
    OldSecretStays = "VestibuleOldSecretStays", Warning, 7 * 86_400;
    /// An API token ends soon.
    ApiTokenEnds = "VestibuleApiTokenEnds", Warning, 600;
}

/// For how long the condition of an alarm that fires does not hold before that is over, ms: what comes and goes is one
/// alarm.
pub const OVER_AFTER_MS: u64 = 30_000;

/// How much an alarm matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Visitors suffer now.
    Critical,
    /// Somebody should look today.
    Warning,
    /// Worth knowing.
    Info,
}

// === impl Alarm ===

impl Alarm {
    /// Where it is said what it means and what is done about it, within the source.
    #[must_use]
    pub fn runbook(self) -> String {
        format!("docs/runbooks/{}.md", self.name())
    }

    /// The alarm of this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|alarm| alarm.name() == name)
    }
}

// === impl Severity ===

impl Severity {
    /// As it is written in the rules.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

#[cfg(test)]
mod tests;
