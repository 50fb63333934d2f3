//! Changes of rooms' configs, which every admission must apply: which rooms changed, up to which change
//! each admission has come, and which admissions are behind.

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;

use crate::{
    Store, StoreError,
    keys::{ADMISSIONS, CONFIG_CHANGES},
    scripts,
};

/// An admission counts as stopped if it has not reported for so long, in ms. Running ones report twice
/// a second.
const SEEN_WITHIN_MS: u64 = 3_000;

/// What has changed since an instance last asked.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Changes {
    /// The newest change; 0 when there is none.
    pub revision: u64,
    /// The rooms whose config changed, or which were deleted, oldest change first.
    pub rooms: Vec<RoomId>,
}

#[derive(Serialize)]
struct NoteChange<'a> {
    room: &'a RoomId,
}

#[derive(Deserialize)]
struct Noted {
    revision: u64,
}

#[derive(Serialize)]
struct TakeChanges<'a> {
    instance: &'a str,
    revision: Option<u64>,
}

#[derive(Serialize)]
struct Lagging {
    revision: u64,
    seen_within_ms: u64,
}

#[derive(Deserialize)]
struct LaggingReply {
    instances: Vec<String>,
}

impl Store {
    /// Notifies every admission that the config of `room` was changed, or that the room was deleted.
    /// Returns the change's revision, for [`Self::lagging`].
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn note_change(&self, room: &RoomId) -> Result<u64, StoreError> {
        let keys = [CONFIG_CHANGES];
        let noted: Noted = self.call_on(&scripts::NOTE_CHANGE, &keys, &NoteChange { room }).await?;
        Ok(noted.revision)
    }

    /// The changes after `revision`. Also reports that `instance` applies all changes up to it. Without a
    /// revision it reports nothing, and no change waits for the instance.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn take_changes(
        &self,
        instance: &str,
        revision: Option<u64>,
    ) -> Result<Changes, StoreError> {
        let keys = [CONFIG_CHANGES, ADMISSIONS];
        let arguments = TakeChanges { instance, revision };
        self.call_on(&scripts::TAKE_CHANGES, &keys, &arguments).await
    }

    /// The running admissions that do not apply the change of this revision yet, by name.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn lagging(&self, revision: u64) -> Result<Vec<String>, StoreError> {
        let arguments = Lagging { revision, seen_within_ms: SEEN_WITHIN_MS };
        let keys = [ADMISSIONS];
        let reply: LaggingReply = self.call_on(&scripts::LAGGING, &keys, &arguments).await?;
        Ok(reply.instances)
    }

    /// Reports that `instance` stops, so that no change waits for it.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn take_no_more_changes(&self, instance: &str) -> Result<(), StoreError> {
        self.query(redis::cmd("HDEL").arg(ADMISSIONS).arg(instance)).await
    }
}
