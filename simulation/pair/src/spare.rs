//! Whether a slot was surely free at a moment, as those inside know it: to find newcomers who were made
//! to wait for nothing. Not a rule of the room; the scripts have their own.
//!
//! Between a call and its answer nobody here knows whether it was carried out. So a seat counts as taken
//! from when it may be, and as free only a while after it was given back.

use std::collections::VecDeque;

/// Admissions are counted in buckets of this length, as the rate script does, ms.
const BUCKET_MS: u64 = 100;
/// The window of the rate, in buckets. One that lies partly in it counts whole.
const WINDOW: u64 = 600;
/// How long after it was given back a seat is free for everyone, ms.
const SURELY_MS: u64 = 1_000;

/// Limits, and how much of them is used.
#[derive(Debug)]
pub(crate) struct Spare {
    ceiling: Option<u64>,
    rate: Option<u64>,
    inside: u64,
    /// Calls under way that may take a slot.
    asking: u64,
    given_back: VecDeque<u64>,
    admitted: VecDeque<(u64, u64)>,
    last_minute: u64,
}

// === impl Spare ===

impl Spare {
    /// Nobody inside yet.
    pub(crate) fn new(ceiling: Option<u64>, rate: Option<u64>) -> Self {
        Self {
            ceiling,
            rate,
            inside: 0,
            asking: 0,
            given_back: VecDeque::new(),
            admitted: VecDeque::new(),
            last_minute: 0,
        }
    }

    /// Someone asks to enter.
    pub(crate) fn ask(&mut self) {
        self.asking += 1;
    }

    /// That was answered.
    pub(crate) fn answered(&mut self) {
        self.asking -= 1;
    }

    /// Someone entered.
    pub(crate) fn enter(&mut self, now_ms: u64) {
        self.inside += 1;
        self.last_minute += 1;
        let bucket = now_ms / BUCKET_MS;
        match self.admitted.back_mut() {
            Some((last, count)) if *last == bucket => *count += 1,
            _ => self.admitted.push_back((bucket, 1)),
        }
    }

    /// Someone left.
    pub(crate) fn leave(&mut self, now_ms: u64) {
        self.given_back.push_back(now_ms + SURELY_MS);
    }

    /// How many slots are free, whatever comes of the calls under way.
    pub(crate) fn slots(&mut self, now_ms: u64) -> u64 {
        while self.given_back.pop_front_if(|free_ms| *free_ms <= now_ms).is_some() {
            self.inside -= 1;
        }
        let oldest = (now_ms / BUCKET_MS).saturating_sub(WINDOW);
        while let Some((_, count)) = self.admitted.pop_front_if(|(bucket, _)| *bucket < oldest) {
            self.last_minute -= count;
        }
        let left = |limit: u64, used: u64| limit.saturating_sub(used + self.asking);
        let seats = self.ceiling.map(|ceiling| left(ceiling, self.inside));
        let rate = self.rate.map(|rate| left(rate, self.last_minute));
        [seats, rate].into_iter().flatten().min().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_limits_count() {
        let mut spare = Spare::new(Some(3), Some(2));
        assert_eq!(spare.slots(1_000), 2);
        spare.enter(1_000);
        spare.enter(1_099);
        assert_eq!(spare.slots(60_999), 0, "the rate's window");
        assert_eq!(spare.slots(61_099), 0, "a bucket partly in the window counts");
        assert_eq!(spare.slots(61_100), 1, "one seat of three");
        spare.leave(61_100);
        assert_eq!(spare.slots(62_099), 1, "it may not have come free yet");
        assert_eq!(spare.slots(62_100), 2);
        spare.ask();
        assert_eq!(spare.slots(62_100), 1, "somebody may have taken it");
        spare.answered();
        assert_eq!(spare.slots(62_100), 2);
    }
}
