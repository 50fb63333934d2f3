//! What everybody is told by push, and what becomes of each message. Of a Cluster, see `shards`, too.

use futures_util::StreamExt;
use tokio::time::sleep;
use vestibule_domain::RoomId;

use super::{Feed, POLL, endings::Endings, recall::PushedCall};
use crate::{
    Message, StoreError, document,
    keys::{ALARMS, CALLS, CHANGES, CHANNELS, DELETIONS, DIFFERENCES, ENDINGS, SNAPSHOTS, WAKES},
};

// === impl Feed ===

impl Feed {
    /// Hears everything that is pushed, until it is dropped.
    pub(super) async fn listen(&self) {
        tokio::join!(self.listen_everywhere(), self.listen_at_shards());
    }

    async fn listen_everywhere(&self) {
        loop {
            if let Err(error) = self.subscribe().await {
                tracing::debug!(%error, "the push of snapshots is interrupted");
            }
            sleep(POLL).await;
        }
    }

    async fn subscribe(&self) -> Result<(), StoreError> {
        let channels = CHANNELS.map(|(_kind, channel)| channel);
        let mut messages = self.0.store.link().subscribe(&channels).await?;
        self.note_what_was_missed();
        while let Some(Message { channel, payload }) = messages.next().await {
            self.take_message(&channel, payload).await;
        }
        Ok(())
    }

    /// Takes in what was pushed on a channel, or as if on it.
    pub(super) async fn take_message(&self, channel: &str, payload: String) {
        match channel {
            SNAPSHOTS | DIFFERENCES => self.take_push(&payload).await,
            ENDINGS => self.take_endings(&payload),
            CALLS => self.take_call(&payload),
            CHANGES => {
                self.0.changed.notify_one();
                self.find_at_shard(&payload).await;
            }
            DELETIONS => self.take_deletion(&payload).await,
            of_a_room => match RoomId::new(payload) {
                Ok(room) => self.hear_of(of_a_room, room),
                Err(error) => tracing::warn!(%error, channel, "a room's name cannot be read"),
            },
        }
    }

    /// Takes in a message that names a room.
    fn hear_of(&self, channel: &str, room: RoomId) {
        match channel {
            ALARMS => {
                self.question(room.clone());
                self.note_alarm(room);
            }
            WAKES => {
                if let Some(known) = self.room(room.as_str()) {
                    known.wake();
                }
            }
            _ => self.question(room),
        }
    }

    fn take_call(&self, payload: &str) {
        match document::decode::<PushedCall>(payload) {
            Ok(PushedCall { room, call }) => {
                if let Some(known) = self.room(room.as_str()) {
                    known.take_call(call);
                }
            }
            Err(error) => tracing::warn!(%error, "an answered call cannot be read"),
        }
    }

    fn take_endings(&self, payload: &str) {
        match document::decode::<Endings>(payload) {
            Ok(endings) => {
                if let Some(known) = self.room(endings.room.as_str()) {
                    known.take_endings(&endings);
                }
            }
            Err(error) => tracing::warn!(%error, "ended sessions cannot be read"),
        }
    }
}
