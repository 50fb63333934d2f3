//! A room's config: its settings and its events. Creating a room is putting its first config.

use serde::{Deserialize, Serialize};
use vestibule_domain::{RoomId, schedule::RoomConfig};

use super::phases::Phases;
use crate::{Store, StoreError, document, keys::ROOMS, recording::answers, scripts};

/// The outcome of a put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PutOutcome {
    /// The room is new.
    Created,
    /// The room existed. It has the new config, and its line is unchanged.
    Changed,
    /// Another caller changed it since this one read it. Nothing was written.
    Conflict,
}

#[derive(Serialize)]
struct Arguments<'a> {
    room: &'a RoomId,
    version: Option<u64>,
    new_only: bool,
    nonce: String,
    least_epoch: u64,
    config: String,
    phases: Phases,
}

#[derive(Serialize)]
struct Nothing {}

/// What is stored beside a config.
#[derive(Deserialize)]
pub(super) struct Stored {
    is_held: bool,
    version: u64,
}

#[derive(Deserialize)]
struct Reply {
    outcome: PutOutcome,
}

impl Store {
    /// The settings and events of a room; `None` when Redis does not hold it.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn read_config(&self, room: &RoomId) -> Result<Option<RoomConfig>, StoreError> {
        let noting = self.noting(Some(room), Vec::new).await;
        let read = self.call_for(&scripts::READ_CONFIG, room, &[], &Nothing {}).await;
        let config = read.and_then(|(beside, config): (String, String)| {
            document::decode::<Stored>(&beside)?.config(&config)
        });
        if let Some(noting) = noting {
            let now_ms = noting.now_ms();
            noting.answer(&config, |config| answers::config_read(config.as_ref(), now_ms));
        }
        config
    }

    /// Creates a room or changes its config, if its version is still `config.version`; 0: any version.
    /// Takes effect at once.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn put_config(
        &self,
        room: &RoomId,
        config: &RoomConfig,
    ) -> Result<PutOutcome, StoreError> {
        self.put(room, config, false).await
    }

    /// Creates a room, if there is none of this name: [`PutOutcome::Conflict`] otherwise, as somebody else has created it
    /// since the caller looked.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn create_room(
        &self,
        room: &RoomId,
        config: &RoomConfig,
    ) -> Result<PutOutcome, StoreError> {
        self.put(room, config, true).await
    }

    async fn put(
        &self,
        room: &RoomId,
        config: &RoomConfig,
        new_only: bool,
    ) -> Result<PutOutcome, StoreError> {
        let now_ms = self.reached_ms_in(room).await?;
        let buried = self.tombstone(room).await?;
        // Another instance has deleted the room that was seen here, and this one may not have heard of it.
        if self.memory().room(room).reset_epoch().is_some_and(|seen| seen <= buried) {
            self.memory().forget(room);
        }
        let arguments = Arguments {
            room,
            version: (config.version > 0).then_some(config.version),
            new_only,
            nonce: self.nonce(),
            least_epoch: buried + 1,
            config: document::text(config)?,
            phases: Phases::new(config, now_ms)?,
        };
        // The list comes first, so that no room exists that is not listed. Of one that is listed and does not come to be the
        // leader finds that nobody knows it, and takes it from the list.
        self.query::<()>(redis::cmd("SADD").arg(ROOMS).arg(room.as_str())).await?;
        let noting = self.noting(Some(room), || vec![answers::put_call(config, now_ms)]).await;
        let reply: Result<Reply, _> = self.call(&scripts::PUT_CONFIG, room, &arguments).await;
        if let Some(noting) = noting {
            noting.answer(&reply, |reply| answers::put(config, now_ms, reply.outcome));
        }
        Ok(reply?.outcome)
    }
}

// === impl Stored ===

impl Stored {
    /// The config whose text this is.
    pub(super) fn config(&self, text: &str) -> Result<Option<RoomConfig>, StoreError> {
        if !self.is_held {
            return Ok(None);
        }
        let config: RoomConfig = document::decode(text)?;
        Ok(Some(RoomConfig { version: self.version, ..config }))
    }
}
