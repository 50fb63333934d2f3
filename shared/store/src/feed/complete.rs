//! Whether all rooms were read: what says of a room that this service does not know that it does not exist.

use std::{
    pin::pin,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Notify, Semaphore},
    time::{Instant, timeout},
};

use super::{Feed, POLL};

/// A complete reading that is older than this says nothing about rooms that are not known.
const RECENT: Duration = Duration::from_millis(1_500);
/// So many at a time wait for a reading. A crowd that asks for rooms that nobody has made takes no more of a service.
const WAITING: usize = 500;

/// The complete readings of all rooms.
#[derive(Debug)]
pub(super) struct Readings {
    /// When the first and the last of those began that followed each other.
    complete: Mutex<Option<(Instant, Instant)>>,
    /// All rooms were read once more, or could not be.
    has_read: Notify,
    waiting: Semaphore,
}

// === impl Readings ===

impl Default for Readings {
    fn default() -> Self {
        let waiting = Semaphore::new(WAITING);
        Self { complete: Mutex::default(), has_read: Notify::new(), waiting }
    }
}

impl Readings {
    /// A reading that began then was `complete`, or not; `None`: it failed.
    pub(super) fn note(&self, begun: Instant, is_complete: Option<bool>) {
        if let Some(is_complete) = is_complete {
            let mut complete = self.complete.lock().unwrap_or_else(PoisonError::into_inner);
            let recent = complete.filter(|(_, last)| is_recent(*last));
            let first = recent.map_or(begun, |(first, _)| first);
            *complete = is_complete.then_some((first, begun));
        }
        self.has_read.notify_waiters();
    }

    fn get(&self) -> Option<(Instant, Instant)> {
        *self.complete.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the reading that began then says something of now.
fn is_recent(begun: Instant) -> bool {
    begun.elapsed() <= RECENT
}

// === impl Feed ===

impl Feed {
    /// Whether a room that this service does not know does not exist: all rooms were read a moment ago, and once more
    /// before, since when whoever remembers a room that Redis has lost has listed it again. Otherwise it may be new, and
    /// people may wait in it.
    #[must_use]
    pub fn knows_every_room(&self) -> bool {
        let complete = self.0.readings.get();
        complete.is_some_and(|(first, last)| last - first >= POLL && is_recent(last))
    }

    /// Waits for a reading of all rooms that begins from now on. Returns whether it says of a room that this service does
    /// not know then that it does not exist, as [`Self::knows_every_room`]: who asks for one may have a place in it, and
    /// this service may not have heard yet that it was made. Where too many wait already, nobody can say.
    pub async fn reads_every_room(&self) -> bool {
        let asked = Instant::now();
        let Ok(_waits) = self.0.readings.waiting.try_acquire() else { return false };
        timeout(RECENT, self.is_read_after(asked)).await.unwrap_or(false)
    }

    async fn is_read_after(&self, asked: Instant) -> bool {
        loop {
            let mut has_read = pin!(self.0.readings.has_read.notified());
            has_read.as_mut().enable();
            let knows = self.is_connected() && self.knows_every_room();
            let is_after = || self.0.readings.get().is_some_and(|(_, last)| last > asked);
            if !knows || is_after() {
                return knows;
            }
            has_read.await;
        }
    }
}
