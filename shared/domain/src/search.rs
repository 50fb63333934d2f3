//! A search for somebody who comes, where nobody does: the step doubles until somebody has come.
//!
//! A share of those who come is learnt of many ([`crate::turnout`]), and late, if people were told to come back in
//! ten seconds. That nobody comes at all of those who had the time to is seen at once, and says that what is
//! expected of the others is too much by far.

/// Once those who are served had the time to come and nobody did, the step doubles each time so long has
/// passed, ms.
pub const DOUBLES_EVERY_MS: u64 = 1_000;
/// A search is over once nobody was served for so long, ms.
pub const ENDS_MS: u64 = 30_000;

/// A run of steps into people of one kind, of whom none comes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// How many people the first step served; 0: nobody was served since somebody came.
    first: f64,
    /// So many times as many a step serves now.
    times: f64,
    /// When the next step is due, ms.
    due_ms: u64,
    /// When the last step was, ms.
    stepped_ms: u64,
    /// When people were last served, ms.
    served_ms: u64,
}

// === impl Search ===

impl Default for Search {
    fn default() -> Self {
        Self { first: 0.0, times: 1.0, due_ms: 0, stepped_ms: 0, served_ms: 0 }
    }
}

impl Search {
    /// So many people were served, who come within this time if they are there.
    pub fn served(&mut self, people: f64, now_ms: u64, period_ms: u64) {
        if people < 1.0 {
            return;
        }
        // What was served long ago says nothing about who is served now.
        if self.first <= 0.0 || self.is_over(now_ms) {
            let due_ms = now_ms + period_ms.max(DOUBLES_EVERY_MS);
            *self = Self { first: people, due_ms, stepped_ms: now_ms, ..Self::default() };
        }
        self.served_ms = now_ms;
    }

    /// So many of these people are expected, now that a search goes on.
    #[must_use]
    pub fn believed(&self, expected: f64) -> f64 {
        expected / self.times
    }

    /// Whether the next step is due.
    #[must_use]
    pub fn is_due(&self, now_ms: u64) -> bool {
        self.first > 0.0 && now_ms >= self.due_ms && !self.is_over(now_ms)
    }

    /// When the last step was, ms.
    #[must_use]
    pub fn stepped_ms(&self) -> u64 {
        self.stepped_ms
    }

    /// Takes the next step. Gives how many people it serves.
    pub fn step(&mut self, now_ms: u64) -> f64 {
        self.times *= 2.0;
        (self.due_ms, self.stepped_ms) = (now_ms + DOUBLES_EVERY_MS, now_ms);
        self.first * self.times
    }

    fn is_over(&self, now_ms: u64) -> bool {
        now_ms > self.served_ms + ENDS_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_double_each_second_once_everyone_had_the_time_to_come() {
        let mut search = Search::default();
        assert!(!search.is_due(9_999), "nobody was served");
        search.served(5.0, 10_000, 4_000);
        search.served(3.0, 12_000, 4_000);
        assert!(!search.is_due(13_999) && search.is_due(14_000));
        assert!((search.step(14_000) - 10.0).abs() < 1e-9);
        assert!(!search.is_due(14_999) && search.is_due(15_000));
        assert!((search.step(15_000) - 20.0).abs() < 1e-9);
        assert!((search.believed(8.0) - 2.0).abs() < 1e-9, "a quarter of what was expected");
        assert_eq!(search.stepped_ms(), 15_000);
    }

    #[test]
    fn what_was_served_long_ago_begins_anew() {
        let mut search = Search::default();
        search.served(5.0, 0, 1_000);
        search.step(1_000);
        assert!(search.is_due(ENDS_MS) && !search.is_due(ENDS_MS + 1));
        search.served(7.0, ENDS_MS + 1, 1_000);
        assert!((search.believed(8.0) - 8.0).abs() < 1e-9);
        assert!((search.step(ENDS_MS + 1_001) - 14.0).abs() < 1e-9);
    }
}
