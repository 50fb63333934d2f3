//! Which declared room gets routes or names that a room has that is to be deleted: the deletion has to come before. What two
//! rooms may not both have is said in [`crate::rooms`] and `vestibule_site`.

use std::collections::BTreeMap;

use vestibule_domain::{RoomId, schedule::RoomConfig};
use vestibule_site::Coverage;

use crate::{access::Caller, api_types::Declaration, rooms::Named};

/// The rooms that are made or changed, in their order, each as it shall be.
#[derive(Debug)]
pub(super) struct Heirs<'a>(Vec<Heir<'a>>);

#[derive(Debug)]
struct Heir<'a> {
    room: &'a RoomId,
    before: Option<&'a RoomConfig>,
    config: RoomConfig,
}

// === impl Heirs ===

impl<'a> Heirs<'a> {
    /// Those of `declared` that have these names, in this order; `current`: the rooms as they are.
    pub(super) fn new<'r>(
        declared: &'a Declaration,
        current: &'a BTreeMap<RoomId, RoomConfig>,
        rooms: impl Iterator<Item = &'r RoomId>,
    ) -> Self {
        let heirs = rooms.filter_map(|room| {
            let (room, declared) = declared.rooms.get_key_value(room)?;
            let before = current.get(room);
            let mut config = before.cloned().unwrap_or_default();
            declared.put_into(&mut config);
            Some(Heir { room, before, config })
        });
        Self(heirs.collect())
    }

    /// Which of them is the first that gets something of this room, by its place.
    pub(super) fn first_of(&self, room: &RoomId, config: &RoomConfig) -> Option<usize> {
        let routes = Coverage::new([(room, &config.binding)]);
        let nobody = Caller::admin("");
        self.0.iter().position(|heir| {
            let named = Named {
                room: heir.room,
                config: &heir.config,
                before: heir.before,
                caller: &nobody,
            };
            !routes.conflicts(heir.room, &heir.config.binding).is_empty()
                || named.has_a_name_of(room, config)
        })
    }
}
