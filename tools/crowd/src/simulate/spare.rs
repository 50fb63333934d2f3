//! Whether a slot was free at a moment, as those inside know it: to find newcomers who were made to
//! wait for nothing. Not a rule of the room; the scripts have their own.

use std::collections::VecDeque;

/// Admissions are counted in buckets of this length, as the rate script does, ms.
const BUCKET_MS: u64 = 100;
/// The window of the rate, in buckets. One that lies partly in it counts whole.
const WINDOW: u64 = 600;

/// Limits, and how much of them is used.
#[derive(Debug)]
pub(super) struct Spare {
    ceiling: Option<u64>,
    rate: Option<u64>,
    inside: u64,
    admitted: VecDeque<(u64, u64)>,
    last_minute: u64,
}

// === impl Spare ===

impl Spare {
    /// Nobody inside yet.
    pub(super) fn new(ceiling: Option<u32>, rate: Option<u32>) -> Self {
        Self {
            ceiling: ceiling.map(u64::from),
            rate: rate.map(u64::from),
            inside: 0,
            admitted: VecDeque::new(),
            last_minute: 0,
        }
    }

    /// Someone entered.
    pub(super) fn enter(&mut self, now_ms: u64) {
        self.inside += 1;
        self.last_minute += 1;
        let bucket = now_ms / BUCKET_MS;
        match self.admitted.back_mut() {
            Some((last, count)) if *last == bucket => *count += 1,
            _ => self.admitted.push_back((bucket, 1)),
        }
    }

    /// Someone left.
    pub(super) fn leave(&mut self) {
        self.inside -= 1;
    }

    /// How many slots are free.
    pub(super) fn slots(&mut self, now_ms: u64) -> u64 {
        let oldest = (now_ms / BUCKET_MS).saturating_sub(WINDOW);
        while let Some((_, count)) = self.admitted.pop_front_if(|(bucket, _)| *bucket < oldest) {
            self.last_minute -= count;
        }
        let seats = self.ceiling.map(|ceiling| ceiling.saturating_sub(self.inside));
        let rate = self.rate.map(|rate| rate.saturating_sub(self.last_minute));
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
        spare.leave();
        assert_eq!(spare.slots(61_100), 2);
    }
}
