//! Every test's calls are recorded and judged: whatever a test is about, no promise may be broken in
//! it, and none that was kept may be taken for broken.

use std::sync::{Mutex, PoisonError};

use vestibule_history::{Bounds, Event, Judge, Recorder, Violation};

/// A judge who sees what the stores of one test do.
#[derive(Debug)]
pub(crate) struct Judging(Mutex<(Judge, Vec<Violation>)>);

// === impl Judging ===

impl Judging {
    pub(crate) fn new() -> Self {
        Self(Mutex::new((Judge::new(Bounds::default()), Vec::new())))
    }

    /// What was found, as text.
    pub(crate) fn found(&self) -> String {
        let judging = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        judging.1.iter().map(ToString::to_string).collect()
    }
}

impl Recorder for Judging {
    fn record(&self, event: Event) {
        let mut judging = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = judging.0.observe(&event);
        judging.1.extend(found);
    }
}
