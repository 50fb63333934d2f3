//! Ghosts: numbers taken with the AWS-style call as fast as they are answered, with which nobody ever
//! asks again. They are all taken before the first visitor comes: so they stand ahead of everybody, and
//! whether seats are used at all depends on how soon the room learns that nobody comes.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use rand::{SeedableRng, rngs::SmallRng};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

use super::super::{
    Way,
    pauses::{backoff, jittered},
};
use crate::record::GhostLog;

/// After so many failures in a row whoever takes numbers gives up.
const GIVE_UP_AFTER: u32 = 6;

/// Takes so many numbers, with so many calls at a time.
pub(crate) async fn take_numbers<W: Way>(
    way: &Arc<W>,
    count: u32,
    at_a_time: u32,
    seed: u64,
) -> GhostLog {
    let (begun, left) = (Instant::now(), Arc::new(AtomicU32::new(count)));
    let mut takers = JoinSet::new();
    for nth in 0..at_a_time.min(count) {
        let rng = SmallRng::seed_from_u64(seed.wrapping_add(nth.into()));
        takers.spawn(take(way.clone(), left.clone(), rng));
    }
    let mut log = GhostLog::default();
    while let Some(taken) = takers.join_next().await {
        // Of one that panicked nothing is known; the count says that some are missing.
        if let Ok(taken) = taken {
            log.add(taken);
        }
    }
    log.seconds = begun.elapsed().as_secs_f64();
    log
}

async fn take<W: Way>(way: Arc<W>, left: Arc<AtomicU32>, mut rng: SmallRng) -> GhostLog {
    let mut log = GhostLog::default();
    let next = |left: u32| left.checked_sub(1);
    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok() {
        let mut failures = 0;
        loop {
            let taken = way.take_number(&mut rng).await;
            log.note(&taken);
            if taken.is_ok() {
                break;
            }
            failures += 1;
            if failures == GIVE_UP_AFTER {
                return log;
            }
            sleep(jittered(backoff(failures), 1.0, &mut rng)).await;
        }
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{crowd::Call, visits::Reply};

    /// Refuses the calls of these numbers, counted from 0.
    struct Office(AtomicU32, fn(u32) -> bool);

    impl Way for Office {
        type Ticket = ();

        async fn call(&self, _: usize, _: Call, _: Option<()>, _: &mut SmallRng) -> Reply<()> {
            unreachable!("ghosts never ask")
        }

        async fn take_number(&self, _: &mut SmallRng) -> Result<(), String> {
            let refused = self.1(self.0.fetch_add(1, Ordering::Relaxed));
            if refused { Err("503".to_owned()) } else { Ok(()) }
        }
    }

    async fn taken(refuses: fn(u32) -> bool) -> GhostLog {
        take_numbers(&Arc::new(Office(AtomicU32::new(0), refuses)), 500, 16, 1).await
    }

    #[tokio::test(start_paused = true)]
    async fn as_many_numbers_are_taken_as_are_wanted() {
        let log = taken(|nth| nth % 10 == 0).await;
        assert_eq!((log.taken, log.calls - log.errors["503"]), (500, 500));
        assert!((50..70).contains(&log.errors["503"]), "{log:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn where_every_call_fails_nobody_tries_for_ever() {
        let log = taken(|_| true).await;
        assert_eq!((log.taken, log.calls), (0, 16 * u64::from(GIVE_UP_AFTER)));
    }
}
