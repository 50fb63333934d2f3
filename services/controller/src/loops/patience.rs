//! How long the leader waits for services that have not told yet what they have seen, while it asks about many rooms.
//!
//! Who tells of other rooms meanwhile is there, and has much to tell: it is waited for. Who has kept a round waiting for
//! nothing is not waited for so long by the next ones, until it tells something.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// How long a service gets since it was asked, or has told something last.
const PATIENCE: Duration = Duration::from_millis(800);
/// The same for one that was waited for in vain.
const LITTLE: Duration = Duration::from_millis(100);

/// What is known of them in one look at rooms.
#[derive(Debug, Default)]
pub(super) struct Patience(Mutex<Told>);

#[derive(Debug, Default)]
struct Told {
    last: BTreeMap<String, Instant>,
    given_up: BTreeSet<String>,
}

// === impl Patience ===

impl Patience {
    /// A service has told what it has seen of a room.
    pub(super) fn note(&self, name: &str) {
        let mut told = self.told();
        told.given_up.remove(name);
        told.last.insert(name.to_owned(), Instant::now());
    }

    /// Whether none of `missing` is waited for any longer, in a round that asked at `asked`.
    pub(super) fn is_over<'a>(
        &self,
        asked: Instant,
        missing: impl IntoIterator<Item = &'a String>,
    ) -> bool {
        let (mut told, now) = (self.told(), Instant::now());
        let missing: Vec<_> = missing.into_iter().collect();
        let is_over = missing.iter().all(|name| now >= told.until(asked, name));
        if is_over {
            told.given_up.extend(missing.into_iter().cloned());
        }
        is_over
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Told ===

impl Told {
    fn until(&self, asked: Instant, name: &str) -> Instant {
        if self.given_up.contains(name) {
            return asked + LITTLE;
        }
        self.last.get(name).map_or(asked, |last| asked.max(*last)) + PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_silent_is_waited_for_in_full_once() {
        let (patience, dead) = (Patience::default(), names(&["dead"]));
        let asked = Instant::now();
        assert!(patience.is_over(asked, &[]), "all have told");
        advance(PATIENCE / 2).await;
        assert!(!patience.is_over(asked, &dead));
        advance(PATIENCE / 2).await;
        assert!(patience.is_over(asked, &dead));
        let asked = Instant::now();
        assert!(!patience.is_over(asked, &dead), "it may speak now");
        advance(LITTLE).await;
        assert!(patience.is_over(asked, &dead));
        patience.note("dead");
        assert!(!patience.is_over(asked, &dead), "it is there again");
    }

    #[tokio::test(start_paused = true)]
    async fn who_tells_of_other_rooms_is_waited_for() {
        let (patience, asked) = (Patience::default(), Instant::now());
        let both = names(&["busy", "dead"]);
        for _ in 0..5 {
            advance(PATIENCE / 2).await;
            patience.note("busy");
            assert!(!patience.is_over(asked, &both));
        }
        assert!(patience.is_over(asked, &both[1..]));
        advance(PATIENCE).await;
        assert!(patience.is_over(asked, &both), "it has stopped");
    }
}
