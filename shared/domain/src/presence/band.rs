//! For how long a check-in counts: the bands of presence.
//!
//! A band is a length of time. A visitor who is told to come back soon sets its bit in a short band,
//! one who is told to come back late in a long one, so that the bit is there at least until the next
//! check-in and not much longer. Each band's time runs in *generations* of half its length. A bit is
//! set in the generation under way and counts for three of them: for one band at least, and for one
//! and a half at most. Nobody clears a bit; a generation that no longer counts expires as a whole.

/// The length of the shortest band, ms. It holds the minute for which browsers let a hidden tab sleep.
pub const SHORTEST_MS: u64 = 64_000;
/// How many generations count: the one under way and those before it.
pub const GENERATIONS: u64 = 3;
/// A check-in may come this much later than it was told to, on its way here, ms.
const SLACK_MS: u64 = 4_000;
/// Browsers wake a hidden tab only once in this time, ms.
const HIDDEN_TAB_MS: u64 = 60_000;

/// A length of time for which check-ins count: each band is twice as long as the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Band(u8);

// === impl Band ===

impl Band {
    /// Every band, the shortest first: 64 s, 128 s … 1,024 s.
    pub const ALL: [Self; 5] = [Self(0), Self(1), Self(2), Self(3), Self(4)];

    /// The shortest band in which a visitor counts until its next check-in, if it is told to come back
    /// in `interval_ms`, even as a hidden tab. The longest one, if none is long enough.
    #[must_use]
    pub fn for_interval(interval_ms: u32) -> Self {
        let awake_ms = u64::from(interval_ms).next_multiple_of(HIDDEN_TAB_MS);
        let holds = |band: &Self| band.length_ms() >= awake_ms + SLACK_MS;
        Self::ALL.into_iter().find(holds).unwrap_or(Self(4))
    }

    /// Its number: 0 is the shortest.
    #[must_use]
    pub fn index(self) -> u8 {
        self.0
    }

    /// Its length, ms.
    #[must_use]
    pub fn length_ms(self) -> u64 {
        SHORTEST_MS << self.0
    }

    /// The generation under way at `now_ms`.
    #[must_use]
    pub fn generation(self, now_ms: u64) -> u64 {
        now_ms / (self.length_ms() / 2)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::check_in::LONGEST_MS;

    /// Until when a bit that is set at `now_ms` counts.
    fn counts_until(band: Band, now_ms: u64) -> u64 {
        (band.generation(now_ms) + GENERATIONS) * (band.length_ms() / 2)
    }

    #[test]
    fn the_shortest_that_holds_the_interval() {
        let band = |seconds: u32| Band::for_interval(seconds * 1000).length_ms() / 1000;
        assert_eq!([1, 20, 60].map(band), [64; 3]);
        assert_eq!([61, 120].map(band), [128; 2], "a hidden tab wakes at the second minute");
        assert_eq!([121, 240].map(band), [256; 2]);
        assert_eq!([241, 480].map(band), [512; 2]);
        assert_eq!([481, LONGEST_MS / 1000].map(band), [1_024; 2]);
    }

    proptest! {
        #[test]
        fn a_check_in_counts_until_the_next_one_and_for_half_a_band_longer_at_most(
            now_ms in 1_600_000_000_000_u64..2_000_000_000_000, interval_ms in 1_000..=LONGEST_MS,
        ) {
            let band = Band::for_interval(interval_ms);
            let until = counts_until(band, now_ms);
            let hidden = u64::from(interval_ms).next_multiple_of(HIDDEN_TAB_MS);
            prop_assert!(until >= now_ms + hidden + SLACK_MS);
            prop_assert!(until <= now_ms + band.length_ms() * 3 / 2);
        }
    }
}
