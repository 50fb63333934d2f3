//! How visitors poll who do not all do as they are told: for crowds that are brought from outside.

/// How a visitor polls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Habit {
    /// When it is told to.
    Polite,
    /// From a hidden tab: once a minute at most.
    Hidden,
    /// Every second, whatever it is told.
    Impatient,
}

/// Shares of visitors who do not poll as they are told.
#[derive(Debug, Clone, Copy)]
pub struct Habits {
    /// From a hidden tab, 0 to 1.
    pub hidden: f64,
    /// Every second, 0 to 1.
    pub impatient: f64,
}

/// The longest time between polls of the impatient, in seconds.
const IMPATIENT: f64 = 1.0;
/// The shortest time between polls of a hidden tab, in seconds.
const HIDDEN: f64 = 60.0;

// === impl Habits ===

impl Habits {
    /// That of one visitor. `chance` is uniform in [0, 1).
    #[must_use]
    pub fn pick(self, chance: f64) -> Habit {
        match chance {
            chance if chance < self.hidden => Habit::Hidden,
            chance if chance < self.hidden + self.impatient => Habit::Impatient,
            _ => Habit::Polite,
        }
    }
}

// === impl Habit ===

impl Habit {
    /// After how many seconds a visitor comes back who was told to do so after `told`.
    #[must_use]
    pub fn after(self, told: f64) -> f64 {
        match self {
            Self::Polite => told,
            Self::Hidden => told.max(HIDDEN),
            Self::Impatient => told.min(IMPATIENT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn habits_have_their_shares() {
        let habits = Habits { hidden: 0.2, impatient: 0.1 };
        let picked = [0.0, 0.19, 0.21, 0.29, 0.31, 0.99].map(|chance| habits.pick(chance));
        let [hidden, impatient, polite] = [Habit::Hidden, Habit::Impatient, Habit::Polite];
        assert_eq!(picked, [hidden, hidden, impatient, impatient, polite, polite]);
    }

    #[test]
    fn polls_follow_the_habit() {
        let after = [Habit::Polite, Habit::Hidden, Habit::Impatient].map(|one| one.after(8.5));
        assert_eq!((after, Habit::Hidden.after(90.0)), ([8.5, 60.0, 1.0], 90.0));
    }
}
