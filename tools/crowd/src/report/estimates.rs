//! How good the waits were that visitors were told: each estimate against the time that then really
//! passed until the visitor entered.
//!
//! An estimate is judged if its visitor entered, and if at least ten seconds were left when it was
//! told: closer to the door, a second of chance would count for more than the rule that guessed.
//! Whoever closed the tab never learned how long it would have been, and is left out.

use serde::Serialize;

use super::layout::{Section, percent};
use crate::{
    crowd::{
        duration::human,
        number::{natural, real, whole},
    },
    record::{Estimate, Quantiles, RunRecord, VisitorRecord},
};

/// Shares of errors are kept in units of so many to the whole.
const PER_ONE: f64 = 1e6;
/// With less than this left, an estimate is not judged, in seconds.
const LEAST_LEFT: f64 = 10.0;

/// What visitors were told, and how it compares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Estimates {
    /// Answers to waiting visitors that told a wait.
    pub(crate) known: u64,
    /// Answers that said that it is unknown.
    pub(crate) unknown: u64,
    /// The first wait that each was told.
    pub(crate) first: Option<Accuracy>,
    /// The one told closest to the middle of each wait.
    pub(crate) halfway: Option<Accuracy>,
    /// All of them; of a long wait, some dozens evenly among them.
    pub(crate) all: Option<Accuracy>,
}

/// How far estimates were off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Accuracy {
    /// How many were judged.
    pub(crate) judged: u64,
    /// Half of them were off by no more than this share of the real wait.
    pub(crate) median_error_share: f64,
    /// Nine of ten were off by no more than this share of the real wait.
    pub(crate) p90_error_share: f64,
    /// Half of them were off by no more than so many seconds.
    pub(crate) median_error_seconds: f64,
    /// The mean of told minus real, as a share of the mean real wait: above zero = people were told
    /// too long.
    pub(crate) bias: f64,
    /// Of those that told quartiles: how they were kept.
    pub(crate) calibration: Option<Calibration>,
}

/// The share of real waits that were no longer than a quartile said: a quarter, half and three
/// quarters would be perfect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Calibration {
    /// Estimates with quartiles.
    pub(crate) judged: usize,
    /// Real waits up to the 25th percentile told.
    pub(crate) within_p25: f64,
    /// Real waits up to the 50th.
    pub(crate) within_p50: f64,
    /// Real waits up to the 75th.
    pub(crate) within_p75: f64,
}

/// Adds up how far off estimates were.
#[derive(Debug, Default)]
struct Sums {
    error_shares: Quantiles,
    error_seconds: Quantiles,
    off: f64,
    waited: f64,
    with_quartiles: usize,
    within: [usize; 3],
}

// === impl Estimates ===

impl Estimates {
    /// Sets what visitors were told against what happened to them.
    pub(super) fn new(run: &RunRecord) -> Self {
        let all = || run.visitors.iter();
        Self {
            known: all().map(|v| u64::from(v.told.known)).sum(),
            unknown: all().map(|v| u64::from(v.told.unknown)).sum(),
            first: accuracy(all().filter_map(|v| Some((v.told.first()?, v.admitted?)))),
            halfway: accuracy(all().filter_map(halfway)),
            all: accuracy(all().flat_map(|v| {
                v.admitted.into_iter().flat_map(|admitted| v.told.all().map(move |e| (e, admitted)))
            })),
        }
    }

    /// The section for people.
    pub(super) fn section(&self) -> Section {
        let mut section = Section::new("Wait estimates");
        if self.known + self.unknown > 0 {
            let unknown = format!("{} said that it is unknown", self.unknown);
            section = section.row("answers that told a wait", self.known, unknown);
        }
        let labels = ["first told", "told halfway", "all"];
        for (label, accuracy) in labels.into_iter().zip([self.first, self.halfway, self.all]) {
            section = section.maybe(&format!("{label}: median error"), accuracy, off);
            let calibration = accuracy.and_then(|accuracy| accuracy.calibration);
            section = section.maybe("  waits within p25, p50, p75", calibration, quartiles);
        }
        section
    }
}

fn off(accuracy: Accuracy) -> (String, String) {
    let bias = whole(accuracy.bias * 100.0);
    let remark = format!(
        "of the wait ({}); nine of ten within {:.0}%; bias {bias:+}%; {} judged, told 10 s ahead \
         or more",
        human(accuracy.median_error_seconds),
        accuracy.p90_error_share * 100.0,
        accuracy.judged,
    );
    (percent(accuracy.median_error_share), remark)
}

fn quartiles(calibration: Calibration) -> (String, String) {
    let [p25, p50, p75] =
        [calibration.within_p25, calibration.within_p50, calibration.within_p75].map(percent);
    (p50, format!("{p25} within p25, {p75} within p75; right would be 50%, 25% and 75%"))
}

fn halfway(visitor: &VisitorRecord) -> Option<(Estimate, f64)> {
    let admitted = visitor.admitted?;
    let (from, until) = visitor.waiting(admitted)?;
    Some((visitor.told.nearest(f64::midpoint(from, until))?, admitted))
}

/// Of estimates, each with the moment at which its visitor entered.
fn accuracy(estimates: impl Iterator<Item = (Estimate, f64)>) -> Option<Accuracy> {
    let mut sums = Sums::default();
    for (told, admitted) in estimates {
        sums.add(&told, admitted - told.at());
    }
    sums.accuracy()
}

// === impl Sums ===

impl Sums {
    fn add(&mut self, told: &Estimate, left: f64) {
        if left < LEAST_LEFT {
            return;
        }
        let error = told.wait() - left;
        self.error_shares.add(natural(error.abs() / left * PER_ONE));
        self.error_seconds.add_seconds(error.abs());
        self.off += error;
        self.waited += left;
        if let Some(quartiles) = told.quartiles() {
            self.with_quartiles += 1;
            for (within, quartile) in self.within.iter_mut().zip(quartiles) {
                *within += usize::from(left <= quartile);
            }
        }
    }

    fn accuracy(&self) -> Option<Accuracy> {
        let shares = &self.error_shares;
        (shares.count() > 0).then(|| Accuracy {
            judged: shares.count(),
            median_error_share: shares.at(0.5) / PER_ONE,
            p90_error_share: shares.at(0.9) / PER_ONE,
            median_error_seconds: self.error_seconds.seconds_at(0.5),
            bias: self.off / self.waited,
            calibration: self.calibration(),
        })
    }

    fn calibration(&self) -> Option<Calibration> {
        let [within_p25, within_p50, within_p75] =
            self.within.map(|within| real(within) / real(self.with_quartiles.max(1)));
        let judged = self.with_quartiles;
        (judged > 0).then_some(Calibration { judged, within_p25, within_p50, within_p75 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Told;

    fn visitor(admitted: Option<f64>, told: &[(f64, f64)]) -> VisitorRecord {
        let mut visitor =
            VisitorRecord { joined: Some(0.0), waited: true, admitted, ..VisitorRecord::default() };
        for &(at, wait) in told {
            visitor.told.note(Some(Estimate::new(at, wait, None)));
        }
        visitor
    }

    fn of(visitors: Vec<VisitorRecord>) -> Estimates {
        Estimates::new(&RunRecord { visitors, ..RunRecord::default() })
    }

    fn is(seen: f64, expected: f64) -> bool {
        (seen - expected).abs() < 1e-6
    }

    #[test]
    fn the_first_halfway_and_all_are_judged() {
        let estimates = of(vec![
            visitor(Some(100.0), &[(0.0, 150.0), (52.0, 48.0), (91.0, 1.0)]), // +50 %, exact, late
            visitor(Some(100.0), &[(0.0, 80.0), (50.0, 40.0)]),               // -20 %, -20 %
            visitor(Some(100.0), &[(0.0, 120.0), (50.0, 60.0)]),              // +20 %, +20 %
            visitor(Some(9.5), &[(0.0, 60.0)]),                               // too short to judge
            visitor(None, &[(0.0, 60.0)]),                                    // closed the tab
        ]);
        let (first, halfway) = (estimates.first.unwrap(), estimates.halfway.unwrap());
        assert_eq!((first.judged, halfway.judged, estimates.known), (3, 3, 9));
        assert!(is(first.median_error_share, 0.2) && is(first.p90_error_share, 0.5), "{first:?}");
        assert!(is(first.median_error_seconds, 20.0) && is(first.bias, 50.0 / 300.0), "{first:?}");
        assert!(is(halfway.median_error_share, 0.2) && is(halfway.bias, 0.0), "{halfway:?}");
        assert_eq!(estimates.all.unwrap().judged, 6, "the one told 9 s before is not judged");
        assert_eq!(first.calibration, None);
    }

    #[test]
    fn quartiles_are_checked_against_what_happened() {
        let visitors = (1..=100_u16).map(|n| {
            let mut told = Told::default();
            let quartiles = Some([35.0, 60.0, 85.0]);
            told.note(Some(Estimate::new(0.0, 60.0, quartiles)));
            VisitorRecord { told, ..visitor(Some(f64::from(n) + 10.0), &[]) }
        });
        let calibration = of(visitors.collect()).all.unwrap().calibration.unwrap();
        let expected =
            Calibration { judged: 100, within_p25: 0.25, within_p50: 0.5, within_p75: 0.75 };
        assert_eq!(calibration, expected);
    }

    #[test]
    fn nothing_told_is_nothing_judged() {
        assert_eq!(of(vec![visitor(Some(100.0), &[])]), Estimates::default());
        let mut silent = visitor(Some(100.0), &[]);
        silent.told.note(None);
        assert_eq!(of(vec![silent]), Estimates { unknown: 1, ..Estimates::default() });
    }
}
