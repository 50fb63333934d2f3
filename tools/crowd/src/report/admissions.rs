//! How many were let in, and how fast.

use serde::Serialize;

use super::layout::{Section, percent};
use crate::{crowd::number::real, record::RunRecord};

/// Length of the window that a rate limit is about, in seconds.
const RATE_WINDOW: f64 = 60.0;

/// How many were let in, and how fast.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Admissions {
    /// Mean per minute from the first who waited to the last.
    pub(crate) per_minute_while_waiting: Option<f64>,
    /// The most in any 60 seconds, as the visitors saw it.
    pub(crate) highest_in_a_minute: usize,
    /// The most that the controller ever said.
    pub(crate) highest_in_a_minute_controller: Option<i64>,
    /// Share of the rate limit used from the first who waited to the last.
    pub(crate) share_of_rate_while_waiting: Option<f64>,
}

// === impl Admissions ===

impl Admissions {
    /// Measures them; people waited in `span`.
    pub(super) fn new(run: &RunRecord, span: Option<(f64, f64)>) -> Self {
        let mut moments: Vec<f64> = run.visitors.iter().filter_map(|v| v.admitted).collect();
        moments.sort_by(f64::total_cmp);
        let per_minute = span.filter(|(from, until)| from < until).map(|(from, until)| {
            let within = moments.iter().filter(|at| (from..=until).contains(*at)).count();
            real(within) * 60.0 / (until - from)
        });
        Self {
            per_minute_while_waiting: per_minute,
            highest_in_a_minute: most_within(&moments, RATE_WINDOW),
            highest_in_a_minute_controller: run
                .room
                .iter()
                .filter_map(|s| s.admitted_last_minute)
                .max(),
            share_of_rate_while_waiting: run
                .setting
                .rate_per_minute
                .and_then(|rate| Some(share_of_rate(f64::from(rate), &moments, span?))),
        }
    }

    /// The section for people.
    pub(super) fn section(&self, limit: Option<u32>) -> Section {
        let remark = limit.map_or(String::new(), |limit| format!("limit {limit}"));
        let mean = |mean| (format!("{mean:.1}"), String::new());
        let most = |most: i64| (most.to_string(), remark.clone());
        let share = |share| (percent(share), String::new());
        Section::new("Admissions per minute")
            .maybe("mean while people waited", self.per_minute_while_waiting, mean)
            .row("most in 60 s, visitors' view", self.highest_in_a_minute, remark.clone())
            .maybe("most in 60 s, controller's view", self.highest_in_a_minute_controller, most)
            .maybe("share of the limit while waiting", self.share_of_rate_while_waiting, share)
    }
}

/// How much of a rate was used while people waited. Whoever waits may do so because a burst has
/// just used a minute's allowance, so the time begins with the admissions of the minute before.
fn share_of_rate(rate: f64, moments: &[f64], (from, until): (f64, f64)) -> f64 {
    let before = moments.iter().copied().find(|at| *at > from - RATE_WINDOW);
    let from = before.map_or(from, |at| at.min(from));
    let made = moments.iter().filter(|at| (from..=until).contains(*at)).count();
    real(made) / (rate * (until - from).max(RATE_WINDOW) / RATE_WINDOW)
}

/// The most of these sorted moments within any half-open window of that length.
fn most_within(moments: &[f64], window: f64) -> usize {
    let mut first = 0;
    let counts = moments.iter().enumerate().map(|(last, at)| {
        while at - moments[first] >= window {
            first += 1;
        }
        last + 1 - first
    });
    counts.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_minute_is_any_sixty_seconds() {
        assert_eq!(most_within(&[0.0, 59.9, 60.0, 119.0], RATE_WINDOW), 3);
        assert_eq!(most_within(&[], RATE_WINDOW), 0);
    }
}
