//! Changes of one room, one after the other, as far as this process makes them. Redis refuses a change that another one came
//! before; many that begin together would take each other's attempts until they give up.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use tokio::{
    sync::{Mutex, MutexGuard},
    time::timeout,
};
use vestibule_domain::RoomId;
use vestibule_runtime::Problem;

use super::routes::busy;

/// How long a change waits for those before it.
const LONGEST: Duration = Duration::from_secs(10);
/// Rooms share so many places: two that share one wait for each other, and nothing else.
const PLACES: usize = 64;

/// Who may change what now. They come in the order in which they asked.
#[derive(Debug)]
pub(super) struct OneByOne {
    rooms: [Mutex<()>; PLACES],
    routes: Mutex<()>,
    place_of: RandomState,
}

// === impl OneByOne ===

impl OneByOne {
    pub(super) fn new() -> Self {
        let rooms = [const { Mutex::const_new(()) }; PLACES];
        Self { rooms, routes: Mutex::const_new(()), place_of: RandomState::new() }
    }

    /// Waits until nobody else here changes this room.
    ///
    /// # Errors
    /// A 409 if others keep changing it.
    pub(super) async fn of_room(&self, room: &RoomId) -> Result<MutexGuard<'_, ()>, Problem> {
        #[expect(clippy::cast_possible_truncation, reason = "any part of it does")]
        let hash = self.place_of.hash_one(room) as usize;
        first(&self.rooms[hash % PLACES]).await
    }

    /// Waits until nobody else here asks for the lease of routes.
    ///
    /// # Errors
    /// A 409 if others keep changing routes.
    pub(super) async fn of_routes(&self) -> Result<MutexGuard<'_, ()>, Problem> {
        first(&self.routes).await
    }
}

async fn first(place: &Mutex<()>) -> Result<MutexGuard<'_, ()>, Problem> {
    timeout(LONGEST, place.lock()).await.map_err(|_| busy())
}
