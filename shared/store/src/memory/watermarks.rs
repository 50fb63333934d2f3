//! The highest counters that a service has seen of a room, all of the same reset epoch. Counters from
//! before a reset are dropped. Read with every poll, so nobody waits for anybody.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use arc_swap::ArcSwap;

/// The highest counters seen.
#[derive(Debug, Default)]
pub(crate) struct Watermarks(ArcSwap<Counters>);

#[derive(Debug, Default)]
struct Counters {
    reset_epoch: u64,
    queue_counter: AtomicU64,
    admitted: AtomicU64,
}

/// The highest counters at some moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Highest {
    /// The reset epoch that they belong to.
    pub reset_epoch: u64,
    /// The highest queue number; 0: none was seen.
    pub queue_counter: u64,
    /// The most sessions that had ever begun.
    pub admitted: u64,
}

// === impl Watermarks ===

impl Watermarks {
    /// Raises them, unless these counters are of before a reset.
    pub(super) fn take(&self, reset_epoch: u64, queue_counter: u64, admitted: u64) {
        if reset_epoch > self.0.load().reset_epoch {
            self.0.rcu(|now| {
                let fresh = Counters { reset_epoch, ..Counters::default() };
                if reset_epoch > now.reset_epoch { Arc::new(fresh) } else { Arc::clone(now) }
            });
        }
        let counters = self.0.load();
        if counters.reset_epoch == reset_epoch {
            counters.queue_counter.fetch_max(queue_counter, Ordering::Relaxed);
            counters.admitted.fetch_max(admitted, Ordering::Relaxed);
        }
    }

    pub(crate) fn get(&self) -> Highest {
        let counters = self.0.load();
        Highest {
            reset_epoch: counters.reset_epoch,
            queue_counter: counters.queue_counter.load(Ordering::Relaxed),
            admitted: counters.admitted.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_counter_is_the_highest_seen() {
        let highest = Watermarks::default();
        highest.take(7, 10, 4);
        highest.take(7, 12, 1);
        highest.take(7, 0, 5);
        assert_eq!(highest.get(), Highest { reset_epoch: 7, queue_counter: 12, admitted: 5 });
    }

    #[test]
    fn what_was_seen_before_a_reset_means_nothing_after_it() {
        let highest = Watermarks::default();
        highest.take(7, 10, 4);
        highest.take(8, 2, 1);
        highest.take(7, 5_000, 4_000);
        assert_eq!(highest.get(), Highest { reset_epoch: 8, queue_counter: 2, admitted: 1 });
    }
}
