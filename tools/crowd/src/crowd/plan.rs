//! What each visitor of a crowd will do, drawn up before the run from one seed. Pure: no clock and no
//! network here.

use std::time::Duration;

use rand::{Rng, SeedableRng, rngs::SmallRng};

use super::{CrowdOptions, number::seconds};

/// What one visitor will do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VisitorPlan {
    /// When it arrives, after the run's start.
    pub(crate) arrives: Duration,
    /// How long it stays inside.
    pub(crate) stay: Duration,
    /// The part of its wait (0 to 1) after which it closes the tab; `None` = it waits to the end.
    pub(crate) patience: Option<f64>,
    /// Seed of its own jitter.
    pub(crate) seed: u64,
}

/// Draws up the crowd, in order of arrival. The same options and seed give the same crowd.
pub(crate) fn draw_up(crowd: &CrowdOptions, seed: u64) -> Vec<VisitorPlan> {
    let mut rng = SmallRng::seed_from_u64(seed);
    let over = crowd.arrive.as_secs_f64();
    let part = |n: u32, chance: f64| (f64::from(n) + chance) / f64::from(crowd.visitors);
    (0..crowd.visitors)
        .map(|n| VisitorPlan {
            arrives: seconds(crowd.arrivals.moment(part(n, rng.random())) * over),
            stay: crowd.stay_spread.stay(crowd.stay, rng.random()),
            patience: patience(crowd.abandon, rng.random(), rng.random()),
            seed: rng.random(),
        })
        .collect()
}

fn patience(share: f64, chance: f64, part: f64) -> Option<f64> {
    (chance < share).then_some(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crowd::{Arrivals, StaySpread, number::real};

    fn shape(visitors: u32) -> CrowdOptions {
        CrowdOptions {
            visitors,
            arrive: Duration::from_secs(10),
            arrivals: Arrivals::Even,
            stay: Duration::from_secs(20),
            stay_spread: StaySpread::Exponential,
            abandon: 0.25,
            seed: None,
        }
    }

    #[test]
    fn arrivals_are_even_and_in_order() {
        let crowd = draw_up(&shape(1000), 1);
        assert!(crowd.is_sorted_by_key(|v| v.arrives));
        for (second, expected) in [(1, 100), (5, 500), (10, 1000)] {
            let by_then = crowd.iter().filter(|v| v.arrives < Duration::from_secs(second)).count();
            assert_eq!(by_then, expected);
        }
    }

    #[test]
    fn arrivals_may_rush_or_peak() {
        let by = |arrivals, second| {
            let crowd = draw_up(&CrowdOptions { arrivals, ..shape(1000) }, 1);
            assert!(crowd.is_sorted_by_key(|v| v.arrives));
            assert!(crowd.iter().all(|v| v.arrives <= Duration::from_secs(10)));
            crowd.iter().filter(|v| v.arrives < Duration::from_secs(second)).count()
        };
        assert_eq!([2, 5].map(|second| by(Arrivals::Burst, second)), [636, 924]);
        assert_eq!([2, 5, 8].map(|second| by(Arrivals::Peak, second)), [80, 500, 920]);
    }

    #[test]
    fn a_share_loses_patience_and_stays_spread_around_the_mean() {
        let crowd = draw_up(&shape(20_000), 2);
        let share = real(crowd.iter().filter(|v| v.patience.is_some()).count()) / 20_000.0;
        assert!((share - 0.25).abs() < 0.02, "{share}");
        let mean = crowd.iter().map(|v| v.stay.as_secs_f64()).sum::<f64>() / 20_000.0;
        assert!((mean - 20.0).abs() < 1.0, "{mean}");
    }

    #[test]
    fn a_seed_plans_the_same_crowd_again() {
        let arrivals =
            |seed| draw_up(&shape(50), seed).iter().map(|v| v.arrives).collect::<Vec<_>>();
        assert_eq!(arrivals(7), arrivals(7));
        assert_ne!(arrivals(7), arrivals(8));
    }

    #[test]
    fn all_at_once_is_all_at_zero() {
        let crowd = draw_up(&CrowdOptions { arrive: Duration::ZERO, ..shape(100) }, 3);
        assert!(crowd.iter().all(|v| v.arrives.is_zero()));
    }
}
