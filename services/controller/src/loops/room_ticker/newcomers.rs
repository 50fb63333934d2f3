//! In which minutes somebody may have come to a room, so that the history of the others need not be read.

/// Up to whom the room has come, and in which minute that was seen first.
#[derive(Debug, Default)]
pub(super) struct Newcomers {
    queue_counter: u64,
    minute: u64,
}

// === impl Newcomers ===

impl Newcomers {
    /// Takes in a tick in `minute`, since 1970.
    pub(super) fn see(&mut self, queue_counter: u64, minute: u64) {
        if self.queue_counter != queue_counter {
            *self = Self { queue_counter, minute };
        }
    }

    /// Whether the history of that minute may tell of somebody: whoever came then was seen then or later.
    pub(super) fn may_have_come_in(&self, minute: u64) -> bool {
        minute <= self.minute
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_history_tells_only_of_minutes_in_which_somebody_may_have_come() {
        let mut newcomers = Newcomers::default();
        newcomers.see(0, 70);
        assert!(!newcomers.may_have_come_in(68), "nobody ever came");
        newcomers.see(3, 70);
        newcomers.see(3, 72);
        assert!(newcomers.may_have_come_in(69) && newcomers.may_have_come_in(70));
        assert!(!newcomers.may_have_come_in(71));
    }
}
