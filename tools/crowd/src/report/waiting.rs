//! When people waited, and how long.

use serde::Serialize;

use super::layout::Section;
use crate::record::{Levels, RunRecord, Waits, arrivals_and_waits, pearson};

/// When people waited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Waiting {
    /// The most who waited at once.
    pub(crate) highest: i64,
    /// From the first who waited, in seconds after the start.
    pub(crate) first_at_seconds: Option<f64>,
    /// To the last.
    pub(crate) last_at_seconds: Option<f64>,
    /// How long those who were admitted had waited.
    pub(crate) waits: Waits,
    /// Pearson's correlation of arrival and wait, over all who were admitted: 0 when the time of
    /// arrival did not matter. `None` when all came, or all waited, alike.
    pub(crate) correlation_with_arrival: Option<f64>,
}

// === impl Waiting ===

impl Waiting {
    /// Measures it.
    pub(super) fn new(run: &RunRecord, levels: &Levels) -> Self {
        let span = levels.waiting.span();
        let waits = run.visitors.iter().filter_map(|visitor| run.wait(visitor));
        Self {
            highest: levels.waiting.peak(),
            first_at_seconds: span.map(|s| s.0),
            last_at_seconds: span.map(|s| s.1),
            waits: Waits::new(waits.map(|(from, until)| until - from)),
            correlation_with_arrival: pearson(&arrivals_and_waits(run)),
        }
    }

    /// Its rows, at the end of the section about visitors.
    pub(super) fn add_to(&self, section: Section) -> Section {
        section.row("most waiting at once", self.highest, "").maybe(
            "correlation of arrival and wait",
            self.correlation_with_arrival,
            |r| (format!("{r:+.3}"), String::new()),
        )
    }
}
