//! Readings for those who cannot wait for the next one, shared by all who ask meanwhile, however many they are: anybody
//! can name a key that there is not, and send a ticket that does not open. What is read, and what a failure means, is the
//! caller's business.

use tokio::{
    sync::Mutex,
    time::{Duration, Instant, sleep_until},
};

/// Between the beginnings of two readings.
const PAUSE: Duration = Duration::from_millis(100);

/// Readings one after the other, of which each is for all who have asked before it.
#[derive(Debug)]
pub struct SharedReading<E>(Mutex<Option<Last<E>>>);

/// The last reading.
#[derive(Debug)]
struct Last<E> {
    begun: Instant,
    ended: Instant,
    outcome: Result<(), E>,
}

// === impl SharedReading ===

impl<E: Clone> SharedReading<E> {
    /// Reads, unless somebody else has done so since this was asked for, or has failed: while nobody answers, all wait
    /// for the same reading.
    ///
    /// # Errors
    /// That of `read`, which may be somebody else's.
    pub async fn share(&self, read: impl AsyncFnOnce() -> Result<(), E>) -> Result<(), E> {
        let asked = Instant::now();
        let mut last = self.0.lock().await;
        if let Some(last) = &*last {
            if last.is_for(asked) {
                return last.outcome.clone();
            }
            sleep_until(last.begun + PAUSE).await;
        }
        let begun = Instant::now();
        let outcome = read().await;
        *last = Some(Last { begun, ended: Instant::now(), outcome: outcome.clone() });
        outcome
    }
}

impl<E> Default for SharedReading<E> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

// === impl Last ===

impl<E> Last<E> {
    /// Whether it answers whoever has asked at this time. One that was under way may have looked before what is asked
    /// for was there; but where it waited in vain, everybody would, one after the other.
    fn is_for(&self, asked: Instant) -> bool {
        let since = if self.outcome.is_ok() { self.begun } else { self.ended };
        since >= asked
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use futures_util::future::join_all;
    use tokio::time::sleep;

    use super::*;

    const ANSWER: Duration = Duration::from_secs(1);

    /// What `waiters` who ask 10 ms one after the other are told, and when; and how often was read.
    async fn ask(waiters: u32, answer: Result<(), &'static str>) -> (Vec<(bool, Duration)>, usize) {
        let (readings, reads, start) =
            (SharedReading::default(), AtomicUsize::new(0), Instant::now());
        let read = async || {
            reads.fetch_add(1, Relaxed);
            sleep(ANSWER).await;
            answer
        };
        let ask = async |nth: u32| {
            sleep(Duration::from_millis(10) * nth).await;
            let told = readings.share(read).await;
            (told.is_ok(), start.elapsed())
        };
        let told = join_all((0..waiters).map(ask)).await;
        (told, reads.load(Relaxed))
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_for_a_reading_that_fails_has_failed_with_it() {
        let (told, reads) = ask(60, Err("redis hangs")).await;
        assert_eq!(reads, 1);
        assert!(told.iter().all(|(is_ok, after)| !is_ok && *after < ANSWER * 2), "{told:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_asks_during_a_reading_shares_the_next_one() {
        let (told, reads) = ask(60, Ok(())).await;
        assert_eq!(reads, 2, "the first may have looked too early for the others");
        assert!(told.iter().all(|(is_ok, after)| *is_ok && *after < ANSWER * 3), "{told:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_is_not_for_who_asks_later() {
        let readings = SharedReading::default();
        assert!(readings.share(async || Err("redis hangs")).await.is_err());
        sleep(PAUSE / 4).await;
        let asked = Instant::now();
        assert_eq!(readings.share(async || Ok(())).await, Ok(()));
        assert_eq!(asked.elapsed(), PAUSE / 4 * 3, "not at once");
    }
}
