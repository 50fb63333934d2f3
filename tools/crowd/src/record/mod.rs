//! What is written down while a crowd is on its way, and the plain record that is left of it for the
//! report and the pictures. Nothing is judged here. Times are seconds since the run's start.

mod book;
mod calls;
mod company;
mod correlation;
mod levels;
mod quantiles;
mod simulation;
mod steps;
mod told;
mod visitor;

use serde::Deserialize;

pub(crate) use self::{
    book::{Book, Tally},
    calls::{CallLog, SHED},
    company::{CompanyLog, GhostLog, HostileLog},
    correlation::{arrivals_and_waits, pearson},
    levels::Levels,
    quantiles::{Quantiles, Waits},
    simulation::Simulation,
    steps::Steps,
    told::{Estimate, Told},
    visitor::{Ending, Phase, VisitorRecord},
};
use crate::crowd::Setting;

/// What is left of a run: plain data.
#[derive(Debug, Default)]
pub(crate) struct RunRecord {
    /// What it was meant to be.
    pub(crate) setting: Setting,
    /// One record per planned visitor, in order of arrival.
    pub(crate) visitors: Vec<VisitorRecord>,
    /// The calls.
    pub(crate) calls: CallLog,
    /// What hostile company did.
    pub(crate) company: CompanyLog,
    /// The controller's view, oldest first.
    pub(crate) room: Vec<RoomSample>,
    /// How long the run took.
    pub(crate) duration: f64,
    /// Why it is over.
    pub(crate) over: Over,
    /// When the room began to let people in; waits are counted from here at the earliest.
    pub(crate) opened: f64,
    /// What only a simulation knows.
    pub(crate) simulation: Option<Simulation>,
}

/// Why a run is over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Over {
    /// Every visitor finished its visit.
    #[default]
    Finished,
    /// The time was up.
    TimedOut,
    /// The operator interrupted.
    Interrupted,
}

/// What the controller said at one moment.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct RoomSample {
    /// When.
    #[serde(skip)]
    pub(crate) at: f64,
    /// Sessions inside.
    pub(crate) active_users: i64,
    /// Visitors waiting.
    pub(crate) waiting: i64,
    /// Admissions in the minute before.
    pub(crate) admitted_last_minute: Option<i64>,
}

// === impl RunRecord ===

impl RunRecord {
    /// From when to when a visitor waited who was then admitted, counted from the opening at the
    /// earliest. `None` for those who never had to wait, or were never admitted.
    pub(crate) fn wait(&self, visitor: &VisitorRecord) -> Option<(f64, f64)> {
        let (from, until) = visitor.waiting(visitor.admitted?)?;
        Some((from.max(self.opened).min(until), until))
    }
}
