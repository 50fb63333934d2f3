//! Changes of one room, one after the other, as far as this process makes them. Redis refuses a change that another one came
//! before; many that begin together would take each other's attempts until they give up.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
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
}

// === impl OneByOne ===

impl OneByOne {
    /// Nobody changes anything yet.
    pub(super) fn new() -> Self {
        let rooms = [const { Mutex::const_new(()) }; PLACES];
        Self { rooms, routes: Mutex::const_new(()) }
    }

    /// Waits until nobody else here changes this room.
    ///
    /// # Errors
    /// A 409 if others keep changing it.
    pub(super) async fn of_room(&self, room: &RoomId) -> Result<MutexGuard<'_, ()>, Problem> {
        // By a hash without chance in it, so that the same happens again in a simulation.
        let mut hasher = DefaultHasher::new();
        room.hash(&mut hasher);
        #[expect(clippy::cast_possible_truncation, reason = "any part of it does")]
        let place = hasher.finish() as usize % PLACES;
        first(&self.rooms[place]).await
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
