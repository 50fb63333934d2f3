//! What a check is, and what it is given: the event, facts that several checks need, and a place for
//! findings. The checks themselves are in `checks/`.

mod facts;
mod findings;
mod programmes;
mod seen;
mod serving;
mod voids;

use std::fmt;

pub(crate) use self::{facts::Facts, findings::Findings, seen::Seen};
use crate::Figures;

/// One promise, checked for one room; that of the keys, for the deployment.
///
/// Each implementation says in its documentation what is a violation, and what is *not*.
pub(crate) trait Check: fmt::Debug + Send {
    /// Takes in an event. `facts` have taken it in already.
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>);

    /// At the end: what can only be said of the whole.
    fn finish(&mut self, _facts: &Facts, _found: &mut Findings<'_>) {}

    /// Adds what this check has measured.
    fn measure(&self, _figures: &mut Figures, _waits: &mut Waits) {}
}

/// (told − had) / had of each wait that was told: of the first ones, and of all.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    pub(crate) first: Vec<f64>,
    pub(crate) all: Vec<f64>,
}
