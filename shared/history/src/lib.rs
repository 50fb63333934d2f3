//! Histories: what happened in a deployment, written down by those who took part, and the judge that
//! says whether it may have happened.
//!
//! The same judge reads what a simulation does, event by event, and what the services of a real run
//! wrote into files. It knows the promises (one file in `checks/` for each), and nothing of how they
//! are kept: no Redis, no script, no HTTP. It is pure: no clock, no I/O but lines that are handed
//! to it.
//!
//! Every check is careful in one direction: what a history shows is possible is not a violation. A
//! call takes effect between its beginning and its answer; one whose outcome is unknown may or may not
//! have happened. So silence proves little, and a violation is a contradiction between events that
//! are named.
//!
//! ```
//! use vestibule_history::{Bounds, Event, FORMAT, Judge, What};
//!
//! let mut judge = Judge::new(Bounds::default());
//! let opened = What::Opened { format: FORMAT };
//! let event = Event { at_ms: 5, began_ms: 5, by: "admission-1".into(), room: None, what: opened };
//! assert!(judge.observe(&event).is_empty());
//! let verdict = judge.finish();
//! assert_eq!((verdict.violations.len(), verdict.figures.events), (0, 1));
//! ```

mod bounds;
mod check;
mod checks;
mod event;
mod figures;
mod judge;
pub mod lines;
mod recorder;
mod report;
mod rules;
mod spans;
mod violation;

pub use self::{
    bounds::Bounds,
    event::*,
    figures::{Figures, WaitFigures},
    judge::{Judge, Verdict},
    recorder::Recorder,
    report::Report,
    rules::{Programme, Rules},
    spans::{Span, Spans},
    violation::{Invariant, Violation},
};
