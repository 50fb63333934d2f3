//! What a check is, and what it is given: the event, facts that several checks need, and a place for
//! findings. The checks themselves are in `checks/`.

mod facts;
mod findings;
mod over;
mod programmes;
mod seen;
mod serving;
mod voids;

use std::{fmt, sync::Arc};

pub(crate) use self::{facts::Facts, findings::Findings, seen::Seen};
use crate::Figures;

/// One promise, checked for one room; that of the keys, for the deployment.
///
/// Each implementation says in its documentation what is a violation, and what is *not*.
pub(crate) trait Check: fmt::Debug + Send + Copied {
    /// Takes in an event. `facts` have taken it in already.
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>);

    /// Takes in an event of somebody who is apart, on the other server of a split. It binds nobody here; but once
    /// the split is over, what it did may turn up here.
    fn hear_apart(&mut self, _now: &Seen<'_>, _facts: &Facts, _found: &mut Findings<'_>) {}

    /// A split begins or is over.
    fn turn(&mut self, _turn: &Turn, _facts: &Facts) {}

    /// At the end: what can only be said of the whole.
    fn finish(&mut self, _facts: &Facts, _found: &mut Findings<'_>) {}

    /// Adds what this check has measured.
    fn measure(&self, _figures: &mut Figures, _waits: &mut Waits) {}
}

/// What can be copied without being known: every check.
pub(crate) trait Copied {
    /// A check that knows the same.
    fn copied(&self) -> Box<dyn Check>;
}

/// The beginning or the end of a split.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    /// When, ms.
    pub(crate) at_ms: u64,
    /// Whether it is the end.
    pub(crate) is_over: bool,
    /// Who is apart: nobody, at the end.
    pub(crate) apart: Vec<Arc<str>>,
}

/// (told − had) / had of each wait that was told: of the first ones, and of all.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waits {
    pub(crate) first: Vec<f64>,
    pub(crate) all: Vec<f64>,
}

// === impl Copied ===

impl<C: Check + Clone + 'static> Copied for C {
    fn copied(&self) -> Box<dyn Check> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Check> {
    fn clone(&self) -> Self {
        // Not that of the box itself.
        (**self).copied()
    }
}
