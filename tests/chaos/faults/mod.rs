//! What goes wrong: to processes, to the network between hosts, to Redis, to clocks. The names are those
//! of the simulation's faults where they are the same.

mod apply;
mod data;
mod draw;
mod group;
mod kinds;

use std::fmt;

pub(crate) use self::kinds::FaultKinds;
use crate::stage::Topology;

/// Declares the kinds from one table. The order decides what a seed draws.
macro_rules! kinds {
    ($($kind:ident = $name:literal, $doc:literal;)*) => {
        /// A kind of fault.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum FaultKind {
            $(#[doc = $doc] $kind,)*
        }

        impl FaultKind {
            /// Every kind.
            pub(crate) const ALL: &[Self] = &[$(Self::$kind),*];

            /// Its name.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }
        }
    };
}

kinds! {
    Kill = "kill", "A process is killed and started again a while later.";
    Freeze = "freeze", "A process is stopped for a while, and goes on.";
    Upgrade = "upgrade", "Every other process is replaced, one after the other.";
    Cut = "cut", "A process's connections to Redis break.";
    Delay = "delay", "What a process and Redis say to each other is late.";
    Partition = "partition", "A process and Redis do not reach each other for a while.";
    OneWay = "one-way", "The same in one direction only.";
    Deaf = "deaf", "A process's subscription looks alive and brings nothing.";
    HalfOpen = "half-open", "Redis has lost a process's connections, and the process does not know.";
    Away = "away", "Redis cannot be reached for a while, or does not answer.";
    Restart = "restart", "Redis is restarted and loses nothing but its scripts; where it fails over, a replica.";
    Refuse = "refuse", "Redis refuses writes for a while.";
    Wipe = "wipe", "Redis loses everything.";
    Rewind = "rewind", "Redis is restarted from an older state.";
    Promote = "promote", "A replica takes over that had not heard of everything.";
    Split = "split", "The same, and some processes go on with the old primary for a while.";
    LoseKey = "lose-key", "One key is lost.";
    Clock = "clock", "Redis's clock jumps.";
}

/// A fault of a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    /// Its number, which also decides its generator.
    pub(crate) number: u64,
    /// When it happens, ms after the beginning.
    pub(crate) at_ms: u64,
    /// What happens.
    pub(crate) kind: FaultKind,
    /// For how long, ms.
    pub(crate) lasts_ms: u64,
    /// How far Redis goes back, ms.
    pub(crate) back_ms: u64,
}

// === impl FaultKind ===

impl FaultKind {
    /// Whether it can be made with Redis in this form. Without a proxy nothing is late or deaf; servers that
    /// fail over by themselves are not rewound, but replaced.
    pub(crate) fn can_befall(self, topology: Topology) -> bool {
        let only_pair = [Self::Delay, Self::Deaf, Self::Rewind, Self::Clock];
        topology == Topology::Pair || !only_pair.contains(&self)
    }

    /// Whether Redis goes back to an older state.
    pub(super) fn goes_back(self) -> bool {
        matches!(self, Self::Rewind | Self::Promote | Self::Split)
    }

    /// Whether Redis may lose something by it.
    pub(crate) fn loses_data(self) -> bool {
        self.goes_back() || matches!(self, Self::Wipe | Self::LoseKey)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, kind, lasts_ms, back_ms, .. } = self;
        write!(f, "fault {number}: {}, for {lasts_ms} ms", kind.name())?;
        if kind.goes_back() { write!(f, ", back by {back_ms} ms") } else { Ok(()) }
    }
}
