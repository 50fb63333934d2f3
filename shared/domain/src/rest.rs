//! When a room in which nothing happens is looked at again. While somebody waits, or something has just changed, a
//! room is ticked as often as the leader can; once it has been still for a while it rests. A room at rest is looked
//! at when somebody changes it, when something is due in it by itself, and now and then besides, so that every
//! service hears of it and a lost notice of a change costs little.
//!
//! What is due, and whether anybody waits, the tick's script says; how the leader hears of a change is not told here.

/// A room rests once nothing has changed for so long, ms: by then what a tick measures has settled.
pub const SETTLED_MS: u64 = 5_000;
/// A room at rest is looked at this often, ms. A snapshot is stale after five seconds.
pub const LOOK_EVERY_MS: u64 = 4_000;

/// For how long a room has been still, by its own clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stillness {
    /// When it last changed, ms.
    changed_at_ms: u64,
    /// When it was last seen, ms; 0: never.
    seen_at_ms: u64,
}

/// What a tick has found of a room that rests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resting {
    /// The room's time, ms.
    pub now_ms: u64,
    /// The room's reset epoch.
    pub reset_epoch: u64,
    /// When something is due in it by itself, ms; 0: nothing is.
    pub due_ms: u64,
}

// === impl Stillness ===

impl Stillness {
    /// Takes in a tick at `now_ms`: whether it found the room as the one before had left it.
    pub fn see(&mut self, now_ms: u64, is_unchanged: bool) {
        if !is_unchanged || self.seen_at_ms == 0 {
            self.changed_at_ms = now_ms;
        }
        self.seen_at_ms = now_ms;
    }

    /// Takes over a room that another leader had found settled at `now_ms`, unless it was seen since.
    pub fn take_over(&mut self, now_ms: u64) {
        if self.seen_at_ms == 0 {
            *self = Self { changed_at_ms: now_ms.saturating_sub(SETTLED_MS), seen_at_ms: now_ms };
        }
    }

    /// Whether the room may rest, if nobody waits in it.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.seen_at_ms.saturating_sub(self.changed_at_ms) >= SETTLED_MS
    }
}

// === impl Resting ===

impl Resting {
    /// After how many ms the room is looked at again, if nobody changes it.
    #[must_use]
    pub fn looks_again_in_ms(&self) -> u64 {
        let by_the_clock = self.until_next_look_ms();
        match self.due_ms {
            0 => by_the_clock,
            due_ms => due_ms.saturating_sub(self.now_ms).min(by_the_clock),
        }
    }

    /// Rooms are looked at at fixed times since each was opened, so many rooms never all at once.
    fn until_next_look_ms(&self) -> u64 {
        LOOK_EVERY_MS - self.now_ms.saturating_sub(self.reset_epoch) % LOOK_EVERY_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENED_MS: u64 = 1_790_000_000_123;

    fn looks_again_in(after_ms: u64, due_after_ms: Option<u64>) -> u64 {
        let due_ms = due_after_ms.map_or(0, |after| OPENED_MS + after);
        let resting = Resting { now_ms: OPENED_MS + after_ms, reset_epoch: OPENED_MS, due_ms };
        resting.looks_again_in_ms()
    }

    #[test]
    fn a_room_rests_once_nothing_has_changed_for_a_while() {
        let mut still = Stillness::default();
        assert!(!still.is_settled(), "never seen");
        still.see(OPENED_MS, true);
        assert!(!still.is_settled(), "nothing is known of before");
        still.see(OPENED_MS + SETTLED_MS - 1, true);
        assert!(!still.is_settled());
        still.see(OPENED_MS + SETTLED_MS, true);
        assert!(still.is_settled());
        still.see(OPENED_MS + SETTLED_MS + 250, false);
        assert!(!still.is_settled());
    }

    #[test]
    fn a_new_leader_takes_over_a_room_that_rests_as_settled() {
        let mut still = Stillness::default();
        still.take_over(OPENED_MS);
        assert!(still.is_settled());
        still.see(OPENED_MS + 250, true);
        assert!(still.is_settled());
        still.see(OPENED_MS + 500, false);
        still.take_over(OPENED_MS + 500);
        assert!(!still.is_settled(), "this leader has seen it change");
    }

    #[test]
    fn a_room_at_rest_is_looked_at_at_fixed_times() {
        assert_eq!(looks_again_in(0, None), LOOK_EVERY_MS);
        assert_eq!(looks_again_in(1_000, None), LOOK_EVERY_MS - 1_000);
        assert_eq!(looks_again_in(7 * LOOK_EVERY_MS + 3_999, None), LOOK_EVERY_MS - 3_999);
    }

    #[test]
    fn what_is_due_by_itself_is_not_waited_for_longer() {
        assert_eq!(looks_again_in(1_000, Some(1_700)), 700);
        assert_eq!(looks_again_in(1_000, Some(60_000)), LOOK_EVERY_MS - 1_000);
        assert_eq!(looks_again_in(1_000, Some(900)), 0, "overdue");
    }
}
