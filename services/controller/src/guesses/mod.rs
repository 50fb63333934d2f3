//! Slows down whoever tries out tokens. Only wrong tokens come here: a right one is known at once and waits for
//! nobody, also at an address of which many wrong ones have come.
//!
//! It does not make a short token safe: whoever asks on many connections need not wait for an answer to know that
//! it is a refusal. It makes guessing slow for the usual tools, and seen in the log and the metrics.

mod recent;

use std::{
    net::IpAddr,
    sync::{Mutex, PoisonError},
};

use tokio::{
    sync::Semaphore,
    time::{Duration, Instant, sleep},
};
use vestibule_runtime::{Sparingly, holder_of};

use self::recent::Recent;

/// So many wrong tokens of an address are answered at once: somebody may have mistyped it, or a program still has
/// the old one.
const AT_ONCE: u32 = 5;

/// How long the first one after those takes; each further one takes twice as long.
const FIRST: Duration = Duration::from_millis(100);

/// The longest that one takes, shorter than a stop may.
const LONGEST: Duration = Duration::from_secs(8);

/// How often it is logged.
const SAY: Duration = Duration::from_secs(10);

/// Refusals held at a time, at most: each has a connection, which operators may need.
const MOST_HELD: usize = 1_000;

/// What is known of wrong tokens.
#[derive(Debug)]
pub(crate) struct Guesses {
    seen: Mutex<Seen>,
    /// One permit for each refusal that may be held.
    held: Semaphore,
}

#[derive(Debug)]
struct Seen {
    recent: Recent,
    log: Sparingly,
}

/// Too many refusals are held: this one should be answered now, and end its connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

// === impl Guesses ===

impl Guesses {
    /// Holds refusals on at most a quarter of so many connections.
    pub(crate) fn new(connections: usize, now: Instant) -> Self {
        let seen = Seen { recent: Recent::new(now), log: Sparingly::new(SAY) };
        let most = (connections / 4).clamp(1, MOST_HELD);
        Self { seen: Mutex::new(seen), held: Semaphore::new(most) }
    }

    /// Notes a wrong token or signature that came from `peer`, and waits for as long as its refusal shall take. The log
    /// says the `reason`, and names the `client`, for which a proxy speaks. That is not what is counted by, since whoever reaches us from a
    /// proxy's address could name another client each time; and that one proxy's clients are slowed together harms
    /// nobody who has the right token.
    pub(crate) async fn slow_down(
        &self,
        peer: IpAddr,
        client: IpAddr,
        reason: &str,
    ) -> Result<(), TooMany> {
        let delay = self.note(peer, client, reason, Instant::now());
        if delay.is_zero() {
            return Ok(());
        }
        let _permit = self.held.try_acquire().map_err(|_| TooMany)?;
        sleep(delay).await;
        Ok(())
    }

    /// How long the refusal of one more wrong token shall take.
    fn note(&self, peer: IpAddr, client: IpAddr, reason: &str, now: Instant) -> Duration {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let count = seen.recent.count(holder_of(peer), now);
        if let Some(times) = seen.log.note(now) {
            tracing::warn!(address = %client, count, times, reason, "a call with a wrong API token was refused");
        }
        delay(count)
    }
}

fn delay(count: u32) -> Duration {
    let Some(doublings) = count.checked_sub(AT_ONCE + 1) else { return Duration::ZERO };
    FIRST.saturating_mul(2u32.saturating_pow(doublings)).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const ANN: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 1));
    const BOB: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 2));

    #[tokio::test(start_paused = true)]
    async fn each_takes_twice_as_long_as_the_one_before_up_to_a_limit() {
        let guesses = Guesses::new(100, Instant::now());
        let mut took = Vec::new();
        for _ in 0..20 {
            let start = Instant::now();
            guesses.slow_down(ANN, ANN, "").await.unwrap();
            took.push(start.elapsed().as_millis());
        }
        let (at_once, slow) = took.split_at(5);
        assert_eq!(at_once, [0; 5]);
        assert_eq!(slow[..7], [100, 200, 400, 800, 1_600, 3_200, 6_400]);
        assert!(slow[7..].iter().all(|took| *took == 8_000), "{slow:?}");
        let start = Instant::now();
        guesses.slow_down(BOB, BOB, "").await.unwrap();
        assert_eq!(start.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_are_held_than_leave_room_for_operators() {
        let guesses = Arc::new(Guesses::new(8, Instant::now()));
        for _ in 0..AT_ONCE {
            guesses.slow_down(ANN, ANN, "").await.unwrap();
        }
        let slow = |guesses: &Arc<Guesses>| {
            let guesses = Arc::clone(guesses);
            tokio::spawn(async move { guesses.slow_down(ANN, ANN, "").await })
        };
        let held = [slow(&guesses), slow(&guesses)];
        tokio::task::yield_now().await;
        assert_eq!(guesses.slow_down(ANN, ANN, "").await, Err(TooMany));
        for held in held {
            assert_eq!(held.await.unwrap(), Ok(()));
        }
        assert_eq!(guesses.slow_down(ANN, ANN, "").await, Ok(()));
    }
}
