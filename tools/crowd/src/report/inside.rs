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

/// How long a site may take to fill behind no-shows, in seconds.
const FILLS_WITHIN: f64 = 10.0;

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
    /// Share of the ceiling used while somebody waited, from ten seconds after the start on: also while
    /// the site is still filling. The visitors' view.
    pub(crate) share_of_ceiling_after_ten_seconds: Option<f64>,
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
        let share_from = |from: f64, inside: &Steps, busy: &[&Steps]| {
            let (mean, seconds) = inside.mean_while(busy, from, run.duration)?;
            Some((mean / f64::from(run.setting.ceiling?), seconds))
        };
        let share = |inside, busy: &[&Steps]| share_from(from, inside, busy);
        let seen = share(&levels.inside, &[&levels.waiting]);
        let soon = share_from(run.opened + FILLS_WITHIN, &levels.inside, &[&levels.waiting]);
        let busy_and_heard = [&levels.waiting, &levels.controller_heard];
        let controller = Some(&levels.inside_controller).filter(|_| !run.room.is_empty());
        Self {
            highest: levels.inside.peak(),
            highest_controller: controller.map(Steps::peak),
            share_of_ceiling_while_waiting: seen.map(|s| s.0),
            share_of_ceiling_while_waiting_controller: controller
                .and_then(|inside| share(inside, &busy_and_heard))
                .map(|s| s.0),
            share_of_ceiling_after_ten_seconds: soon.map(|s| s.0),
            measured_seconds: seen.map_or(0.0, |s| s.1),
            seat_taken_again: turnover::measure(run, &levels.waiting),
        }
    }

    /// The section for people.
    pub(super) fn section(&self, ceiling: Option<u32>, alone: bool) -> Section {
        // In company it is the question how soon the visitors get the seats.
        let soon = self.share_of_ceiling_after_ten_seconds.filter(|_| !alone);
        let remark = ceiling.map_or(String::new(), |ceiling| format!("ceiling {ceiling}"));
        let controllers =
            if alone { "as far as it answered" } else { "as far as it answered; counts everybody" };
        let measured = format!("over {}, after the first stay", human(self.measured_seconds));
        let share = |share| (percent(share), measured.clone());
        Section::new("Inside")
            .row("most at once, visitors' view", self.highest, remark.clone())
            .maybe("most at once, controller's view", self.highest_controller, |most| {
                (most.to_string(), remark.clone())
            })
            .maybe("share of the ceiling while waiting", self.share_of_ceiling_while_waiting, share)
            .maybe("the same, but after the first 10 s", soon, |share| {
                (
                    percent(share),
                    "of the run; the time in which the site fills counts too".to_owned(),
                )
            })
            .maybe(
                "share of the ceiling, controller's view",
                self.share_of_ceiling_while_waiting_controller,
                |share| (percent(share), controllers.to_owned()),
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
