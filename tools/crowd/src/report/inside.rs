//! How many were inside, and how well the ceiling was used.

use serde::Serialize;

use super::{
    layout::{Section, percent},
    turnover,
};
use crate::{
    crowd::duration::human,
    record::{Levels, RunRecord, Steps, Waits},
};

/// How many were inside.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Inside {
    /// The most at once, as the visitors saw it: never more than there really were.
    pub(crate) highest: i64,
    /// The most that the controller ever said.
    pub(crate) highest_controller: Option<i64>,
    /// Share of the ceiling used while somebody waited, after the first stay; the visitors' view.
    pub(crate) share_of_ceiling_while_waiting: Option<f64>,
    /// The same as the controller saw it.
    pub(crate) share_of_ceiling_while_waiting_controller: Option<f64>,
    /// How many seconds the shares are about.
    pub(crate) measured_seconds: f64,
    /// How soon seats that came free while somebody waited were taken again.
    pub(crate) seat_taken_again: Option<Waits>,
}

// === impl Inside ===

impl Inside {
    /// Measures it.
    pub(super) fn new(run: &RunRecord, levels: &Levels) -> Self {
        let from = warm_up(run);
        let share = |inside: &Steps, busy: &[&Steps]| {
            let (mean, seconds) = inside.mean_while(busy, from, run.duration)?;
            Some((mean / f64::from(run.setting.ceiling?), seconds))
        };
        let seen = share(&levels.inside, &[&levels.waiting]);
        let busy_and_heard = [&levels.waiting, &levels.controller_heard];
        let controller = Some(&levels.inside_controller).filter(|_| !run.room.is_empty());
        Self {
            highest: levels.inside.peak(),
            highest_controller: controller.map(Steps::peak),
            share_of_ceiling_while_waiting: seen.map(|s| s.0),
            share_of_ceiling_while_waiting_controller: controller
                .and_then(|inside| share(inside, &busy_and_heard))
                .map(|s| s.0),
            measured_seconds: seen.map_or(0.0, |s| s.1),
            seat_taken_again: turnover::measure(run, &levels.waiting),
        }
    }

    /// The section for people.
    pub(super) fn section(&self, ceiling: Option<u32>) -> Section {
        let remark = ceiling.map_or(String::new(), |ceiling| format!("ceiling {ceiling}"));
        let measured = format!("over {}, after the first stay", human(self.measured_seconds));
        let share = |share| (percent(share), measured.clone());
        Section::new("Inside")
            .row("most at once, visitors' view", self.highest, remark.clone())
            .maybe("most at once, controller's view", self.highest_controller, |most| {
                (most.to_string(), remark.clone())
            })
            .maybe("share of the ceiling while waiting", self.share_of_ceiling_while_waiting, share)
            .maybe(
                "the same, controller's view",
                self.share_of_ceiling_while_waiting_controller,
                |share| (percent(share), "as far as it answered".to_owned()),
            )
            .maybe("a free seat was taken again after", self.seat_taken_again, |spans: Waits| {
                let rest = format!(
                    "at the median; nine of ten {}, longest {}, {} seats",
                    human(spans.p90_seconds),
                    human(spans.max_seconds),
                    spans.count
                );
                (human(spans.p50_seconds), rest)
            })
    }
}

/// The site is still filling until the first who entered could have left again.
fn warm_up(run: &RunRecord) -> f64 {
    let setting = &run.setting;
    let first = run.visitors.iter().filter_map(|v| v.admitted).fold(f64::INFINITY, f64::min);
    let session = setting.session_seconds.unwrap_or(f64::INFINITY);
    let held = match (setting.leave_silently, session.is_finite()) {
        (true, true) => session,
        _ => setting.stay_seconds.min(session),
    };
    first + held
}
