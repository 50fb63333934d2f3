//! What has to be done so that rooms are as declared: a pure comparison.

use std::collections::BTreeMap;

use vestibule_domain::{LabelSelector, RoomId, schedule::RoomConfig};

use super::{diff::changes, heirs::Heirs};
use crate::api_types::{Action, Declaration, DeclaredRoom, Plan, Step};

/// What makes the rooms of `current` what is declared. Rooms that are not declared stay, unless they have the labels of
/// `prune`: those are deleted, last; but one whose routes or names a declared room gets, just before that room gets them.
/// Its deletion may be refused, since people come, and then no two rooms have the same.
pub(super) fn plan(
    declared: &Declaration,
    current: &BTreeMap<RoomId, RoomConfig>,
    prune: Option<&LabelSelector>,
) -> Plan {
    let steps =
        declared.rooms.iter().filter_map(|(name, room)| step(name, room, current.get(name)));
    let mut steps: Vec<_> = steps.collect();
    // Should it stop half-way, no two rooms are called the same.
    steps.sort_by_key(|step| {
        !gives_names_up(declared.rooms.get(&step.room), current.get(&step.room))
    });
    let unchanged = declared.rooms.len() - steps.len();
    let heirs = Heirs::new(declared, current, steps.iter().map(|step| &step.room));
    let mut deletions: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for room in pruned(declared, current, prune) {
        let place = current.get(room).and_then(|config| heirs.first_of(room, config));
        deletions.entry(place.unwrap_or(steps.len())).or_default().push(deletion(room));
    }
    // From the end, so that the places before stay.
    for (place, deletions) in deletions.into_iter().rev() {
        steps.splice(place..place, deletions);
    }
    Plan { dry_run: false, steps, unchanged, unasked_beacons: 0 }
}

fn deletion(room: &RoomId) -> Step {
    Step { room: room.clone(), action: Action::Delete, changes: Vec::new(), people: None }
}

/// Whether a room is called something in tokens that it will not be called any more.
fn gives_names_up(room: Option<&DeclaredRoom>, current: Option<&RoomConfig>) -> bool {
    let (Some(room), Some(current)) = (room, current) else { return false };
    let now = (&current.settings.aws_event_id, &current.binding);
    let then = (&room.draft.settings.aws_event_id, &room.draft.binding);
    let gives_event_id_up = now.0.is_some() && now.0 != then.0;
    let mut clients = now.1.oidc_clients.iter();
    gives_event_id_up || clients.any(|client| then.1.oidc_client(&client.id).is_none())
}

/// The rooms that are deleted.
pub(super) fn pruned<'a>(
    declared: &'a Declaration,
    current: &'a BTreeMap<RoomId, RoomConfig>,
    prune: Option<&'a LabelSelector>,
) -> impl Iterator<Item = &'a RoomId> {
    let undeclared = current.iter().filter(|(name, _)| !declared.rooms.contains_key(*name));
    let picked = move |config: &RoomConfig| {
        prune.is_some_and(|selector| selector.picks(&config.settings.labels))
    };
    undeclared.filter(move |(_, config)| picked(config)).map(|(name, _)| name)
}

/// What makes one room what is declared; `None`: it is that already.
fn step(name: &RoomId, room: &DeclaredRoom, current: Option<&RoomConfig>) -> Option<Step> {
    let before = current.map(DeclaredRoom::of);
    let mut room = room.clone();
    if let Some(current) = current {
        room.draft.binding.keep_secrets_of(&current.binding);
    }
    if before.as_ref() == Some(&room) {
        return None;
    }
    Some(Step {
        room: name.clone(),
        action: if before.is_some() { Action::Change } else { Action::Create },
        changes: changes(&format!("rooms.{name}"), before.as_ref(), &room),
        people: None,
    })
}
