//! Which room AWS-style clients mean by an event id that is no room's name: an index of all configs, made anew when one
//! has changed.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use arc_swap::ArcSwap;
use rustc_hash::FxHashMap;
use vestibule_domain::RoomId;

use super::{Feed, KnownRoom};

/// The event ids of rooms that have one of their own.
#[derive(Debug, Default)]
pub(super) struct Aliases {
    rooms: ArcSwap<FxHashMap<String, RoomId>>,
    /// One more than the version of the configs that `rooms` was made of; 0: none yet.
    made_of: AtomicU64,
    making: Mutex<()>,
}

impl Feed {
    /// The room that AWS-style clients call `event_id`: that of this name, or else the one with this `aws_event_id`.
    #[must_use]
    pub fn event(&self, event_id: &str) -> Option<Arc<KnownRoom>> {
        self.room(event_id).or_else(|| self.room(self.room_with_event_id(event_id)?.as_str()))
    }

    /// The room with this `aws_event_id`.
    #[must_use]
    pub fn room_with_event_id(&self, event_id: &str) -> Option<RoomId> {
        self.bring_aliases_up_to_date();
        self.0.aliases.rooms.load().get(event_id).cloned()
    }

    fn bring_aliases_up_to_date(&self) {
        let aliases = &self.0.aliases;
        let is_outdated = || aliases.made_of.load(Ordering::Acquire) != self.configs_version() + 1;
        if !is_outdated() {
            return;
        }
        let _making = aliases.making.lock().unwrap_or_else(PoisonError::into_inner);
        if is_outdated() {
            // Read before the rooms, so that these are at least of this version.
            let version = self.configs_version() + 1;
            aliases.rooms.store(Arc::new(self.aliases()));
            aliases.made_of.store(version, Ordering::Release);
        }
    }

    fn aliases(&self) -> FxHashMap<String, RoomId> {
        let alias = |known: Arc<KnownRoom>| {
            let event_id = known.stored_config()?.config.settings.aws_event_id.clone()?;
            Some((event_id, known.snapshot().room.clone()))
        };
        self.rooms().into_iter().filter_map(alias).collect()
    }
}
