//! Slots: how many more sessions may begin right now.
//!
//! The claim script enforces the limits: it counts again, atomically. The numbers here tell the
//! leader how far to move the serving counter. They reserve nothing.

/// How many seconds' worth of admissions may be made up for at once when the limit is a rate.
///
/// The claim script paces admissions evenly; admissions that nobody took can be made up for within
/// this time. Must agree with `PACE_BURST_MS` in `scripts/lib/rate.lua`.
pub const PACE_BURST_SECONDS: u64 = 2;

/// The limits of a room, and how much of them is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// The ceiling (`total_active_users`), if there is one.
    pub ceiling: Option<u64>,
    /// Seats taken: live sessions, and those that a restored store may still owe.
    pub active: u64,
    /// The rate limit (`new_users_per_minute`), if there is one.
    pub rate: Option<u64>,
    /// Admissions counted in the last 60 seconds.
    pub admitted_last_minute: u64,
}

// === impl Usage ===

impl Usage {
    /// Slots while nobody waits: all that both limits have left, so that nobody is queued in a
    /// quiet room. `None`: the room has no limit, and only its operator lets people in.
    #[must_use]
    pub fn slots(&self) -> Option<u64> {
        let seats = self.ceiling.map(|ceiling| ceiling.saturating_sub(self.active));
        let rate = self.rate.map(|rate| rate.saturating_sub(self.admitted_last_minute));
        match (seats, rate) {
            (Some(seats), Some(rate)) => Some(seats.min(rate)),
            (seats, rate) => seats.or(rate),
        }
    }

    /// Whether every seat is taken.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.ceiling.is_some_and(|ceiling| self.active >= ceiling)
    }

    /// Slots while people wait: as [`Self::slots`], but a rate is spread evenly over the minute.
    #[must_use]
    pub fn paced_slots(&self) -> Option<u64> {
        let burst = self.rate.map(|rate| (rate * PACE_BURST_SECONDS).div_ceil(60));
        self.slots().map(|slots| burst.map_or(slots, |burst| slots.min(burst)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_limit_decides() {
        let both = Usage { ceiling: Some(200), active: 148, rate: Some(200), ..Usage::default() };
        assert_eq!(both.slots(), Some(52));
        let rate_binds = Usage { ceiling: Some(10_000), active: 7_000, rate: Some(2_000), ..both };
        assert_eq!(rate_binds.slots(), Some(2_000));
        let full = Usage { active: 201, ..both };
        assert_eq!(full.slots(), Some(0), "an overfull room has no slots, not negative ones");
        assert_eq!(Usage::default().slots(), None);
        assert_eq!(Usage { ceiling: Some(3), ..Usage::default() }.slots(), Some(3));
        assert_eq!(Usage { rate: Some(3), ..Usage::default() }.slots(), Some(3));
    }

    #[test]
    fn while_people_wait_a_rate_is_spread() {
        let minute = Usage { rate: Some(600), ..Usage::default() };
        assert_eq!(minute.slots(), Some(600));
        assert_eq!(minute.paced_slots(), Some(20));
        let seats_only = Usage { ceiling: Some(50), ..Usage::default() };
        assert_eq!(seats_only.paced_slots(), Some(50));
    }
}
