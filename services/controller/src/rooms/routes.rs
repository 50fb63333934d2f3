//! No two rooms cover the same host and path, or have the same event id: a change of these is compared with all other
//! rooms, by one controller at a time.

use std::time::Duration;

use tokio::time::sleep;
use vestibule_domain::{RoomId, schedule::RoomConfig};
use vestibule_issuance::problem_of;
use vestibule_runtime::{Problem, ProblemType};
use vestibule_site::{Conflict, Coverage};
use vestibule_store::{PutOutcome, Store};

use super::{directory::RoomDirectory, event_ids::error_of_event_id};
use crate::api_types::{invalid_room, refuse};

/// How often a change of routes asks for the routes' lease.
const ATTEMPTS: usize = 40;
const RETRY: Duration = Duration::from_millis(50);

/// Puts a config whose routes or event id have changed, unless another room has one of them. `caller` identifies
/// this change among all that are under way.
///
/// # Errors
/// A 400 that names what is another room's; 409 when others keep changing routes.
pub(super) async fn put_routes(
    rooms: &RoomDirectory,
    caller: &str,
    room: &RoomId,
    config: &RoomConfig,
) -> Result<PutOutcome, Problem> {
    if !begin(&rooms.store, caller).await? {
        return Err(busy());
    }
    let put = match refuse_what_others_have(rooms, room, config).await {
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

async fn refuse_what_others_have(
    rooms: &RoomDirectory,
    room: &RoomId,
    config: &RoomConfig,
) -> Result<(), Problem> {
    let others = rooms.read_configs().await.map_err(|error| problem_of(&error))?;
    let others = || others.iter().filter(|(other, _)| other != room);
    let covered = Coverage::new(others().map(|(room, config)| (room, &config.binding)));
    let conflicts = covered.conflicts(room, &config.binding);
    let errors = conflicts.iter().map(Conflict::error);
    let event_ids = others().map(|(room, config)| (room, &config.settings));
    let errors = errors.chain(error_of_event_id(&config.settings, event_ids));
    refuse(invalid_room(), errors.collect())
}
