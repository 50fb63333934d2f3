//! The ciphers of each room's request ids and tickets, made once per room and reset epoch.

use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use vestibule_domain::RoomId;
use vestibule_token::{DeploymentSecret, Lucks, RequestIdCipher, TicketSealer};

/// All rooms' ciphers.
#[derive(Debug)]
pub struct Seals {
    secret: Arc<DeploymentSecret>,
    rooms: RwLock<FxHashMap<RoomId, Arc<SealsOf>>>,
}

/// One room's ciphers, for one reset epoch.
#[derive(Debug)]
pub struct SealsOf {
    /// The reset epoch that they are for.
    pub reset_epoch: u64,
    /// For request ids.
    pub request_ids: RequestIdCipher,
    /// For tickets.
    pub tickets: TicketSealer,
    /// Who is lucky in a random room.
    pub lucks: Lucks,
}

// === impl Seals ===

impl Seals {
    /// Ciphers under `secret`.
    #[must_use]
    pub fn new(secret: Arc<DeploymentSecret>) -> Self {
        Self { secret, rooms: RwLock::default() }
    }

    /// The ciphers of `room` in `reset_epoch`.
    #[must_use]
    pub fn of(&self, room: &RoomId, reset_epoch: u64) -> Arc<SealsOf> {
        let known = self.rooms.read().unwrap_or_else(PoisonError::into_inner).get(room).cloned();
        match known {
            Some(seals) if seals.reset_epoch == reset_epoch => seals,
            _ => self.make(room, reset_epoch),
        }
    }

    fn make(&self, room: &RoomId, reset_epoch: u64) -> Arc<SealsOf> {
        let seals = Arc::new(SealsOf {
            reset_epoch,
            request_ids: RequestIdCipher::new(&self.secret, room, reset_epoch),
            tickets: TicketSealer::new(&self.secret, room, reset_epoch),
            lucks: Lucks::new(&self.secret, room, reset_epoch),
        });
        let mut rooms = self.rooms.write().unwrap_or_else(PoisonError::into_inner);
        rooms.insert(room.clone(), Arc::clone(&seals));
        seals
    }
}
