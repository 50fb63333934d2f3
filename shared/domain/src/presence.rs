//! Presence: how many visitors are still there, without a stored record of each of them.
//!
//! A visitor who checks in is given a [`Lease`]: "someone with a number in this range counts as
//! present until that second". Redis holds only the number of leases per range and second. The
//! visitor's ticket holds its own lease, and the next check-in returns it. The lease of a visitor
//! who closes the tab is not returned, and lapses.
//!
//! Ranges hold a single number near the serving counter and double in width with the distance from
//! it, so a line of ten million people costs some hundred counters. Each range carries its width,
//! so old and new ranges add up whatever the serving counter did in between. Two kinds of lease
//! have no position: of a visitor who waits for a draw, and of one who has won in a random room.
//!
//! A visitor whose lease has just lapsed may be a hidden tab, which browsers let poll once a
//! minute. It is still there and counts as waiting until [`Lease::is_gone`], but free seats are
//! planned for visitors who attend: those whose lease has not lapsed ([`Lease::has_lapsed`]).

use serde::{Deserialize, Serialize};

/// Ranges per doubling of the distance, log2: a range is at most one sixteenth of its distance
/// wide.
const RANGES_PER_OCTAVE_LOG2: u32 = 4;
/// Distinct lapse seconds per doubling of the time until then, log2.
const LAPSES_PER_OCTAVE_LOG2: u32 = 3;
/// The least time, in ms, for which a visitor counts as present beyond its interval.
const SLACK_MS: u64 = 3_000;

/// How long a newcomer counts as present before its first check-in is noted, in seconds.
const INITIAL_SECONDS: u64 = 5;
/// How long after its lease lapsed a visitor still counts as there, in ms: a little longer than a
/// browser lets a hidden tab sleep.
pub const LINGER_MS: u64 = 62_000;
/// The width of the widest range, log2: it holds every queue number.
const WIDEST: u8 = 36;
/// In place of a width: the visitor has won in a random room.
const WON: u8 = 62;
/// In place of a width: the visitor waits for a draw.
const POOL: u8 = 63;

/// Where a visitor is counted as present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    /// At a position of the line.
    Position(u64),
    /// Waiting for the draw of this index.
    Pool(u32),
    /// Won in a random room, and without a seat yet.
    Won,
}

/// One visitor counted as present: somewhere in a range of numbers, until a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, PartialOrd, Ord)]
pub struct Lease {
    /// The unix second after which it no longer counts.
    pub slice: u32,
    /// log2 of the range's width; or 62 for a visitor who has won, 63 for one who waits for a draw.
    pub width: u8,
    /// The range is `index * 2^width ..= index * 2^width + 2^width - 1`. For width 63 this is the
    /// index of the draw.
    pub index: u32,
}

/// A number of visitors somewhere in a range of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Crowd {
    /// The first number of the range.
    pub first: u64,
    /// The last number of the range.
    pub last: u64,
    /// How many visitors.
    pub count: u64,
}

/// Everyone counted as present in a room at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Presence {
    crowds: Vec<Crowd>,
}

// === impl Lease ===

impl Lease {
    /// The lease of a visitor at `spot` who is told at `now_ms` to poll again in `interval_ms`,
    /// while the serving counter is `serving`.
    #[must_use]
    pub fn granted(spot: Spot, serving: u64, now_ms: u64, interval_ms: u32) -> Self {
        let slack = SLACK_MS.max(u64::from(interval_ms) / 2);
        let lapse_in = (u64::from(interval_ms) + slack).div_ceil(1000);
        let grain = 1_u64 << lapse_in.ilog2().saturating_sub(LAPSES_PER_OCTAVE_LOG2);
        let second = (now_ms.div_ceil(1000) + lapse_in).next_multiple_of(grain);
        let (width, index) = spot.place(serving);
        Self { slice: u32::try_from(second).unwrap_or(u32::MAX), width, index }
    }

    /// The lease that the join script gives a newcomer, valid until its first check-in. The rule is
    /// also in `scripts/lib/presence.lua`.
    #[must_use]
    pub fn initial(spot: Spot, serving: u64, now_ms: u64) -> Self {
        let (width, index) = spot.place(serving);
        let second = now_ms.div_ceil(1000) + INITIAL_SECONDS;
        Self { slice: u32::try_from(second).unwrap_or(u32::MAX), width, index }
    }

    /// The range of positions, first and last; `None` if the lease has no position.
    #[must_use]
    pub fn range(&self) -> Option<(u64, u64)> {
        let first = u64::from(self.index) << self.width.min(WIDEST);
        (self.width <= WIDEST).then(|| (first, first + (1 << self.width) - 1))
    }

    /// The index of the draw that its holder waits for.
    #[must_use]
    pub fn pool(&self) -> Option<u32> {
        (self.width == POOL).then_some(self.index)
    }

    /// Whether its holder has won in a random room.
    #[must_use]
    pub fn has_won(&self) -> bool {
        self.width == WON
    }

    /// Whether it has lapsed at `now_ms`: its holder is overdue.
    #[must_use]
    pub fn has_lapsed(&self, now_ms: u64) -> bool {
        u64::from(self.slice) * 1000 < now_ms
    }

    /// Whether its holder counts as gone at `now_ms`. The lease has been deleted then, and nobody
    /// may return it.
    #[must_use]
    pub fn is_gone(&self, now_ms: u64) -> bool {
        u64::from(self.slice) * 1000 + LINGER_MS < now_ms
    }
}

impl std::fmt::Display for Lease {
    /// The field under which Redis counts it: `slice.width.index`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.slice, self.width, self.index)
    }
}

impl std::str::FromStr for Lease {
    type Err = ();

    fn from_str(field: &str) -> Result<Self, ()> {
        let mut parts = field.splitn(3, '.');
        let mut part = || parts.next().ok_or(());
        let slice = part()?.parse().map_err(drop)?;
        let known = |width: &u8| *width <= WIDEST || [WON, POOL].contains(width);
        let width = part()?.parse().ok().filter(known).ok_or(())?;
        Ok(Self { slice, width, index: part()?.parse().map_err(drop)? })
    }
}

// === impl Spot ===

impl Spot {
    /// Width and index of the lease.
    fn place(self, serving: u64) -> (u8, u32) {
        match self {
            Self::Position(position) => range_of(position, serving),
            Self::Pool(draw) => (POOL, draw),
            Self::Won => (WON, 0),
        }
    }
}

// === impl Presence ===

impl Presence {
    /// Everyone in `crowds`, in a line that ends at `queue_counter`. Ranges that reach beyond it
    /// are cut there.
    #[must_use]
    pub fn new(mut crowds: Vec<Crowd>, queue_counter: u64) -> Self {
        for crowd in &mut crowds {
            crowd.last = crowd.last.min(queue_counter).max(crowd.first);
        }
        crowds.sort_unstable();
        Self { crowds }
    }

    /// How many are present with a number above `after` and up to `upto`. A range that is partly
    /// inside counts in proportion.
    #[must_use]
    pub fn between(&self, after: u64, upto: u64) -> f64 {
        let near = self.crowds.iter().take_while(|crowd| crowd.first <= upto);
        near.map(|crowd| crowd.part(after, upto)).sum()
    }

    /// The smallest number up to which at least `wanted` are present above `after`; `limit` if
    /// there are fewer.
    #[must_use]
    pub fn reach(&self, after: u64, wanted: u64, limit: u64) -> u64 {
        let (mut low, mut high) = (after, limit.max(after));
        #[expect(clippy::cast_precision_loss, reason = "numbers have 36 bits")]
        // Slightly less than a whole person, so that sums of fractions still count as whole.
        let wanted = wanted as f64 - 1e-6;
        while low < high {
            let middle = low + (high - low) / 2;
            if self.between(after, middle) >= wanted {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }
}

// === impl Crowd ===

impl Crowd {
    #[expect(clippy::cast_precision_loss, reason = "numbers have 36 bits, counts fewer")]
    fn part(&self, after: u64, upto: u64) -> f64 {
        let overlap = (upto.min(self.last) + 1).saturating_sub(self.first.max(after + 1));
        self.count as f64 * overlap as f64 / (self.last - self.first + 1) as f64
    }
}

/// The range, as width and index, of a visitor with `number` while `serving` is the counter.
fn range_of(number: u64, serving: u64) -> (u8, u32) {
    let distance = number.saturating_sub(serving).max(1);
    let mut width = distance.ilog2().saturating_sub(RANGES_PER_OCTAVE_LOG2);
    // An index has 32 bits, so high numbers need a wider range.
    while number >> width > u64::from(u32::MAX) {
        width += 1;
    }
    // Both fit: the width is at most 36, and the loop has made the index small enough.
    let index = u32::try_from(number >> width).unwrap_or(u32::MAX);
    (u8::try_from(width).unwrap_or(u8::MAX), index)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(number: u64, serving: u64) -> Lease {
        Lease::granted(Spot::Position(number), serving, 0, 1_000)
    }

    fn range(lease: Lease) -> (u64, u64) {
        lease.range().unwrap()
    }

    fn crowd(lease: Lease, count: u64) -> Crowd {
        let (first, last) = range(lease);
        Crowd { first, last, count }
    }

    #[test]
    fn exact_near_the_counter_and_coarse_far_away() {
        assert_eq!(range(at(1000, 990)), (1000, 1000));
        assert_eq!(range(at(1000, 5000)), (1000, 1000), "already served");
        let (first, last) = range(at(1_000_000, 0));
        assert!(first <= 1_000_000 && 1_000_000 <= last);
        assert!(last - first < 1_000_000 / 15, "{first}..{last}");
    }

    #[test]
    fn a_million_people_need_some_hundred_ranges() {
        let ranges: std::collections::BTreeSet<_> =
            (1..=1_000_000).map(|number| at(number, 0)).collect();
        assert!(ranges.len() < 300, "{}", ranges.len());
    }

    #[test]
    fn lapses_some_time_after_the_visitor_was_due() {
        let lease = Lease::granted(Spot::Position(5), 0, 1_700_000_000_000, 1_000);
        assert!(!lease.has_lapsed(1_700_000_000_000 + 3_999), "due at +1 s, with slack");
        assert!(lease.has_lapsed(1_700_000_000_000 + 6_000));
        let far = Lease::granted(Spot::Position(5), 0, 1_700_000_000_000, 60_000);
        assert!(!far.has_lapsed(1_700_000_000_000 + 89_000));
        assert!(far.has_lapsed(1_700_000_000_000 + 99_000));
    }

    #[test]
    fn skips_those_who_left() {
        let there = [3, 4, 8, 9, 10].map(|number| crowd(at(number, number), 1));
        let presence = Presence::new(there.to_vec(), 10);
        assert_eq!(presence.reach(0, 1, 10), 3);
        assert_eq!(presence.reach(0, 3, 10), 8);
        assert_eq!(presence.reach(4, 2, 10), 9);
        assert_eq!(presence.reach(0, 6, 10), 10, "fewer than wanted: the end of the line");
    }

    #[test]
    fn a_partly_covered_range_counts_in_proportion() {
        let lease = Lease { slice: 9, width: 6, index: 1 };
        let presence = Presence::new(vec![crowd(lease, 32)], 1000);
        assert!((presence.between(0, 63) - 0.0).abs() < 1e-9);
        assert!((presence.between(0, 95) - 16.0).abs() < 1e-9);
        assert!((presence.between(95, 1000) - 16.0).abs() < 1e-9);
        assert_eq!(presence.reach(63, 16, 1000), 95);
    }

    #[test]
    fn a_hidden_tab_that_polls_once_a_minute_is_still_there() {
        let lease = Lease::granted(Spot::Position(5), 0, 0, 1_000);
        assert!(lease.has_lapsed(60_000) && !lease.is_gone(60_000));
        assert!(lease.is_gone(70_000));
    }

    #[test]
    fn visitors_without_a_position_have_leases_of_their_own() {
        let pool = Lease::granted(Spot::Pool(3), 7, 0, 1_000);
        let won = Lease::granted(Spot::Won, 7, 0, 1_000);
        assert_eq!((pool.pool(), pool.range(), pool.has_won()), (Some(3), None, false));
        assert_eq!((won.pool(), won.range(), won.has_won()), (None, None, true));
        for lease in [pool, won] {
            assert_eq!(lease.to_string().parse(), Ok(lease));
        }
        assert!("5.61.0".parse::<Lease>().is_err());
    }

    proptest! {
        #[test]
        fn a_lease_holds_its_number_and_survives_its_field(
            number in 1..=crate::MAX_QUEUE_NUMBER, serving in 0..=crate::MAX_QUEUE_NUMBER,
            now in 1_600_000_000_000_u64..2_000_000_000_000, interval in 500_u32..900_000,
        ) {
            let lease = Lease::granted(Spot::Position(number), serving, now, interval);
            let (first, last) = range(lease);
            prop_assert!(first <= number && number <= last);
            prop_assert!(!lease.has_lapsed(now + u64::from(interval) + SLACK_MS));
            prop_assert!(lease.has_lapsed(now + u64::from(interval) * 2 + 10_000));
            prop_assert_eq!(lease.to_string().parse(), Ok(lease));
        }
    }
}
