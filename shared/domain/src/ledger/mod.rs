//! What a room's history tells besides newcomers and admissions: which figures there are, how they are written, and
//! how those of several minutes come to those of a longer time. Counting is the scripts' and the services' affair.

mod figure;
mod step;
mod waits;

use std::collections::BTreeMap;

pub use self::{
    figure::{Figure, LeftAs, RefusedFor},
    step::{COARSE_MINUTES, Step},
    waits::{BUCKETS, UNKNOWN_WAIT, WAIT_BOUNDS, bucket_of},
};

/// Figures of a stretch of time, each with its region; none: of the room as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figures(BTreeMap<(String, Figure), u64>);

// === impl Figures ===

impl Figures {
    /// Adds what was counted: counts add up, of levels the highest counts.
    pub fn add(&mut self, region: &str, figure: Figure, count: u64) {
        let known = self.0.entry((region.to_owned(), figure)).or_default();
        *known = if figure.is_level() { (*known).max(count) } else { *known + count };
    }

    /// Adds figures of another stretch of time.
    pub fn add_all(&mut self, others: &Self) {
        for (region, figure, count) in others.iter() {
            self.add(region, figure, count);
        }
    }

    /// Comes to the higher of both, figure by figure: they are of the same time, and of either something may be lost.
    pub fn join(&mut self, other: &Self) {
        for ((region, figure), count) in &other.0 {
            let known = self.0.entry((region.clone(), *figure)).or_default();
            *known = (*known).max(*count);
        }
    }

    /// All of them, by region.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Figure, u64)> {
        self.0.iter().map(|((region, figure), count)| (region.as_str(), *figure, *count))
    }

    /// Of one region, or of the room as a whole (empty).
    #[must_use]
    pub fn of(&self, region: &str, figure: Figure) -> u64 {
        self.0.get(&(region.to_owned(), figure)).copied().unwrap_or(0)
    }

    /// Of the room and all regions together.
    #[must_use]
    pub fn total(&self, figure: Figure) -> u64 {
        let those = self.0.iter().filter(|((_, other), _)| *other == figure);
        those.map(|(_, count)| count).sum()
    }

    /// The regions, in order.
    #[must_use]
    pub fn regions(&self) -> Vec<&str> {
        let mut regions: Vec<_> = self.0.keys().map(|(region, _)| region.as_str()).collect();
        regions.dedup();
        regions.retain(|region| !region.is_empty());
        regions
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_and_levels_do_not() {
        let mut hour = Figures::default();
        for (waiting, arrived) in [(5, 3), (9, 1), (2, 0)] {
            let mut minute = Figures::default();
            minute.add("", Figure::Waiting, waiting);
            minute.add("eu", Figure::Arrived, arrived);
            minute.add("us", Figure::Arrived, 1);
            hour.add_all(&minute);
        }
        assert_eq!((hour.of("", Figure::Waiting), hour.of("eu", Figure::Arrived)), (9, 4));
        assert_eq!((hour.total(Figure::Arrived), hour.regions()), (7, vec!["eu", "us"]));
        let mut lost = Figures::default();
        lost.add("eu", Figure::Arrived, 6);
        hour.join(&lost);
        assert_eq!((hour.of("eu", Figure::Arrived), hour.of("us", Figure::Arrived)), (6, 3));
    }
}
