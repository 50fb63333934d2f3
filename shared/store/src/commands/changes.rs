//! Changes of rooms' configs, as every admission must take them in: which there were, who goes by
//! them, and who is behind.

use vestibule_domain::RoomId;

use crate::{
    Store, StoreError,
    keys::{ADMISSIONS, CHANGES, CONFIG_CHANGES},
    scripts,
};

/// An admission that was not seen for so long does not run, in ms. Running ones are seen twice a
/// second.
const SEEN_WITHIN_MS: u64 = 3_000;

/// What has changed since an instance last asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// The newest change; 0 when there is none.
    pub revision: u64,
    /// The rooms whose config changed, or which were deleted, oldest change first.
    pub rooms: Vec<RoomId>,
}

impl Store {
    /// Tells every admission that the config of `room` was changed, or that the room was deleted.
    /// Returns the change's revision, for [`Self::lagging`].
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn note_change(&self, room: &RoomId) -> Result<u64, StoreError> {
        let mut call = self.timed(&scripts::NOTE_CHANGE, &[CONFIG_CHANGES.to_owned()]);
        self.run(call.arg(room.as_str()).arg(CHANGES)).await
    }

    /// The changes after `revision`. Says at the same time that `instance` goes by all up to it;
    /// without a revision nobody waits for the instance.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn take_changes(
        &self,
        instance: &str,
        revision: Option<u64>,
    ) -> Result<Changes, StoreError> {
        let keys = [CONFIG_CHANGES, ADMISSIONS].map(str::to_owned);
        let mut call = self.timed(&scripts::TAKE_CHANGES, &keys);
        let call = call.arg(instance).arg(super::optional(revision));
        let (revision, names): (u64, Vec<String>) = self.run(call).await?;
        let rooms = names.into_iter().filter_map(|name| RoomId::new(name).ok()).collect();
        Ok(Changes { revision, rooms })
    }

    /// The admissions that run and do not go by the change of this revision yet, by name.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn lagging(&self, revision: u64) -> Result<Vec<String>, StoreError> {
        let mut call = self.timed(&scripts::LAGGING, &[ADMISSIONS.to_owned()]);
        self.run(call.arg(revision).arg(SEEN_WITHIN_MS)).await
    }

    /// Nobody waits for `instance` any more: it stops.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn take_no_more_changes(&self, instance: &str) -> Result<(), StoreError> {
        self.query(redis::cmd("HDEL").arg(ADMISSIONS).arg(instance)).await
    }
}
