//! Where guests are: the way in, the room, time, and the diary.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{sleep, sleep_until};
use vestibule_domain::RoomId;
use vestibule_simulation::{
    Admission, CallError, Carried, Chance, Door, Network, Reply, Seed, World,
};

use super::Diary;

/// After how long a guest tries again that was sent away, ms.
pub(super) const AGAIN_MS: u64 = 500;

/// Where guests are. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct Hall {
    pub(crate) room: RoomId,
    pub(crate) diary: Diary,
    /// Decides what guests do.
    pub(crate) seed: Seed,
    door: Door,
    network: Network,
}

/// The moments at which a guest asks by itself: each about so long after the one before, and fixed
/// beforehand.
#[derive(Debug)]
pub(crate) struct Rhythm {
    chance: Chance,
    about_ms: u64,
    next_ms: u64,
}

// === impl Hall ===

impl Hall {
    /// In the room `room` of this world. `seed` decides what guests do, and nothing else.
    pub(crate) fn new(world: &World, room: &RoomId, seed: Seed) -> Self {
        let (door, network) = (world.door(), world.network().clone());
        Self { room: room.clone(), diary: Diary::default(), seed, door, network }
    }

    /// A guest stays inside for so long, ms, and leaves.
    pub(super) async fn stay(&self, guest: u64, ticket: Carried, stays_ms: u64) {
        self.wait(stays_ms).await;
        let room = self.room.as_str();
        self.visit(guest, async |admission| admission.leave(room, ticket).await).await;
    }

    /// Virtual time since the begin, ms.
    pub(crate) fn now_ms(&self) -> u64 {
        self.network.now_ms()
    }

    /// Waits until then.
    pub(crate) async fn until(&self, at_ms: u64) {
        sleep_until(self.network.moment(at_ms)).await;
    }

    /// Waits for so long.
    pub(crate) async fn wait(&self, ms: u64) {
        sleep(Duration::from_millis(ms)).await;
    }

    /// Sends a call of `guest` to some admission.
    pub(crate) async fn visit<T>(
        &self,
        guest: u64,
        call: impl AsyncFnOnce(&Admission) -> Result<T, CallError>,
    ) -> Option<T> {
        self.door.visit(&mut self.way(guest), call).await.ok()
    }

    /// The same over HTTP; `body`: null for none.
    pub(crate) async fn send(
        &self,
        guest: u64,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Option<Reply> {
        self.door.send(&mut self.way(guest), (method, path), body).await.ok()
    }

    /// Where a call of `guest` goes now. It does not depend on how many it has sent before.
    fn way(&self, guest: u64) -> Chance {
        self.seed.chance("way", (guest << 32) | (self.now_ms() / 100))
    }
}

// === impl Rhythm ===

impl Rhythm {
    /// That of `guest`, from `from_ms` on.
    pub(crate) fn new(seed: Seed, guest: u64, from_ms: u64, about_ms: u64) -> Self {
        Self { chance: seed.chance("rhythm", guest), about_ms, next_ms: from_ms }
    }

    /// The next moment that is not over.
    pub(crate) fn after(&mut self, now_ms: u64) -> u64 {
        while self.next_ms <= now_ms {
            self.next_ms += self.chance.within(self.about_ms * 4 / 5..self.about_ms * 6 / 5 + 1);
        }
        self.next_ms
    }
}
