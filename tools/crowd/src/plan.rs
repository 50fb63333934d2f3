//! Who comes when, stays how long, and loses patience: the whole crowd drawn up before the run from
//! one seed. Pure: no clock and no network here.

use std::time::Duration;

use clap::ValueEnum;
use rand::{Rng, SeedableRng, rngs::SmallRng};

use crate::{
    cli::StaySpread,
    number::{real64, seconds},
};

/// How arrivals spread over their time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Arrivals {
    /// Evenly
    Even,
    /// A rush at the start that fades: two thirds come in the first fifth
    Burst,
    /// Ever more towards the middle, then ever fewer
    Peak,
}

/// What the crowd looks like as a whole.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CrowdShape {
    /// How many visitors come.
    pub(crate) visitors: u32,
    /// Over how long they arrive.
    pub(crate) arrive: Duration,
    /// How they spread over that.
    pub(crate) arrivals: Arrivals,
    /// How long each stays inside, or the mean of it.
    pub(crate) stay: Duration,
    /// How stays spread around it.
    pub(crate) stay_spread: StaySpread,
    /// Share of visitors who close the tab while they wait, 0 to 1.
    pub(crate) abandon: f64,
}

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

/// Draws up the crowd, in order of arrival. The same shape and seed give the same crowd.
pub(crate) fn draw_up(shape: &CrowdShape, seed: u64) -> Vec<VisitorPlan> {
    let mut rng = SmallRng::seed_from_u64(seed);
    let over = shape.arrive.as_secs_f64();
    let part = |n: u32, chance: f64| (f64::from(n) + chance) / f64::from(shape.visitors);
    (0..shape.visitors)
        .map(|n| VisitorPlan {
            arrives: seconds(shape.arrivals.moment(part(n, rng.random())) * over),
            stay: stay(shape, rng.random()),
            patience: patience(shape.abandon, rng.random(), rng.random()),
            seed: rng.random(),
        })
        .collect()
}

// === impl Arrivals ===

impl Arrivals {
    /// When, from 0 to 1, that part of all has arrived: the inverse of the distribution's function.
    fn moment(self, part: f64) -> f64 {
        const FADE: f64 = 5.0;
        match self {
            Self::Even => part,
            Self::Burst => -(1.0 - part * (1.0 - (-FADE).exp())).ln() / FADE,
            Self::Peak if part < 0.5 => (part / 2.0).sqrt(),
            Self::Peak => 1.0 - ((1.0 - part) / 2.0).sqrt(),
        }
    }
}

/// `chance` is uniform in [0, 1): the inverse of the exponential distribution's function.
fn stay(shape: &CrowdShape, chance: f64) -> Duration {
    match shape.stay_spread {
        StaySpread::Fixed => shape.stay,
        StaySpread::Exponential => seconds(-(1.0 - chance).ln() * shape.stay.as_secs_f64()),
    }
}

fn patience(share: f64, chance: f64, part: f64) -> Option<f64> {
    (chance < share).then_some(part)
}

/// A seed for a run that was given none: short enough to be typed again.
#[expect(clippy::disallowed_methods, reason = "the seed of a run that was given none")]
pub(crate) fn fresh_seed() -> u64 {
    u64::from(rand::rng().random::<u32>())
}

/// A pause of `base` seconds, lengthened by up to `spread` of itself, so that a crowd that was
/// turned away together does not come back together.
pub(crate) fn jittered(base: f64, spread: f64, rng: &mut SmallRng) -> Duration {
    seconds(base * (1.0 + spread * rng.random::<f64>()))
}

/// The pause before the `nth` try in a row (from 0) after a broken connection, before jitter.
pub(crate) fn backoff(nth: u32) -> f64 {
    0.1 * real64(1 << nth.min(5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::real;

    fn shape(visitors: u32) -> CrowdShape {
        CrowdShape {
            visitors,
            arrive: Duration::from_secs(10),
            arrivals: Arrivals::Even,
            stay: Duration::from_secs(20),
            stay_spread: StaySpread::Exponential,
            abandon: 0.25,
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
            let crowd = draw_up(&CrowdShape { arrivals, ..shape(1000) }, 1);
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
        let crowd = draw_up(&CrowdShape { arrive: Duration::ZERO, ..shape(100) }, 3);
        assert!(crowd.iter().all(|v| v.arrives.is_zero()));
    }
}
