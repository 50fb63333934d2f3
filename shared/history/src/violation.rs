//! What a history contradicts: the invariants by name, and one finding.

use std::{fmt, str::FromStr};

use serde::Serialize;
use vestibule_domain::RoomId;

/// Declares the invariants from one table.
macro_rules! invariants {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $sentence:literal;)*) => {
        /// What must hold in every history.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Invariant {
            $(#[doc = $sentence] $name,)*
        }

        impl Invariant {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Its stable name.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// What it says, in one sentence.
            #[must_use]
            pub fn sentence(self) -> &'static str {
                match self { $(Self::$name => $sentence,)* }
            }
        }
    };
}

invariants! {
    UniqueNumbers = "unique-numbers", "No two visitors of a room hold the same queue number.";
    Gapless = "gapless", "Within a generation, numbers are handed out without a gap.";
    Ceiling = "ceiling", "Live sessions never exceed the ceiling in force when one is admitted.";
    Rate = "rate", "No 60 seconds hold more admissions than the rate in force.";
    OneSession = "one-session", "A queue number never has two sessions, two tokens at once, or a second entry.";
    FifoOrder = "fifo-order", "In fifo nobody at the door is overtaken by more than the slack.";
    HoldsKept = "holds-kept", "Whoever comes in time for a seat that was held for it gets it.";
    ServingCounter = "serving-counter", "The serving counter goes back only by an operator's act.";
    NumbersKeepMeaning = "numbers-keep-meaning", "A place stays valid until the room is reset or deleted, or the place expires by the rules.";
    EndedStaysEnded = "ended-stays-ended", "No session lives after its end was acknowledged.";
    SettingsSurvive = "settings-survive", "Acknowledged settings stay until a later change.";
    ResetsSurvive = "resets-survive", "Nothing is answered by an epoch from before an acknowledged reset.";
    RoomsSurvive = "rooms-survive", "An acknowledged room stays until it is deleted, and a deleted one stays away.";
    KeysSurvive = "keys-survive", "An acknowledged key stays in the ring until it is over, and every token's key is in the ring.";
    Presence = "presence", "Whoever checks in as told is not taken for absent, and whoever has gone is not taken for present.";
    Liveness = "liveness", "Nobody asks in vain while there are seats for all who ask, and the ceiling is used.";
    NetworkJoins = "network-joins", "No network has more newcomers in a minute than it may have.";
    NetworkPlaces = "network-places", "No network has more places in line than it may have.";
    NetworkSeats = "network-seats", "No network has more sessions than it may have.";
    NetworkRefusals = "network-refusals", "Nobody is turned away for a network that has not had its limit, or is only counted.";
    BoundSessions = "bound-sessions", "A bound session is nobody else's.";
    Waits = "waits", "The waits that are told are about those that are had.";
}

/// A contradiction in a history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// What does not hold.
    pub invariant: Invariant,
    /// When it became known, ms.
    pub at_ms: u64,
    /// The room, if it is about one.
    pub room: Option<RoomId>,
    /// What is wrong, with the numbers.
    pub what: String,
    /// The events that contradict each other, each as a line; the latest last.
    pub evidence: Vec<String>,
}

// === impl Invariant ===

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl FromStr for Invariant {
    type Err = String;

    fn from_str(code: &str) -> Result<Self, String> {
        Self::ALL.iter().find(|one| one.code() == code).copied().ok_or_else(|| {
            let codes: Vec<_> = Self::ALL.iter().map(|one| one.code()).collect();
            format!("expected one of {}", codes.join(", "))
        })
    }
}

impl Serialize for Invariant {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

// === impl Violation ===

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let room = self.room.as_ref().map_or("the deployment", RoomId::as_str);
        writeln!(f, "{} at {} in {room}: {}", self.invariant, self.at_ms, self.what)?;
        writeln!(f, "  {}", self.invariant.sentence())?;
        for event in &self.evidence {
            writeln!(f, "  - {event}")?;
        }
        Ok(())
    }
}
