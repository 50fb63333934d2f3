//! The visitors who wait for a draw.

/// The queue numbers that wait for a draw.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pool {
    /// The first; 0: none waits.
    pub first: u64,
    /// The last; 0: more may come.
    pub last: u64,
    /// The id of the draw.
    pub draw_id: String,
}

// === impl Pool ===

impl Pool {
    /// Whether nobody waits for a draw.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first == 0
    }

    /// Whether it is closed and waits to be drawn.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.first > 0 && self.last > 0
    }

    /// Which of its numbers are among these, from and to each, once it is closed.
    #[must_use]
    pub fn among(&self, numbers: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let within = numbers.iter().map(|(from, to)| (*from.max(&self.first), *to.min(&self.last)));
        within.filter(|(from, to)| self.is_closed() && from <= to).collect()
    }

    /// How many it holds, once it is closed.
    #[must_use]
    pub fn count(&self) -> u64 {
        if self.is_closed() { (self.last + 1).saturating_sub(self.first) } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_some_numbers_it_has_those_within() {
        let pool = |first, last| Pool { first, last, draw_id: String::new() };
        let numbers = [(1, 4), (6, 8), (12, 40)];
        assert_eq!(pool(3, 12).among(&numbers), [(3, 4), (6, 8), (12, 12)]);
        assert_eq!(pool(9, 11).among(&numbers), []);
        assert_eq!(pool(3, 0).among(&numbers), [], "more may come");
        assert_eq!(pool(0, 0).among(&numbers), []);
    }
}
