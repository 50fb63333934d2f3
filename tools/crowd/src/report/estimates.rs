//! How good the waits were that visitors were told: each estimate against the time that then really
//! passed until the visitor entered.
//!
//! An estimate is judged if its visitor entered, and if at least ten seconds were left when it was
//! told: closer to the door, a second of chance would count for more than the rule that guessed.
//! Whoever closed the tab never learned how long it would have been, and is left out.

use serde::Serialize;

use super::spread::{percentile, sorted};
use crate::{
    number::real,
    record::{Estimate, RunRecord, VisitorRecord},
};

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
    pub(crate) judged: usize,
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
    error_shares: Vec<f64>,
    error_seconds: Vec<f64>,
    off: f64,
    waited: f64,
    with_quartiles: usize,
    within: [usize; 3],
}

/// Sets what visitors were told against what happened to them.
pub(crate) fn judge(run: &RunRecord) -> Estimates {
    let all = || run.visitors.iter();
    Estimates {
        known: all().map(|v| u64::from(v.told.known())).sum(),
        unknown: all().map(|v| u64::from(v.told.unknown())).sum(),
        first: accuracy(all().filter_map(|v| Some((v.told.first()?, v.admitted?)))),
        halfway: accuracy(all().filter_map(halfway)),
        all: accuracy(all().flat_map(|v| {
            v.admitted.into_iter().flat_map(|admitted| v.told.all().map(move |e| (e, admitted)))
        })),
    }
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
        sums.add(&told, admitted - told.at);
    }
    sums.accuracy()
}

// === impl Sums ===

impl Sums {
    fn add(&mut self, told: &Estimate, left: f64) {
        let Some(wait) = told.wait.filter(|_| left >= LEAST_LEFT) else { return };
        let error = wait - left;
        self.error_shares.push(error.abs() / left);
        self.error_seconds.push(error.abs());
        self.off += error;
        self.waited += left;
        if let Some(quartiles) = told.quartiles {
            self.with_quartiles += 1;
            for (within, quartile) in self.within.iter_mut().zip(quartiles) {
                *within += usize::from(left <= quartile);
            }
        }
    }

    fn accuracy(self) -> Option<Accuracy> {
        let calibration = self.calibration();
        let (shares, seconds) = (sorted(self.error_shares), sorted(self.error_seconds));
        (!shares.is_empty()).then(|| Accuracy {
            judged: shares.len(),
            median_error_share: percentile(&shares, 0.5),
            p90_error_share: percentile(&shares, 0.9),
            median_error_seconds: percentile(&seconds, 0.5),
            bias: self.off / self.waited,
            calibration,
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
            visitor.told.note(&Estimate { at, wait: Some(wait), ..Estimate::default() });
        }
        visitor
    }

    fn of(visitors: Vec<VisitorRecord>) -> Estimates {
        judge(&RunRecord { visitors, ..RunRecord::default() })
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
            told.note(&Estimate { at: 0.0, wait: Some(60.0), quartiles, people_ahead: None });
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
        silent.told.note(&Estimate::default());
        assert_eq!(of(vec![silent]), Estimates { unknown: 1, ..Estimates::default() });
    }
}
