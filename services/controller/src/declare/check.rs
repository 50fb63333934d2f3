//! What cannot be done of what is declared, found before anything is changed: what depends on other rooms, on the time, or
//! on what there is.

use std::collections::BTreeMap;

use vestibule_domain::{FieldError, RoomId, schedule::RoomConfig};
use vestibule_site::{Coverage, SiteBinding};

use crate::{
    access::Caller,
    api_types::{Declaration, DeclaredRoom},
    rooms::{ForeignRoutes, Named, TokensUntil},
};

/// Why a room cannot become what is declared at `now_s`, unix seconds; `before`: as it is now. Paths begin at the room.
pub(super) fn errors_of_room(
    room: &DeclaredRoom,
    before: Option<&RoomConfig>,
    now_s: u64,
) -> Vec<FieldError> {
    let mut config = before.cloned().unwrap_or_default();
    room.put_into(&mut config);
    let mut errors = Vec::new();
    // In the order of the names, as they were put. Each is taken out and compared with all others, which stay where they
    // are, but for the last.
    for (place, (name, declared)) in room.events.iter().enumerate() {
        let event = config.events.swap_remove(place);
        let was = before.and_then(|before| before.event(name.as_str()));
        let made = was.and_then(|was| was.commitment.as_ref());
        if declared.commitment.is_some() && declared.commitment.as_ref() != made {
            let reason = "is made here and cannot be set: leave it out".to_owned();
            errors.push(error(&format!("events.{name}"), "commitment", reason));
        }
        let found = config.errors_of_change(&event, was, now_s);
        let at_event =
            |FieldError { field, reason }| error(&format!("events.{name}"), &field, reason);
        errors.extend(found.into_iter().map(at_event));
        config.events.push(event);
        let last = config.events.len() - 1;
        config.events.swap(place, last);
    }
    errors
}

/// Which routes and cookies of declared rooms are another room's, too, as the `caller` is told, and which routes would take
/// requests from rooms that it is not for; `before`: all rooms as they are; `others`: those that stay so.
pub(super) fn errors_of_routes<'a>(
    declared: &Declaration,
    caller: &Caller,
    before: &BTreeMap<RoomId, RoomConfig>,
    others: impl Iterator<Item = (&'a RoomId, &'a SiteBinding)> + Clone,
) -> Vec<FieldError> {
    let bindings: BTreeMap<&RoomId, &SiteBinding> =
        declared.rooms.iter().map(|(name, room)| (name, &room.draft.binding)).collect();
    // Of equal routes a coverage keeps one, so those that stay are compared by themselves.
    let foreign = ForeignRoutes::to(caller, others.clone());
    let stays = Coverage::new(others);
    let among = Coverage::new(bindings.iter().map(|(name, binding)| (*name, *binding)));
    let conflicts = bindings.into_iter().flat_map(|(name, binding)| {
        let found = [&stays, &among].map(|coverage| coverage.conflicts(name, binding));
        let errors = found
            .into_iter()
            .flatten()
            .map(|conflict| conflict.error(|other| caller.name_of(other)));
        let was = before.get(name).map(|config| config.binding.clone()).unwrap_or_default();
        errors.chain(foreign.errors(&was, binding)).map(move |FieldError { field, reason }| {
            error(&format!("rooms.{name}"), &field, reason)
        })
    });
    conflicts.collect()
}

/// What declared rooms would be called that is another room's, as the `caller` is told. `after`: all rooms as they will be;
/// `before`: as they are.
pub(super) fn errors_of_names(
    declared: &Declaration,
    caller: &Caller,
    after: &BTreeMap<RoomId, RoomConfig>,
    before: &BTreeMap<RoomId, RoomConfig>,
    tokens: &TokensUntil,
    now_s: u64,
) -> Vec<FieldError> {
    let rooms = after.iter().filter(|(room, _)| declared.rooms.contains_key(*room));
    let errors = rooms.flat_map(|(room, config)| {
        let named = Named { room, config, before: before.get(room), caller };
        let errors = named.errors(after.iter(), tokens, now_s).into_iter();
        errors.map(move |FieldError { field, reason }| {
            // The name is not written in the room.
            let field = if field == "room" { "" } else { &*field };
            error(&format!("rooms.{room}"), field, reason)
        })
    });
    errors.collect()
}

/// An error at the field of a part.
pub(super) fn error(part: &str, field: &str, reason: String) -> FieldError {
    let field = if field.is_empty() { part.to_owned() } else { format!("{part}.{field}") };
    FieldError { field: field.into(), reason }
}
