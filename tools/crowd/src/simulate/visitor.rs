//! One simulated visitor: little enough that a million of them fit into memory.

use rand::{Rng, SeedableRng, rngs::SmallRng};
use vestibule_simulation::Carried;

use crate::crowd::{Call, VisitorPlan, number::index};

/// What a visitor does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Makes a call, or is in the middle of it.
    Call(Call),
    /// Closes the tab.
    Close,
    /// Is inside until the session runs out.
    RunOut,
}

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

/// A visitor.
#[derive(Debug)]
pub(super) struct Visitor {
    /// The ticket that its browser has.
    pub(super) carried: Option<Carried>,
    /// The part of its wait after which it closes the tab; 1 or more = never.
    pub(super) patience: f32,
    /// How long it stays inside, ms.
    pub(super) stay_ms: u32,
    /// How it polls.
    pub(super) habit: Habit,
    /// Where it comes from.
    pub(super) region: u8,
    /// What it does next.
    pub(super) next: Step,
}

/// The longest time between polls that are made every second or so, ms.
const IMPATIENT_MS: u64 = 1_000;
/// The shortest time between polls of a hidden tab, ms.
const HIDDEN_MS: u64 = 60_000;

// === impl Visitor ===

impl Visitor {
    /// A visitor with this plan, from `region`.
    pub(super) fn new(plan: &VisitorPlan, habits: Habits, region: u8) -> Self {
        let mut rng = SmallRng::seed_from_u64(plan.seed);
        #[expect(clippy::cast_possible_truncation, reason = "a share needs no more than an f32")]
        let patience = plan.patience.map_or(1.0, |part| part as f32);
        Self {
            carried: None,
            patience,
            stay_ms: u32::try_from(plan.stay.as_millis()).unwrap_or(u32::MAX),
            habit: Habit::of(rng.random(), habits),
            region,
            next: Step::Call(Call::Join),
        }
    }
}

// === impl Habit ===

impl Habit {
    /// `chance` is uniform in [0, 1).
    fn of(chance: f64, habits: Habits) -> Self {
        match chance {
            chance if chance < habits.hidden => Self::Hidden,
            chance if chance < habits.hidden + habits.impatient => Self::Impatient,
            _ => Self::Polite,
        }
    }

    /// When a visitor comes back who was told to do so after `told_ms`.
    pub(super) fn comes_back_after_ms(self, told_ms: u64) -> u64 {
        match self {
            Self::Polite => told_ms,
            Self::Hidden => told_ms.max(HIDDEN_MS),
            Self::Impatient => told_ms.min(IMPATIENT_MS),
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

    fn crowd(habits: Habits) -> Vec<Visitor> {
        let plan = |seed| VisitorPlan {
            arrives: Duration::ZERO,
            stay: Duration::from_hours(2),
            patience: None,
            seed,
        };
        (0..20_000).map(|seed| Visitor::new(&plan(seed), habits, 0)).collect()
    }

    #[test]
    fn habits_have_their_shares() {
        let crowd = crowd(Habits { hidden: 0.2, impatient: 0.1 });
        let share =
            |is: &dyn Fn(&Visitor) -> bool| real(crowd.iter().filter(|v| is(v)).count()) / 20_000.0;
        assert!((share(&|v| v.habit == Habit::Hidden) - 0.2).abs() < 0.01);
        assert!((share(&|v| v.habit == Habit::Impatient) - 0.1).abs() < 0.01);
        assert_eq!(crowd[0].stay_ms, 7_200_000);
    }

    #[test]
    fn polls_follow_the_habit() {
        let after = |habit: Habit, told| habit.comes_back_after_ms(told);
        assert_eq!(after(Habit::Polite, 8_700), 8_700);
        assert_eq!(after(Habit::Hidden, 8_765), 60_000);
        assert_eq!(after(Habit::Hidden, 90_000), 90_000);
        assert_eq!(after(Habit::Impatient, 8_765), 1_000);
        assert_eq!((millis(-1.0), millis(1.5)), (0, 1500));
    }

    #[test]
    fn a_million_visitors_need_little_memory() {
        assert!(size_of::<Visitor>() <= 160, "{}", size_of::<Visitor>());
    }
}
