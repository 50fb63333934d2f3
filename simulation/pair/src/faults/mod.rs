//! What goes wrong: to processes, to the network, to Redis, to clocks.

mod apply;
mod draw;
mod kinds;

use std::fmt;

pub use self::kinds::FaultKinds;

/// Declares the kinds from one table: the name on the command line, and whether nothing may break in it
/// today. The order decides what a seed draws.
macro_rules! kinds {
    ($($kind:ident = $name:literal, $withstood:literal, $doc:literal;)*) => {
        /// A kind of fault.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum FaultKind {
            $(#[doc = $doc] $kind,)*
        }

        impl FaultKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Its name on the command line.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// Whether nothing may break in it today.
            #[must_use]
            pub fn is_withstood(self) -> bool {
                match self { $(Self::$kind => $withstood,)* }
            }
        }
    };
}

kinds! {
    Kill = "kill", true, "A process is killed and started again a while later.";
    Freeze = "freeze", true, "A process is stopped for a while, and goes on.";
    PauseInTick = "pause-in-tick", true, "A leader is stopped between the two halves of its tick.";
    Upgrade = "upgrade", true, "Half of the processes are replaced one after the other.";
    Cut = "cut", true, "A process's connections break.";
    Weather = "weather", true, "Requests and answers of a process are slow, and some are lost.";
    Deaf = "deaf", true, "A process's subscription looks alive and brings nothing.";
    Away = "away", true, "Redis cannot be reached for a while.";
    Refuse = "refuse", true, "Redis refuses writes for a while.";
    Restart = "restart", true, "Redis is restarted and loses nothing but its scripts.";
    Wipe = "wipe", true, "Redis loses everything.";
    Rewind = "rewind", true, "Redis is restarted from an older state.";
    Promote = "promote", true, "A replica takes over that had not heard of everything.";
    Split = "split", true, "The same, and some processes go on with the old server for a while.";
    LoseKey = "lose-key", true, "One key is lost.";
    Clock = "clock", true, "Redis's clock jumps.";
}

/// A fault of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// Its number, which also decides its generator.
    pub number: u64,
    /// When it happens, ms.
    pub at_ms: u64,
    /// What happens.
    pub kind: FaultKind,
    /// For how long, ms.
    pub lasts_ms: u64,
    /// How far Redis goes back, ms.
    pub back_ms: u64,
}

// === impl FaultKind ===

impl FaultKind {
    /// Those in which nothing may break today.
    #[must_use]
    pub fn withstood() -> Vec<Self> {
        Self::ALL.iter().copied().filter(|kind| kind.is_withstood()).collect()
    }

    /// Whether Redis goes back to an older state.
    #[must_use]
    pub fn goes_back(self) -> bool {
        matches!(self, Self::Rewind | Self::Promote | Self::Split)
    }

    /// Whether Redis loses something of what it had acknowledged.
    #[must_use]
    pub fn loses_data(self) -> bool {
        self.goes_back() || matches!(self, Self::Wipe | Self::LoseKey)
    }
}

// === impl Fault ===

impl Fault {
    /// By how much Redis's clock jumps, ahead or back, ms.
    pub(crate) fn jump_ms(&self) -> u64 {
        self.lasts_ms.max(self.back_ms) * 50
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, kind, lasts_ms, back_ms, .. } = self;
        write!(f, "fault {number}: {}, for {lasts_ms} ms", kind.name())?;
        if kind.goes_back() { write!(f, ", back by {back_ms} ms") } else { Ok(()) }
    }
}
