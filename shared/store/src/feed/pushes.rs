//! Snapshots that are pushed: whole ones, and differences from them, which are taken in as if they had come whole.

use serde::Deserialize;
use vestibule_domain::{Difference, Formats, RoomId, RoomSnapshot};

use super::Feed;
use crate::{StoreError, document};

/// What says how the rest is read.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    format: u32,
}

impl Feed {
    /// Takes in a push, and reads the room's config if it has changed.
    pub(super) async fn take_push(&self, payload: &str) {
        match self.read_push(payload) {
            Ok(Some(snapshot)) => self.receive_push(snapshot).await,
            // It is of a whole one that did not come; the next will within a second.
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "a snapshot cannot be read"),
        }
    }

    /// The snapshot that was pushed; `None`: it is a difference from one that is not the last one here.
    fn read_push(&self, payload: &str) -> Result<Option<RoomSnapshot>, StoreError> {
        let Head { format } = document::decode(payload)?;
        if format != Formats::DIFFERENCE {
            return document::decode(payload).map(Some);
        }
        let difference: Difference = document::decode(payload)?;
        let known = self.room(difference.room.as_str());
        Ok(known.and_then(|known| difference.over(&known.snapshot())))
    }

    async fn receive_push(&self, snapshot: RoomSnapshot) {
        self.0.store.note_push(&snapshot);
        let room = snapshot.room.clone();
        self.receive(snapshot).await;
        self.read_config_if_changed(&room).await;
    }

    /// Reads the config of a room whose snapshot names another one.
    pub(super) async fn read_config_if_changed(&self, room: &RoomId) {
        if let Some(known) = self.room(room.as_str()).filter(|known| known.needs_config()) {
            // If this fails, the slow poll reads it.
            let _ = self.refresh_config(&known).await;
        }
    }
}
