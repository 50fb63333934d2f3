//! One simulated visitor: little enough that a million of them fit into memory.

use rand::{Rng, SeedableRng, rngs::SmallRng};
use vestibule_domain::{Place, Waiter};

use crate::{number::index, plan::VisitorPlan};

/// Where a visitor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Has not come yet.
    Away,
    /// In the line.
    Waiting,
    /// In the line, and about to close the tab.
    Closing,
    /// Called, and waits for a seat.
    AtDoor,
    /// Inside, and will leave.
    Inside,
    /// Inside, and stays until the session runs out.
    Staying,
    /// The visit is over.
    Gone,
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
#[derive(Debug, Clone)]
pub(super) struct Visitor {
    /// What its ticket remembers.
    pub(super) waiter: Waiter,
    /// What decides in a random room: exponential, of mean 1.
    pub(super) win_threshold: f64,
    /// In which order it gets a seat while it is at the door, lowest first.
    pub(super) rank: u64,
    /// The part of its wait after which it closes the tab; 1 or more = never.
    pub(super) patience: f32,
    /// How long it stays inside, ms.
    pub(super) stay_ms: u32,
    /// The step of its next moment; appointments of other steps do not count any more.
    pub(super) due: u32,
    /// How it polls.
    pub(super) habit: Habit,
    /// Where it comes from.
    pub(super) region: u8,
    /// Where it is.
    pub(super) state: State,
}

/// The longest time between polls that are made every second or so, ms.
const IMPATIENT_MS: u64 = 1_000;
/// The shortest time between polls of a hidden tab, ms.
const HIDDEN_MS: u64 = 60_000;
/// Answers say when to come back in tenths of a second, ms.
const ANSWER_GRAIN_MS: u64 = 100;

// === impl Visitor ===

impl Visitor {
    /// A visitor with this plan, from `region`.
    pub(super) fn new(plan: &VisitorPlan, habits: Habits, region: u8) -> Self {
        let mut rng = SmallRng::seed_from_u64(plan.seed);
        #[expect(clippy::cast_possible_truncation, reason = "a share needs no more than an f32")]
        let patience = plan.patience.map_or(1.0, |part| part as f32);
        Self {
            waiter: Waiter::new(Place { number: 0, entered_at: 0, region }, None, 0),
            win_threshold: -(1.0 - rng.random::<f64>()).ln(),
            rank: 0,
            patience,
            stay_ms: u32::try_from(plan.stay.as_millis()).unwrap_or(u32::MAX),
            due: 0,
            habit: Habit::of(rng.random(), habits),
            region,
            state: State::Away,
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
    pub(super) fn comes_back_after_ms(self, told_ms: u32) -> u64 {
        let told = u64::from(told_ms).next_multiple_of(ANSWER_GRAIN_MS);
        match self {
            Self::Polite => told,
            Self::Hidden => told.max(HIDDEN_MS),
            Self::Impatient => told.min(IMPATIENT_MS),
        }
    }
}

/// Milliseconds as whole steps, rounded up: nobody comes early.
pub(super) fn steps(ms: u64, step_ms: u64) -> u64 {
    ms.div_ceil(step_ms)
}

/// Seconds as whole milliseconds, none for what is negative.
pub(super) fn millis(seconds: f64) -> u64 {
    u64::try_from(index(seconds * 1000.0)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::number::real;

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
    fn luck_is_exponential_and_habits_have_their_shares() {
        let crowd = crowd(Habits { hidden: 0.2, impatient: 0.1 });
        let share =
            |is: &dyn Fn(&Visitor) -> bool| real(crowd.iter().filter(|v| is(v)).count()) / 20_000.0;
        assert!((share(&|v| v.win_threshold > std::f64::consts::LN_2) - 0.5).abs() < 0.01);
        assert!((share(&|v| v.win_threshold > 3.0) - (-3.0_f64).exp()).abs() < 0.005);
        assert!((share(&|v| v.habit == Habit::Hidden) - 0.2).abs() < 0.01);
        assert!((share(&|v| v.habit == Habit::Impatient) - 0.1).abs() < 0.01);
        assert_eq!(crowd[0].stay_ms, 7_200_000);
    }

    #[test]
    fn polls_follow_the_habit() {
        let after = |habit: Habit, told| habit.comes_back_after_ms(told);
        assert_eq!(after(Habit::Polite, 8_765), 8_800);
        assert_eq!(after(Habit::Hidden, 8_765), 60_000);
        assert_eq!(after(Habit::Hidden, 90_000), 90_000);
        assert_eq!(after(Habit::Impatient, 8_765), 1_000);
        assert_eq!((steps(51, 50), millis(-1.0), millis(1.5)), (2, 0, 1500));
    }

    #[test]
    fn a_million_visitors_need_little_memory() {
        assert!(size_of::<Visitor>() <= 96, "{}", size_of::<Visitor>());
    }
}
