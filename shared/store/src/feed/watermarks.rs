//! The highest counters that a service has seen of a room, all of the same reset epoch. Counters from
//! before a reset are dropped.

use std::sync::{
    Arc,
    atomic::{AtomicI64, AtomicU64, Ordering},
};

use arc_swap::ArcSwap;

/// The counters of a room in one reply of Redis or one snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counters {
    /// The reset epoch that they belong to.
    pub reset_epoch: u64,
    /// A queue number that was handed out; 0 for none.
    pub queue_counter: u64,
    /// The serving counter, if the reply has it.
    pub serving_counter: Option<i64>,
    /// How many sessions had begun.
    pub admitted: u64,
}

/// Below every serving counter.
const UNKNOWN: i64 = i64::MIN;

/// The highest counters seen.
#[derive(Debug)]
pub(super) struct Watermarks(ArcSwap<AtomicCounters>);

#[derive(Debug)]
struct AtomicCounters {
    reset_epoch: u64,
    queue_counter: AtomicU64,
    /// [`UNKNOWN`] until one is seen.
    serving_counter: AtomicI64,
    admitted: AtomicU64,
}

// === impl Watermarks ===

impl Watermarks {
    pub(super) fn new(seen: Counters) -> Self {
        Self(ArcSwap::from_pointee(AtomicCounters::new(seen)))
    }

    /// Raises the watermarks to `seen`, unless that is from before a reset. Returns whether the queue
    /// counter, the admissions or the reset epoch rose.
    pub(super) fn take(&self, seen: Counters) -> bool {
        let begins = seen.reset_epoch > self.0.load().reset_epoch;
        if begins {
            self.0.rcu(|now| {
                let later = seen.reset_epoch > now.reset_epoch;
                if later { Arc::new(AtomicCounters::new(seen)) } else { Arc::clone(now) }
            });
        }
        let counters = self.0.load();
        counters.reset_epoch == seen.reset_epoch && (counters.raise(seen) || begins)
    }

    pub(super) fn get(&self) -> Counters {
        let counters = self.0.load();
        Counters {
            reset_epoch: counters.reset_epoch,
            queue_counter: counters.queue_counter.load(Ordering::Relaxed),
            serving_counter: Some(counters.serving_counter.load(Ordering::Relaxed))
                .filter(|counter| *counter != UNKNOWN),
            admitted: counters.admitted.load(Ordering::Relaxed),
        }
    }
}

// === impl AtomicCounters ===

impl AtomicCounters {
    fn new(seen: Counters) -> Self {
        Self {
            reset_epoch: seen.reset_epoch,
            queue_counter: seen.queue_counter.into(),
            serving_counter: seen.serving_counter.unwrap_or(UNKNOWN).into(),
            admitted: seen.admitted.into(),
        }
    }

    fn raise(&self, seen: Counters) -> bool {
        let number = self.queue_counter.fetch_max(seen.queue_counter, Ordering::Relaxed);
        self.serving_counter.fetch_max(seen.serving_counter.unwrap_or(UNKNOWN), Ordering::Relaxed);
        let admitted = self.admitted.fetch_max(seen.admitted, Ordering::Relaxed);
        seen.queue_counter > number || seen.admitted > admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(reset_epoch: u64, queue_counter: u64, admitted: u64) -> Counters {
        Counters { reset_epoch, queue_counter, serving_counter: None, admitted }
    }

    #[test]
    fn each_counter_is_the_highest_seen() {
        let highest = Watermarks::new(Counters { serving_counter: Some(-3), ..seen(7, 10, 4) });
        assert!(!highest.take(seen(7, 9, 4)), "no news");
        assert!(highest.take(seen(7, 12, 1)));
        assert!(highest.take(seen(7, 0, 5)));
        assert_eq!(highest.get(), Counters { serving_counter: Some(-3), ..seen(7, 12, 5) });
    }

    #[test]
    fn what_was_seen_before_a_reset_means_nothing_after_it() {
        let highest = Watermarks::new(seen(7, 10, 4));
        assert!(highest.take(seen(8, 2, 1)), "whoever tells of the reset first");
        assert!(!highest.take(seen(7, 5_000, 4_000)), "an answer that was under way");
        assert_eq!(highest.get(), seen(8, 2, 1));
    }
}
