//! No two rooms cover the same host and path, or are called the same in tokens: a change of these, and a new room, is
//! compared with all other rooms, by one controller at a time.

use std::time::Duration;

use tokio::time::sleep;
use vestibule_domain::{FieldError, RoomId, schedule::RoomConfig};
use vestibule_issuance::problem_of;
use vestibule_runtime::{Problem, ProblemType};
use vestibule_site::{Conflict, Coverage, SiteBinding};
use vestibule_store::{PutOutcome, RoutesTurn, Store};

use super::{directory::RoomDirectory, names::Named};
use crate::{
    access::Caller,
    api_types::{invalid_room, refuse},
};

/// How often a change of routes asks for the routes' lease.
const ATTEMPTS: usize = 40;
const RETRY: Duration = Duration::from_millis(50);

/// The routes of the rooms that a caller is not for. Whoever had a more specific one, for another room, would decide about
/// their requests.
#[derive(Debug)]
pub(crate) struct ForeignRoutes(Coverage<RoomId>);

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
    let Some(turn) = begin(&rooms.store, change).await? else { return Err(busy()) };
    let put = async {
        refuse_what_others_have(rooms, caller, room, before, config).await?;
        // What was compared may have taken long to read.
        let kept = rooms.store.keep_routes(change, turn).await;
        kept.map_err(|error| problem_of(&error))?.ok_or_else(busy)?;
        rooms.put_compared(room, config).await
    };
    let put = put.await;
    // If this fails, the lease runs out by itself.
    let _ = rooms.store.end_routes(change).await;
    put
}

/// A 409: the change was tried too often.
pub(super) fn busy() -> Problem {
    Problem::new(ProblemType::Conflict).detail("others keep changing this room")
}

/// Waits for the lease of routes; `None`: others have it for long.
pub(super) async fn begin(store: &Store, caller: &str) -> Result<Option<RoutesTurn>, Problem> {
    for _ in 0..ATTEMPTS {
        let begun = store.begin_routes(caller).await.map_err(|error| problem_of(&error))?;
        if begun.is_some() {
            return Ok(begun);
        }
        sleep(RETRY).await;
    }
    Ok(None)
}

async fn refuse_what_others_have(
    rooms: &RoomDirectory,
    caller: &Caller,
    room: &RoomId,
    before: &RoomConfig,
    config: &RoomConfig,
) -> Result<(), Problem> {
    let all = rooms.latest_configs().await.map_err(|error| problem_of(&error))?;
    let others =
        || all.iter().filter(|(other, _)| other != room).map(|(room, config)| (room, config));
    let covered = Coverage::new(others().map(|(room, config)| (room, &config.binding)));
    let conflicts = covered.conflicts(room, &config.binding);
    let told = |conflict: &Conflict<RoomId>| conflict.error(|other| caller.name_of(other));
    let mut errors: Vec<_> = conflicts.iter().map(told).collect();
    let foreign = ForeignRoutes::to(caller, others().map(|(room, config)| (room, &config.binding)));
    errors.extend(foreign.errors(&before.binding, &config.binding));
    let (tokens, now_ms) = (rooms.tokens_until(others()).await?, rooms.now_ms().await?);
    let named = Named { room, config, before: (before.version > 0).then_some(before), caller };
    errors.extend(named.errors(others(), &tokens, now_ms / 1000));
    refuse(invalid_room(), errors)
}

// === impl ForeignRoutes ===

impl ForeignRoutes {
    /// Those among the rooms that the `caller` is not for.
    pub(crate) fn to<'a>(
        caller: &Caller,
        rooms: impl Iterator<Item = (&'a RoomId, &'a SiteBinding)>,
    ) -> Self {
        Self(Coverage::new(rooms.filter(|(room, _)| !caller.rooms.covers(room.as_str()))))
    }

    /// Which routes of a binding would take requests from one of these rooms, of which the caller is not told. Those that it
    /// has `before` stay.
    pub(crate) fn errors(&self, before: &SiteBinding, binding: &SiteBinding) -> Vec<FieldError> {
        let routes = binding.routes.iter().enumerate();
        let new = routes.filter(|(_, route)| !before.routes.contains(route));
        let taking = new.filter(|(_, route)| self.0.loses_to(route).is_some());
        let error = |(index, route)| FieldError {
            field: format!("routes[{index}]").into(),
            reason: format!(
                "{route} would take requests from another room, for which this token is not: one that is for both may do this"
            ),
        };
        taking.map(error).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use vestibule_domain::access::Role;

    use super::*;

    fn binding(routes: &Value) -> SiteBinding {
        serde_json::from_value(json!({ "routes": routes })).unwrap()
    }

    /// Its bypass rules would let requests pass that another room holds.
    #[test]
    fn a_token_for_one_room_takes_no_requests_from_others() {
        let [vip, sale] = ["vip", "sale-2"].map(|room| RoomId::new(room).unwrap());
        let all = binding(&json!([{ "host": "v.example" }]));
        let own = binding(&json!([{ "host": "s.example" }]));
        let rooms = || [(&vip, &all), (&sale, &own)].into_iter();
        let wanted = binding(&json!([
            { "host": "v.example", "path": "/checkout" },
            { "host": "s.example", "path": "/checkout" },
            { "host": "other.example" },
        ]));
        let scope = serde_json::from_value(json!(["sale-*"])).unwrap();
        let foreign = ForeignRoutes::to(&Caller::new("ci", Role::Operator, scope), rooms());
        let errors = foreign.errors(&SiteBinding::default(), &wanted);
        let fields: Vec<_> = errors.iter().map(|error| &*error.field).collect();
        assert_eq!(fields, ["routes[0]"]);
        assert!(!errors[0].reason.contains("vip"), "{}", errors[0].reason);
        assert_eq!(foreign.errors(&wanted, &wanted), [], "it has it already");
        let foreign = ForeignRoutes::to(&Caller::admin("root"), rooms());
        assert_eq!(foreign.errors(&SiteBinding::default(), &wanted), []);
    }
}
