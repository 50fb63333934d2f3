//! No two rooms cover the same host and path: a change of routes is compared with all other rooms,
//! by one controller at a time.

use std::time::Duration;

use tokio::time::sleep;
use vestibule_domain::{RoomId, schedule::RoomConfig};
use vestibule_issuance::problem_of;
use vestibule_runtime::{Problem, ProblemType};
use vestibule_site::{Conflict, Coverage, SiteBinding};
use vestibule_store::{PutOutcome, Store};

use super::directory::RoomDirectory;
use crate::api_types::{invalid_room, refuse};

/// How often a change of routes asks for the routes' lease.
const ATTEMPTS: usize = 40;
const RETRY: Duration = Duration::from_millis(50);

/// Puts a config whose routes have changed, unless another room has one of them. `caller` identifies
/// this change among all that are under way.
///
/// # Errors
/// A 400 that names each route of another room; 409 when others keep changing routes.
pub(super) async fn put_routes(
    rooms: &RoomDirectory,
    caller: &str,
    room: &RoomId,
    config: &RoomConfig,
) -> Result<PutOutcome, Problem> {
    if !begin(&rooms.store, caller).await? {
        return Err(busy());
    }
    let put = match refuse_routes_of_others(rooms, room, &config.binding).await {
        Ok(()) => rooms.put_config(room, config).await,
        Err(problem) => Err(problem),
    };
    // If this fails, the lease runs out by itself.
    let _ = rooms.store.end_routes(caller).await;
    put
}

/// A 409: the change was tried too often.
pub(super) fn busy() -> Problem {
    Problem::new(ProblemType::Conflict).detail("others keep changing this room")
}

/// Waits for the lease of routes; returns whether `caller` has it.
pub(super) async fn begin(store: &Store, caller: &str) -> Result<bool, Problem> {
    for _ in 0..ATTEMPTS {
        if store.begin_routes(caller).await.map_err(|error| problem_of(&error))? {
            return Ok(true);
        }
        sleep(RETRY).await;
    }
    Ok(false)
}

async fn refuse_routes_of_others(
    rooms: &RoomDirectory,
    room: &RoomId,
    binding: &SiteBinding,
) -> Result<(), Problem> {
    let others = rooms.site_bindings().await.map_err(|error| problem_of(&error))?;
    let others = others.iter().filter(|(other, _)| other != room);
    let others = Coverage::new(others.map(|(room, binding)| (room, binding)));
    let conflicts = others.conflicts(room, binding);
    refuse(invalid_room(), conflicts.iter().map(Conflict::error).collect())
}
