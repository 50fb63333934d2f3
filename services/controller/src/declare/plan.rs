//! What has to be done so that rooms are as declared: a pure comparison.

use std::collections::BTreeMap;

use vestibule_domain::{LabelSelector, RoomId, schedule::RoomConfig};

use super::diff::changes;
use crate::api_types::{Action, Declaration, DeclaredRoom, Plan, Step};

/// What makes the rooms of `current` what is declared. Rooms that are not declared stay, unless they have the labels of
/// `prune`: those are deleted, last.
pub(super) fn plan(
    declared: &Declaration,
    current: &BTreeMap<RoomId, RoomConfig>,
    prune: Option<&LabelSelector>,
) -> Plan {
    let steps =
        declared.rooms.iter().filter_map(|(name, room)| step(name, room, current.get(name)));
    let mut steps: Vec<_> = steps.collect();
    let unchanged = declared.rooms.len() - steps.len();
    steps.extend(pruned(declared, current, prune).map(|room| Step {
        room: room.clone(),
        action: Action::Delete,
        changes: Vec::new(),
        people: None,
    }));
    Plan { dry_run: false, steps, unchanged }
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
    if before.as_ref() == Some(room) {
        return None;
    }
    Some(Step {
        room: name.clone(),
        action: if before.is_some() { Action::Change } else { Action::Create },
        changes: changes(&format!("rooms.{name}"), before.as_ref(), room),
        people: None,
    })
}
