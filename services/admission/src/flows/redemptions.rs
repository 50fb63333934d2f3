//! Which sessions were redeemed. A token may be shown as often as its holder likes: only the first time is for Redis.
//!
//! Bounded: of more sessions than are kept, those that are shown least are forgotten, and Redis is asked again.

use quick_cache::sync::Cache;
use vestibule_domain::{Redemption, RoomId};

/// So many are kept, about 100 bytes each.
const KEPT: usize = 65_536;

/// A session: its room, the reset epoch, and its number.
pub(crate) type Session = (RoomId, u64, u64);

/// The sessions that were redeemed, as Redis has said.
#[derive(Debug)]
pub(crate) struct Redemptions(Cache<Session, Redemption>);

// === impl Redemptions ===

impl Default for Redemptions {
    fn default() -> Self {
        Self(Cache::new(KEPT))
    }
}

impl Redemptions {
    /// That another call has redeemed it than those of these names, of which none may be the one that did so.
    pub(crate) fn by_another(&self, session: &Session, calls: &[u64]) -> Option<Redemption> {
        self.0.get(session).filter(|known| !calls.contains(&known.call))
    }

    /// Redis has said so.
    pub(crate) fn note(&self, session: Session, redemption: Redemption) {
        self.0.insert(session, redemption);
    }
}
