//! No two rooms cover the same host and path, or are called the same in tokens: a change of these, and a new room, is
//! compared with all other rooms, by one controller at a time.

use std::time::Duration;

use tokio::time::sleep;
use vestibule_domain::{RoomId, schedule::RoomConfig};
use vestibule_issuance::problem_of;
use vestibule_runtime::{Problem, ProblemType};
use vestibule_site::{Conflict, Coverage};
use vestibule_store::{PutOutcome, Store};

use super::{directory::RoomDirectory, names::Named};
use crate::{
    access::Caller,
    api_types::{invalid_room, refuse},
};

/// How often a change of routes asks for the routes' lease.
const ATTEMPTS: usize = 40;
const RETRY: Duration = Duration::from_millis(50);

/// Puts a config whose routes or names have changed, or a new one, unless another room has one of them, of which the
/// `caller` is told. `change` identifies this change among all that are under way; `before` has version 0 if the room is
/// new.
///
/// # Errors
/// A 400 that names what is another room's; 409 when others keep changing routes.
pub(super) async fn put_routes(
    rooms: &RoomDirectory,
    (caller, change): (&Caller, &str),
    room: &RoomId,
    before: &RoomConfig,
    config: &RoomConfig,
) -> Result<PutOutcome, Problem> {
    if !begin(&rooms.store, change).await? {
        return Err(busy());
    }
    let put = match refuse_what_others_have(rooms, caller, room, before, config).await {
        Ok(()) => rooms.put_config(room, config).await,
        Err(problem) => Err(problem),
    };
    // If this fails, the lease runs out by itself.
    let _ = rooms.store.end_routes(change).await;
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
    caller: &Caller,
    room: &RoomId,
    before: &RoomConfig,
    config: &RoomConfig,
) -> Result<(), Problem> {
    let all = rooms.read_configs().await.map_err(|error| problem_of(&error))?;
    let others =
        || all.iter().filter(|(other, _)| other != room).map(|(room, config)| (room, config));
    let covered = Coverage::new(others().map(|(room, config)| (room, &config.binding)));
    let conflicts = covered.conflicts(room, &config.binding);
    let told = |conflict: &Conflict<RoomId>| conflict.error(|other| caller.name_of(other));
    let mut errors: Vec<_> = conflicts.iter().map(told).collect();
    let (tokens, now_ms) = (rooms.tokens_until(others()).await?, rooms.now_ms().await?);
    let named = Named { room, config, before: (before.version > 0).then_some(before), caller };
    errors.extend(named.errors(others(), &tokens, now_ms / 1000));
    refuse(invalid_room(), errors)
}
