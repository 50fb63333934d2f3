//! What became of the visitors.

use serde::Serialize;

use super::{layout::Section, waiting::Waiting};
use crate::{
    crowd::{duration::human, number::real},
    record::{Ending, VisitorRecord},
};

/// What became of the visitors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Visitors {
    /// Asked to join.
    pub(crate) arrived: usize,
    /// Got an answer.
    pub(crate) joined: usize,
    /// Were let in without ever waiting.
    pub(crate) admitted_at_once: usize,
    /// Were let in.
    pub(crate) admitted: usize,
    /// Gave their seat back.
    pub(crate) left: usize,
    /// Stayed until the session ran out, or left without a word.
    pub(crate) ran_out: usize,
    /// Closed the tab while waiting.
    pub(crate) abandoned: usize,
    /// Were there to the end and never let in, whatever the reason.
    pub(crate) never_admitted: usize,
    /// Were told `expired`.
    pub(crate) expired: usize,
    /// Were told `closed`.
    pub(crate) closed: usize,
    /// Gave up after refusals or a long silence.
    pub(crate) failed: usize,
    /// Were still on their way when the run stopped.
    pub(crate) unfinished: usize,
}

// === impl Visitors ===

impl Visitors {
    /// Counts them.
    pub(super) fn new(all: &[VisitorRecord]) -> Self {
        let count = |is: &dyn Fn(&VisitorRecord) -> bool| all.iter().filter(|v| is(v)).count();
        let ended = |how: Ending| count(&|v| v.ending() == Some(how));
        let arrived = count(&|v| v.arrived.is_some());
        let admitted = count(&|v| v.admitted.is_some());
        Self {
            arrived,
            joined: count(&|v| v.joined.is_some()),
            admitted_at_once: count(&|v| v.admitted.is_some() && !v.waited),
            admitted,
            left: ended(Ending::Left),
            ran_out: ended(Ending::RanOut),
            abandoned: ended(Ending::Abandoned),
            never_admitted: arrived - admitted - ended(Ending::Abandoned),
            expired: ended(Ending::Expired),
            closed: ended(Ending::Closed),
            failed: ended(Ending::Failed),
            unfinished: count(&|v| v.ended.is_none()),
        }
    }

    /// The section for people.
    pub(super) fn section(&self, joins_per_second: f64, waiting: &Waiting) -> Section {
        let waits = waiting.waits;
        let spread = format!(
            "half waited up to {}, nine of ten up to {}, the longest {}",
            human(waits.p50_seconds),
            human(waits.p90_seconds),
            human(waits.max_seconds)
        );
        let spread = if waits.count > 0 { spread } else { String::new() };
        let section = Section::new("Visitors")
            .row("arrived", self.arrived, format!("{joins_per_second:.0} joins/s"))
            .row("admitted", self.admitted, format!("{} at once", self.admitted_at_once))
            .row("waited and were admitted", waits.count, spread)
            .row("closed the tab while waiting", self.abandoned, "")
            .row("never admitted", self.never_admitted, "");
        let rest = [
            ("told `expired`", self.expired),
            ("told `closed`", self.closed),
            ("gave up after errors", self.failed),
            ("still on their way at the end", self.unfinished),
        ];
        let rest = rest.into_iter().filter(|(_, count)| *count > 0);
        rest.fold(section, |section, (label, count)| section.row(label, count, ""))
    }
}

/// Over the time from the first arrival to the last answer of a join that was asked for in it.
pub(super) fn joins_per_second(visitors: &[VisitorRecord]) -> f64 {
    let joins = visitors.iter().filter_map(|v| Some((v.arrived?, v.joined?)));
    let (mut count, mut first, mut last) = (0, f64::INFINITY, 0.0_f64);
    for (arrived, joined) in joins {
        count += 1;
        first = first.min(arrived);
        last = last.max(joined);
    }
    if last > first { real(count) / (last - first) } else { 0.0 }
}
