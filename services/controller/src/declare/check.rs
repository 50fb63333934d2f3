//! What cannot be done of what is declared, found before anything is changed: what depends on other rooms, on the time, or
//! on what there is.

use std::collections::BTreeMap;

use vestibule_domain::{FieldError, RoomId, schedule::RoomConfig, settings::RoomSettings};
use vestibule_site::{Conflict, Coverage, SiteBinding};

use crate::{
    api_types::{Declaration, DeclaredRoom},
    rooms::error_of_event_id,
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
    for (name, declared) in &room.events {
        // In the order of the names, as they were put. Each is compared with all others.
        let event = config.events.remove(0);
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
    }
    errors
}

/// Which routes and cookies of declared rooms are another room's, too; `others`: the rooms that stay as they are.
pub(super) fn errors_of_routes<'a>(
    declared: &Declaration,
    others: impl Iterator<Item = (&'a RoomId, &'a SiteBinding)>,
) -> Vec<FieldError> {
    let bindings: BTreeMap<&RoomId, &SiteBinding> =
        declared.rooms.iter().map(|(name, room)| (name, &room.draft.binding)).collect();
    // Of equal routes a coverage keeps one, so those that stay are compared by themselves.
    let stays = Coverage::new(others);
    let among = Coverage::new(bindings.iter().map(|(name, binding)| (*name, *binding)));
    let conflicts = bindings.into_iter().flat_map(|(name, binding)| {
        let found = [&stays, &among].map(|coverage| coverage.conflicts(name, binding));
        let errors = found.into_iter().flatten().map(|conflict| Conflict::error(&conflict));
        errors.map(move |FieldError { field, reason }| {
            error(&format!("rooms.{name}"), &field, reason)
        })
    });
    conflicts.collect()
}

/// Whose name or event id the event ids of declared rooms are, too; `others`: the rooms that stay as they are.
pub(super) fn errors_of_event_ids<'a>(
    declared: &Declaration,
    others: impl Iterator<Item = (&'a RoomId, &'a RoomSettings)>,
) -> Vec<FieldError> {
    let stay: Vec<_> = others.collect();
    let settings = declared.rooms.iter().map(|(name, room)| (name, &room.draft.settings));
    let errors = settings.clone().filter_map(|(name, of_room)| {
        let declared = settings.clone().filter(|(other, _)| *other != name);
        let FieldError { field, reason } =
            error_of_event_id(of_room, stay.iter().copied().chain(declared))?;
        Some(error(&format!("rooms.{name}"), &field, reason))
    });
    errors.collect()
}

/// An error at the field of a part.
pub(super) fn error(part: &str, field: &str, reason: String) -> FieldError {
    let field = if field.is_empty() { part.to_owned() } else { format!("{part}.{field}") };
    FieldError { field: field.into(), reason }
}
