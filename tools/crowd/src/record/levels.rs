//! Levels over time that both the report and the pictures need.

use super::{RunRecord, Steps};

/// How long what the controller said may be taken to hold, in seconds.
const SAMPLE_HOLDS: f64 = 2.0;

/// Who is inside and who waits, as visitors saw it and as the controller said.
#[derive(Debug)]
pub(crate) struct Levels {
    /// Inside, from the visitors' view.
    pub(crate) inside: Steps,
    /// Waiting and still there, from the visitors' view.
    pub(crate) waiting: Steps,
    /// Inside, as the controller said.
    pub(crate) inside_controller: Steps,
    /// Waiting, as the controller said.
    pub(crate) waiting_controller: Steps,
    /// Above zero while what the controller said last is recent enough to go by.
    pub(crate) controller_heard: Steps,
}

// === impl Levels ===

impl Levels {
    /// The levels of a run.
    pub(crate) fn new(run: &RunRecord) -> Self {
        let end = run.duration;
        Self {
            inside: Steps::covering(run.visitors.iter().filter_map(|v| v.inside(end))),
            waiting: Steps::covering(run.visitors.iter().filter_map(|v| v.waiting(end))),
            inside_controller: Steps::of(run.room.iter().map(|s| (s.at, s.active_users))),
            waiting_controller: Steps::of(run.room.iter().map(|s| (s.at, s.waiting))),
            controller_heard: Steps::covering(heard(run)),
        }
    }
}

/// From each sample to the next, if that came soon.
fn heard(run: &RunRecord) -> impl Iterator<Item = (f64, f64)> {
    let ends = run.room.iter().skip(1).map(|next| next.at).chain([run.duration]);
    run.room.iter().zip(ends).map(|(sample, end)| (sample.at, end.min(sample.at + SAMPLE_HOLDS)))
}
