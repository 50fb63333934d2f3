//! The waits that are told are about those that are had.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::{
    Act, Figures, Invariant, Rules, ToldStatus, WaitFigures, What,
    check::{self, Check, Facts, Findings, Seen},
};

/// Shorter waits count as so long, s: an error of a second says nothing of a wait of one.
const SHORTEST: f64 = 5.0;

/// Compares each wait that a visitor was told in line with the time until it entered.
///
/// Figures, of the first wait that each visitor was told and of all: the median of the relative error, and
/// its bias. A violation only with a bound (`most_wait_error`): a median error of all waits above it,
/// told at the end. Why: people decide by it whether to stay.
///
/// Not counted: visitors who never enter; waits that are said to be unknown; those told during a split, by whoever does
/// not know what numbers the other side has left out. No violation: waits where there is no
/// order; there everyone is told the mean, and who enters before the history ends is who had luck.
#[derive(Debug, Clone, Default)]
pub(super) struct Waits {
    told: FxHashMap<Arc<str>, Vec<(u64, u64)>>,
    had: check::Waits,
    /// Errors where there was order all the time.
    in_order: Vec<f64>,
}

// === impl Waits ===

impl Check for Waits {
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, _found: &mut Findings<'_>) {
        match &now.what {
            What::Visitor(Act::Arrived { .. }) => drop(self.told.remove(&now.by)),
            What::Visitor(Act::Asked(asked))
                if asked.status == ToldStatus::Waiting && !facts.may_be_apart(now) =>
            {
                if let Some(seconds) = asked.wait_seconds {
                    self.told.entry(Arc::clone(&now.by)).or_default().push((now.at_ms, seconds));
                }
            }
            What::Visitor(Act::Entered { .. }) => self.enter(&now.by, now.at_ms, facts),
            _ => {}
        }
    }

    fn finish(&mut self, facts: &Facts, found: &mut Findings<'_>) {
        let median = WaitFigures::of(self.in_order.clone()).median_error;
        if let (Some(error), Some(most)) = (median, facts.bounds.most_wait_error)
            && error > most
        {
            let what = format!("the median error of the waits told is {:.0} %", error * 100.0);
            found.add(Invariant::Waits, what, &[]);
        }
    }

    fn measure(&self, _figures: &mut Figures, waits: &mut check::Waits) {
        waits.first.extend(&self.had.first);
        waits.all.extend(&self.had.all);
    }
}

impl Waits {
    fn enter(&mut self, visitor: &Arc<str>, now_ms: u64, facts: &Facts) {
        let told = self.told.remove(visitor).unwrap_or_default();
        let is_in_order =
            |(at_ms, _): &&(u64, u64)| facts.rules(*at_ms, now_ms).all(Rules::is_fifo);
        let in_order = told.iter().filter(is_in_order);
        self.in_order.extend(in_order.map(|(at_ms, seconds)| difference(*at_ms, *seconds, now_ms)));
        let differences = told.iter().map(|(at_ms, seconds)| difference(*at_ms, *seconds, now_ms));
        let before = self.had.all.len();
        self.had.all.extend(differences);
        self.had.first.extend(self.had.all.get(before));
    }
}

/// (told − had) / had.
#[expect(clippy::cast_precision_loss, reason = "times of people")]
fn difference(at_ms: u64, seconds: u64, now_ms: u64) -> f64 {
    let had = now_ms.saturating_sub(at_ms) as f64 / 1000.0;
    (seconds as f64 - had) / had.max(SHORTEST)
}

#[cfg(test)]
mod tests {
    use vestibule_domain::QueueingMethod;

    use super::*;
    use crate::{
        Asked, Bounds, PutAs,
        checks::testing::{EPOCH, History, arrived, put, rules, token},
    };

    fn told(wait_seconds: Option<u64>) -> What {
        What::Visitor(Act::Asked(Asked {
            claimed: false,
            status: ToldStatus::Waiting,
            position: None,
            ahead: None,
            wait_seconds,
            next_ms: 1_000,
        }))
    }

    #[test]
    fn told_waits_are_compared_with_those_had() {
        let entered = Act::Entered { number: 5, reset_epoch: EPOCH, token: token(1, 310) };
        let bounds = Bounds { most_wait_error: Some(0.4), ..Bounds::default() };
        let history = History::with(bounds).does(0, arrived(5)).does(0, told(Some(150)));
        let history = history.does(50_000, told(None)).does(80_000, told(Some(10)));
        let verdict = history.does(100_000, What::Visitor(entered)).finish();
        let (first, all) = (&verdict.figures.first_waits, &verdict.figures.all_waits);
        assert_eq!((first.count, first.median_error, first.bias), (1, Some(0.5), Some(0.5)));
        assert_eq!((all.count, all.median_error), (2, Some(0.5)));
        assert_eq!(verdict.violations.len(), 1, "told at the end");
    }

    #[test]
    fn by_chance_those_who_enter_soon_were_lucky() {
        let by_chance = Rules { method: QueueingMethod::Random, ..rules() };
        let entered = Act::Entered { number: 5, reset_epoch: EPOCH, token: token(1, 310) };
        let bounds = Bounds { most_wait_error: Some(0.4), ..Bounds::default() };
        let history = History::with(bounds).does(0, put(Some(1), by_chance, PutAs::Created));
        let history = history.does(1, arrived(5)).does(1, told(Some(150)));
        let verdict = history.does(2_000, What::Visitor(entered)).finish();
        assert_eq!(verdict.figures.all_waits.count, 1);
        assert!(verdict.violations.is_empty(), "{:?}", verdict.violations);
    }

    #[test]
    fn who_never_enters_proves_nothing() {
        let verdict = History::new().does(0, arrived(5)).does(0, told(Some(9))).finish();
        assert_eq!(verdict.figures.all_waits, WaitFigures::default());
    }
}
