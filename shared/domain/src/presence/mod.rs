//! Presence: how many visitors are still there, without a record of any of them.
//!
//! Each visitor has a bit of its own, by its place: its position, or, while it waits for a draw, its
//! number. A check-in sets it, and saying it twice is saying it once. How long a bit counts is in
//! [`band`], how bits are kept in pieces in [`chunk`]. Nobody reads a million bits at a time: the leader
//! counts a few chunks with each tick, and remembers the others' counts ([`tally`]).
//!
//! What the rules see of all this is a [`Presence`]: how many people there are up to each position.

pub mod band;
pub mod chunk;
pub mod tally;

pub use band::Band;
pub use tally::Tally;

/// Where a visitor is counted as present.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Spot {
    /// At a position of the line.
    Position(u64),
    /// Waiting for a draw: by its number.
    Pool {
        /// How many draws there were before.
        draw: u32,
        /// The queue number.
        number: u64,
    },
}

/// A number of visitors somewhere in a range of positions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crowd {
    /// The first position of the range.
    pub first: u64,
    /// The last position of the range.
    pub last: u64,
    /// How many visitors.
    pub count: f64,
}

/// How many visitors there are up to each position, as a rising curve.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Presence {
    /// Points (position, people up to it). Between two points people stand evenly; before the first one
    /// and after the last one there is nobody.
    points: Vec<(u64, f64)>,
}

// === impl Spot ===

impl Spot {
    /// The number of its bit.
    #[must_use]
    pub fn place(self) -> u64 {
        match self {
            Self::Position(place) | Self::Pool { number: place, .. } => place,
        }
    }

    /// The index of the draw that it waits for.
    #[must_use]
    pub fn pool(self) -> Option<u32> {
        match self {
            Self::Position(_) => None,
            Self::Pool { draw, .. } => Some(draw),
        }
    }
}

// === impl Presence ===

impl Presence {
    /// Everyone in `crowds`. Where ranges overlap, all of them count; a crowd of fewer than nobody takes
    /// away from others.
    #[must_use]
    pub fn new(crowds: &[Crowd]) -> Self {
        // By how much the density changes behind a position.
        let mut bends: Vec<(u64, f64)> = Vec::with_capacity(2 * crowds.len());
        for crowd in crowds.iter().filter(|crowd| crowd.count != 0.0) {
            let density = crowd.count / span(crowd.first.saturating_sub(1), crowd.last);
            bends.push((crowd.first.saturating_sub(1), density));
            bends.push((crowd.last, -density));
        }
        bends.sort_unstable_by_key(|(position, _)| *position);
        let (mut points, mut people, mut density) = (Vec::<(u64, f64)>::new(), 0.0_f64, 0.0_f64);
        for (position, change) in bends {
            match points.last() {
                Some((last, _)) if *last == position => {}
                last => {
                    let from = last.map_or(position, |(last, _)| *last);
                    people += density * span(from, position);
                    points.push((position, people));
                }
            }
            density += change;
        }
        Self { points }
    }

    /// How many are present with a position above `after` and up to `upto`.
    #[must_use]
    pub fn between(&self, after: u64, upto: u64) -> f64 {
        if after >= upto { 0.0 } else { self.upto(upto) - self.upto(after) }
    }

    /// The smallest position up to which at least `wanted` are present above `after`; `limit` if
    /// there are fewer.
    #[must_use]
    pub fn reach(&self, after: u64, wanted: f64, limit: u64) -> u64 {
        first_position(after, limit, |upto| self.between(after, upto) >= wanted - WHOLE)
    }

    fn upto(&self, position: u64) -> f64 {
        let next = self.points.partition_point(|(at, _)| *at <= position);
        let Some((from, people)) = next.checked_sub(1).map(|before| self.points[before]) else {
            return 0.0;
        };
        let Some((to, more)) = self.points.get(next) else { return people };
        people + (more - people) * span(from, position) / span(from, *to)
    }
}

/// Slightly less than a whole person, so that sums of fractions still count as whole.
pub(crate) const WHOLE: f64 = 1e-6;

/// The smallest position above `after` and up to `limit` at which `enough` holds; `limit` if none is.
/// What is enough stays enough.
pub(crate) fn first_position(after: u64, limit: u64, enough: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (after, limit.max(after));
    while low < high {
        let middle = low + (high - low) / 2;
        if enough(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

#[expect(clippy::cast_precision_loss, reason = "positions have 36 bits")]
fn span(from: u64, to: u64) -> f64 {
    (to - from) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one(position: u64) -> Crowd {
        Crowd { first: position, last: position, count: 1.0 }
    }

    #[test]
    fn skips_those_who_left() {
        let presence = Presence::new(&[3, 4, 8, 9, 10].map(one));
        assert_eq!(presence.reach(0, 1.0, 10), 3);
        assert_eq!(presence.reach(0, 3.0, 10), 8);
        assert_eq!(presence.reach(4, 2.0, 10), 9);
        assert_eq!(presence.reach(0, 6.0, 10), 10, "fewer than wanted: the end of the line");
    }

    #[test]
    fn a_partly_covered_range_counts_in_proportion() {
        let presence = Presence::new(&[Crowd { first: 64, last: 127, count: 32.0 }]);
        assert!((presence.between(0, 63) - 0.0).abs() < 1e-9);
        assert!((presence.between(0, 95) - 16.0).abs() < 1e-9);
        assert!((presence.between(95, 1000) - 16.0).abs() < 1e-9);
        assert_eq!(presence.reach(63, 16.0, 1000), 95);
    }

    #[test]
    fn people_without_an_exact_place_count_beside_the_others() {
        let crowds = [one(3), Crowd { first: 1, last: 10, count: 5.0 }, one(3)];
        let presence = Presence::new(&crowds);
        assert!((presence.between(2, 3) - 2.5).abs() < 1e-9);
        assert!((presence.between(0, 10) - 7.0).abs() < 1e-9);
        assert_eq!(presence.reach(3, 1.0, 10), 5);
    }

    proptest! {
        #[test]
        fn it_counts_like_a_list(
            people in prop::collection::btree_set(1..300_u64, 0..120),
            after in 0..320_u64, upto in 0..320_u64, wanted in 1..50_u32,
        ) {
            let crowds: Vec<_> = people.iter().copied().map(one).collect();
            let presence = Presence::new(&crowds);
            let between = || people.iter().filter(|at| **at > after && **at <= upto);
            let count = between().count();
            let counted = presence.between(after, upto);
            #[expect(clippy::cast_precision_loss, reason = "small counts")]
            let difference = (counted - count as f64).abs();
            prop_assert!(difference < 1e-6);
            let nth = between().nth(wanted as usize - 1).copied();
            let reach = presence.reach(after, wanted.into(), upto);
            prop_assert_eq!(reach, nth.unwrap_or(upto.max(after)));
        }
    }
}
