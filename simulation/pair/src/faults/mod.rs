//! What goes wrong: to processes, to the network, to Redis, to clocks.

mod apply;
mod draw;
mod kinds;

use std::fmt;

pub use self::kinds::FaultKinds;

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// A process is killed and started again a while later.
    Kill,
    /// A process is stopped for a while, and goes on.
    Freeze,
    /// A leader is stopped between the two halves of its tick.
    PauseInTick,
    /// Half of the processes are replaced one after the other.
    Upgrade,
    /// A process's connections break.
    Cut,
    /// Requests and answers of a process are slow, and some are lost.
    Weather,
    /// A process's subscription looks alive and brings nothing.
    Deaf,
    /// Redis cannot be reached for a while.
    Away,
    /// Redis refuses writes for a while.
    Refuse,
    /// Redis is restarted and loses nothing but its scripts.
    Restart,
    /// Redis loses everything.
    Wipe,
    /// Redis is restarted from an older state.
    Rewind,
    /// A replica takes over that had not heard of everything.
    Promote,
    /// The same, and some processes go on with the old server for a while.
    Split,
    /// One key is lost.
    LoseKey,
    /// Redis's clock jumps.
    Clock,
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
    /// Every kind.
    pub const ALL: [Self; 16] = [
        Self::Kill,
        Self::Freeze,
        Self::PauseInTick,
        Self::Upgrade,
        Self::Cut,
        Self::Weather,
        Self::Deaf,
        Self::Away,
        Self::Refuse,
        Self::Restart,
        Self::Wipe,
        Self::Rewind,
        Self::Promote,
        Self::Split,
        Self::LoseKey,
        Self::Clock,
    ];

    /// Those in which nothing may break today.
    pub const WITHSTOOD: &[Self] = &[
        Self::Kill,
        Self::Freeze,
        Self::PauseInTick,
        Self::Upgrade,
        Self::Cut,
        Self::Weather,
        Self::Deaf,
        Self::Away,
        Self::Restart,
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Freeze => "freeze",
            Self::PauseInTick => "pause-in-tick",
            Self::Upgrade => "upgrade",
            Self::Cut => "cut",
            Self::Weather => "weather",
            Self::Deaf => "deaf",
            Self::Away => "away",
            Self::Refuse => "refuse",
            Self::Restart => "restart",
            Self::Wipe => "wipe",
            Self::Rewind => "rewind",
            Self::Promote => "promote",
            Self::Split => "split",
            Self::LoseKey => "lose-key",
            Self::Clock => "clock",
        }
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

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, kind, lasts_ms, back_ms, .. } = self;
        write!(f, "fault {number}: {}, for {lasts_ms} ms", kind.name())?;
        if kind.goes_back() { write!(f, ", back by {back_ms} ms") } else { Ok(()) }
    }
}
