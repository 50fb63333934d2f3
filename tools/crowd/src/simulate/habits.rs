//! How simulated visitors poll who do not all do as they are told.

use rand::{Rng, SeedableRng, rngs::SmallRng};

use crate::crowd::{VisitorPlan, number::index};

/// How a visitor polls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Habit {
    /// When it is told to.
    Polite,
    /// From a hidden tab: once a minute at most.
    Hidden,
    /// Every second, whatever it is told.
    Impatient,
}

/// Shares of visitors who do not poll as they are told.
#[derive(Debug, Clone, Copy)]
pub(super) struct Habits {
    /// From a hidden tab, 0 to 1.
    pub(super) hidden: f64,
    /// Every second, 0 to 1.
    pub(super) impatient: f64,
}

/// The longest time between polls of the impatient, in seconds.
const IMPATIENT: f64 = 1.0;
/// The shortest time between polls of a hidden tab, in seconds.
const HIDDEN: f64 = 60.0;

// === impl Habit ===

impl Habit {
    /// That of a visitor with this plan.
    pub(super) fn of(plan: &VisitorPlan, habits: Habits) -> Self {
        match SmallRng::seed_from_u64(plan.seed).random::<f64>() {
            chance if chance < habits.hidden => Self::Hidden,
            chance if chance < habits.hidden + habits.impatient => Self::Impatient,
            _ => Self::Polite,
        }
    }

    /// After how many seconds a visitor comes back who was told to do so after `told`.
    pub(super) fn after(self, told: f64) -> f64 {
        match self {
            Self::Polite => told,
            Self::Hidden => told.max(HIDDEN),
            Self::Impatient => told.min(IMPATIENT),
        }
    }
}

/// Seconds as whole milliseconds, none for what is negative.
pub(super) fn millis(seconds: f64) -> u64 {
    u64::try_from(index(seconds * 1000.0)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::crowd::number::real;

    #[test]
    fn habits_have_their_shares() {
        let plan = |seed| VisitorPlan {
            arrives: Duration::ZERO,
            stay: Duration::from_hours(2),
            patience: None,
            seed,
        };
        let habits = Habits { hidden: 0.2, impatient: 0.1 };
        let all: Vec<_> = (0..20_000).map(|seed| Habit::of(&plan(seed), habits)).collect();
        let share = |of: Habit| real(all.iter().filter(|one| **one == of).count()) / 20_000.0;
        assert!((share(Habit::Hidden) - 0.2).abs() < 0.01);
        assert!((share(Habit::Impatient) - 0.1).abs() < 0.01);
    }

    #[test]
    fn polls_follow_the_habit() {
        let after = [Habit::Polite, Habit::Hidden, Habit::Impatient].map(|one| one.after(8.5));
        assert_eq!((after, Habit::Hidden.after(90.0)), ([8.5, 60.0, 1.0], 90.0));
        assert_eq!((millis(-1.0), millis(1.5)), (0, 1500));
    }
}
