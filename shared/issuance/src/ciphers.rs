//! The ciphers of each room's request ids and tickets, made once per room and reset epoch.

use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use rustc_hash::FxHashMap;
use vestibule_domain::RoomId;
use vestibule_token::{
    ClientDigests, DeploymentSecret, Envelope, Grant, Login, RequestIdCipher, RoomChallenges,
    TicketSealer, WinThresholds,
};

/// All rooms' ciphers.
#[derive(Debug)]
pub struct CipherCache {
    secret: Arc<DeploymentSecret>,
    rooms: RwLock<FxHashMap<RoomId, Arc<RoomCiphers>>>,
}

/// One room's ciphers, for one reset epoch.
#[derive(Debug)]
pub struct RoomCiphers {
    /// The reset epoch that they are for.
    pub reset_epoch: u64,
    /// For request ids.
    pub request_ids: RequestIdCipher,
    /// For tickets.
    pub tickets: TicketSealer,
    /// The secret bounds that decide who wins in a random room.
    pub win_thresholds: WinThresholds,
    /// What is remembered of clients instead of their addresses.
    pub clients: ClientDigests,
    /// For puzzles and passes; resets do not change them.
    pub challenges: RoomChallenges,
    /// For what sites have asked for that log their visitors in; resets do not change them.
    pub logins: Envelope<Login>,
    /// For the codes that such sites get.
    pub codes: Envelope<Grant>,
}

// === impl CipherCache ===

impl CipherCache {
    /// Ciphers under `secret`.
    #[must_use]
    pub fn new(secret: Arc<DeploymentSecret>) -> Self {
        Self { secret, rooms: RwLock::default() }
    }

    /// The ciphers of `room` in `reset_epoch`.
    #[must_use]
    pub fn get(&self, room: &RoomId, reset_epoch: u64) -> Arc<RoomCiphers> {
        let known = self.rooms.read().unwrap_or_else(PoisonError::into_inner).get(room).cloned();
        match known {
            Some(ciphers) if ciphers.reset_epoch == reset_epoch => ciphers,
            _ => self.make(room, reset_epoch),
        }
    }

    /// Forgets the ciphers of rooms that are not there; they can be made again.
    pub fn retain_rooms(&self, is_there: impl Fn(&RoomId) -> bool) {
        self.write().retain(|room, _| is_there(room));
    }

    fn make(&self, room: &RoomId, reset_epoch: u64) -> Arc<RoomCiphers> {
        let ciphers = Arc::new(RoomCiphers {
            reset_epoch,
            request_ids: RequestIdCipher::new(&self.secret, room, reset_epoch),
            tickets: TicketSealer::new(&self.secret, room, reset_epoch),
            win_thresholds: WinThresholds::new(&self.secret, room, reset_epoch),
            clients: ClientDigests::new(&self.secret, room),
            challenges: RoomChallenges::new(&self.secret, room),
            logins: Envelope::logins(&self.secret, room),
            codes: Envelope::codes(&self.secret, room, reset_epoch),
        });
        self.write().insert(room.clone(), Arc::clone(&ciphers));
        ciphers
    }

    fn write(&self) -> RwLockWriteGuard<'_, FxHashMap<RoomId, Arc<RoomCiphers>>> {
        self.rooms.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use super::*;

    #[test]
    fn of_a_room_that_is_not_there_nothing_is_kept() {
        let cache = CipherCache::new(Arc::new(DeploymentSecret::new(&[1; 32]).unwrap()));
        let [sale, gala] = ["sale", "gala"].map(|name| RoomId::new(name).unwrap());
        let kept = [&sale, &gala].map(|room| Arc::downgrade(&cache.get(room, 1)));
        cache.retain_rooms(|room| *room == sale);
        assert_eq!(kept.each_ref().map(Weak::strong_count), [1, 0]);
    }
}
