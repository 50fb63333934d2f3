//! Finding rooms: in Redis, or in this instance's memory. Distinguishes a room that does not exist from
//! one that Redis has lost. Changes of a config are checked in [`super::editor`].

use std::sync::Arc;

use serde_json::Value;
use vestibule_domain::{RoomId, RoomSnapshot, schedule::RoomConfig, settings::LONGEST_EVENT_ID};
use vestibule_issuance::problem_of;
use vestibule_runtime::{Problem, ProblemType};
use vestibule_site::SiteBinding;
use vestibule_store::{Deletion, EndedSessions, Feed, KnownRoom, PutOutcome, Store, StoreError};

use super::{error::RoomError, names::TokensUntil};
use crate::{
    access::Caller,
    audit::{Trail, view_of_line},
    away::is_away,
};

/// The rooms. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct RoomDirectory {
    /// Redis.
    pub(super) store: Store,
    pub(super) feed: Feed,
}

// === impl RoomDirectory ===

impl RoomDirectory {
    /// The rooms in `store`; `feed` is this instance's memory of them.
    pub(crate) fn new(store: Store, feed: Feed) -> Self {
        Self { store, feed }
    }

    /// The room as Redis holds it this moment.
    ///
    /// # Errors
    /// [`RoomError`].
    pub(crate) async fn read(&self, room: &RoomId) -> Result<RoomSnapshot, RoomError> {
        match self.store.read_snapshot(room).await? {
            Some(snapshot) => Ok(snapshot),
            None => Err(self.explain(room, StoreError::RoomMissing).await),
        }
    }

    /// How many seats are taken by sessions that have ended: see [`Store::kept_seats`].
    ///
    /// # Errors
    /// [`RoomError`].
    pub(crate) async fn kept_seats(&self, room: &RoomId) -> Result<u64, RoomError> {
        match self.store.kept_seats(room).await {
            Ok(seats) => Ok(seats),
            Err(error) => Err(self.explain(room, error).await),
        }
    }

    /// How many sessions somebody has ended since the reset.
    ///
    /// # Errors
    /// [`RoomError`].
    pub(crate) async fn ended_sessions(&self, room: &RoomId) -> Result<EndedSessions, RoomError> {
        match self.store.ended_sessions(room).await {
            Ok(ended) => Ok(ended),
            Err(error) => Err(self.explain(room, error).await),
        }
    }

    /// The room's config as Redis holds it this moment.
    ///
    /// # Errors
    /// [`RoomError`].
    pub(crate) async fn read_config(&self, room: &RoomId) -> Result<RoomConfig, RoomError> {
        match self.store.read_config(room).await? {
            Some(config) => Ok(config),
            None => Err(self.explain(room, StoreError::RoomMissing).await),
        }
    }

    /// The room that AWS-style clients call `event_id`, if it is the `caller`'s.
    ///
    /// # Errors
    /// [`RoomError`]; anything that is neither a room's `aws_event_id` nor can be a name is unknown, once all rooms were
    /// read.
    pub(crate) async fn event(
        &self,
        caller: &Caller,
        event_id: &str,
    ) -> Result<Arc<KnownRoom>, RoomError> {
        if let Some(known) = self.feed.event(event_id) {
            caller.require_room(known.snapshot().room.as_str())?;
            return Ok(known);
        }
        match self.new_room(caller, event_id).await {
            // It may be what a room is called that this instance has not read yet.
            Err(RoomError::Unknown | RoomError::Forbidden(_))
                if may_be_event_id(event_id) && !self.feed.knows_every_room() =>
            {
                Err(RoomError::NotKnownYet)
            }
            found => found,
        }
    }

    async fn new_room(&self, caller: &Caller, name: &str) -> Result<Arc<KnownRoom>, RoomError> {
        caller.require_room(name)?;
        let room = RoomId::new(name).map_err(|_| RoomError::Unknown)?;
        self.known(&room).await
    }

    /// The room as this instance knows it.
    ///
    /// # Errors
    /// [`RoomError`].
    pub(crate) async fn known(&self, room: &RoomId) -> Result<Arc<KnownRoom>, RoomError> {
        if let Some(known) = self.feed.room(room.as_str()) {
            return Ok(known);
        }
        // It may be too new for the push to have arrived.
        let snapshot = self.read(room).await?;
        self.feed.receive(snapshot).await;
        self.feed.room(room.as_str()).ok_or(RoomError::Unknown)
    }

    /// When the last AWS-style token of those of these rooms ends that have given up event ids. Of a room whose shard is away
    /// nobody knows: as late as can be.
    ///
    /// # Errors
    /// 503 while Redis has lost such a room.
    pub(crate) async fn tokens_until(
        &self,
        rooms: impl Iterator<Item = (&RoomId, &RoomConfig)>,
    ) -> Result<TokensUntil, Problem> {
        let mut until = TokensUntil::new();
        for (room, _) in rooms.filter(|(_, config)| !config.given_up.is_empty()) {
            match self.read(room).await {
                Ok(snapshot) => drop(until.insert(room.clone(), snapshot.tokens_until)),
                // It has just been deleted.
                Err(RoomError::Unknown) => {}
                Err(RoomError::Store(error)) if is_away(&error) => {
                    until.insert(room.clone(), u64::MAX);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(until)
    }

    /// Every room's site binding: see [`Self::read_configs`].
    ///
    /// # Errors
    /// See [`StoreError`].
    pub(crate) async fn site_bindings(&self) -> Result<Vec<(RoomId, SiteBinding)>, StoreError> {
        let configs = self.read_configs().await?;
        Ok(configs.into_iter().map(|(room, config)| (room, config.binding)).collect())
    }

    /// What an error of the store means for `room`. A missing room was lost if it is listed, if this instance knows it
    /// and no deletion of it, or if the keyspace has no schema stamp; otherwise it never existed or was deleted.
    pub(crate) async fn explain(&self, room: &RoomId, error: StoreError) -> RoomError {
        if !matches!(error, StoreError::RoomMissing) {
            return error.into();
        }
        match self.is_lost(room).await {
            Ok(true) => error.into(),
            Ok(false) => RoomError::Unknown,
            Err(other) => other.into(),
        }
    }

    /// Refuses changes of rooms while the keyspace waits to be restored, because they would prevent the
    /// restoration of lost rooms.
    ///
    /// # Errors
    /// 503 until the leader has stamped the keyspace.
    pub(crate) async fn require_whole_keyspace(&self) -> Result<(), Problem> {
        match self.store.check_schema().await {
            Ok(0) => Err(Problem::new(ProblemType::RedisUnavailable)),
            Ok(_) => Ok(()),
            Err(error) => Err(problem_of(&error)),
        }
    }

    /// The time of the deployment, unix ms.
    ///
    /// # Errors
    /// 503 while nobody has said it and Redis is away.
    pub(crate) async fn now_ms(&self) -> Result<u64, Problem> {
        self.store.now_ms().await.map_err(|error| problem_of(&error))
    }

    /// The server's own clock, unix ms: for what others compare with theirs.
    ///
    /// # Errors
    /// 503 while Redis is away.
    pub(crate) async fn server_now_ms(&self) -> Result<u64, Problem> {
        self.store.server_now_ms().await.map_err(|error| problem_of(&error))
    }

    /// The time in `room`, unix ms.
    ///
    /// # Errors
    /// As [`Self::now_ms`].
    pub(crate) async fn now_ms_in(&self, room: &RoomId) -> Result<u64, Problem> {
        self.store.now_ms_in(room).await.map_err(|error| problem_of(&error))
    }

    /// Starts a room afresh that was as `before` when the call came, in Redis and in this instance's memory; once for all
    /// calls of the same name.
    ///
    /// # Errors
    /// [`RoomError`].
    pub(crate) async fn reset(
        &self,
        trail: &Trail,
        before: &RoomSnapshot,
        name: &str,
    ) -> Result<(), RoomError> {
        let room = &before.room;
        trail.change(&view_of_line(before), &Value::Null);
        // Tokens may have been made since.
        self.remember_tokens(&self.read(room).await?).await?;
        match self.store.reset_once(room, name).await {
            Ok(begun) => {
                if begun.again {
                    trail.repeats();
                }
                self.take_in(room).await;
            }
            Err(error) => return Err(self.explain(room, error).await),
        }
        // It is done, whether this can be read or not.
        if let Ok(after) = self.read(room).await {
            trail.change(&view_of_line(before), &view_of_line(&after));
        }
        Ok(())
    }

    /// Before a reset, after which Redis knows nothing of the tokens that were made before it: keeps until when they call
    /// the room by event ids that it has had.
    async fn remember_tokens(&self, before: &RoomSnapshot) -> Result<(), RoomError> {
        if before.tokens_until <= before.now_ms / 1000 {
            return Ok(());
        }
        loop {
            let mut config = self.read_config(&before.room).await?;
            let has_event_id =
                config.settings.aws_event_id.is_some() || !config.given_up.is_empty();
            if !has_event_id || !config.given_up.note_reset(before.tokens_until) {
                return Ok(());
            }
            if self.store.put_config(&before.room, &config).await? != PutOutcome::Conflict {
                return Ok(());
            }
        }
    }

    /// Puts a config, in Redis and in this instance's memory, without comparing it with other rooms: of a room that is as it
    /// was read, or, if the version is 0, of one that is still not there. Redis may lose it before anybody has read it, so it
    /// is remembered here before that is said.
    pub(super) async fn put_config(
        &self,
        room: &RoomId,
        config: &RoomConfig,
    ) -> Result<PutOutcome, Problem> {
        let put = if config.version > 0 {
            self.store.put_config(room, config).await
        } else {
            self.store.create_room(room, config).await
        };
        let put = put.map_err(|error| problem_of(&error))?;
        if put == PutOutcome::Conflict {
            return Ok(put);
        }
        self.take_in(room).await;
        let version = config.version + 1;
        self.feed.note_config(room, RoomConfig { version, ..config.clone() });
        Ok(put)
    }

    /// The same of a config by which the room may have other routes or names, which were compared with those of all rooms.
    ///
    /// That is noted first: should the room's shard be away afterwards, others know that they may not know them.
    pub(super) async fn put_compared(
        &self,
        room: &RoomId,
        config: &RoomConfig,
    ) -> Result<PutOutcome, Problem> {
        self.store.note_routes_change(room).await.map_err(|error| problem_of(&error))?;
        self.put_config(room, config).await
    }

    /// Deletes a room with no more than so many `people` in it, in Redis and in this instance's memory. Redis may lose
    /// the tombstone before anybody else has heard of it, so it is remembered here before that is said.
    pub(super) async fn delete(&self, room: &RoomId, people: u64) -> Result<Deletion, StoreError> {
        let buried = self.store.reset_epoch(room).await?;
        let deleted = self.store.delete_room(room, Some(people)).await?;
        if let Deletion::Occupied(_) = deleted {
            return Ok(deleted);
        }
        if let Some(epoch) = buried {
            self.feed.bury(room.clone(), epoch).await;
        }
        if let Deletion::Done(_) = deleted {
            self.feed.forget(room).await;
        }
        Ok(deleted)
    }

    /// Reads a room that was just changed into memory, without waiting for the push.
    async fn take_in(&self, room: &RoomId) {
        if let Ok(Some(snapshot)) = self.store.read_snapshot(room).await {
            self.feed.receive(snapshot).await;
        }
    }

    async fn is_lost(&self, room: &RoomId) -> Result<bool, StoreError> {
        if self.store.rooms().await?.contains(room) || self.store.schema().await? == 0 {
            return Ok(true);
        }
        let Some(known) = self.feed.room(room.as_str()) else { return Ok(false) };
        // Who restores it has not listed it again yet, unless this instance has not heard of its deletion.
        Ok(self.store.tombstone(room).await? < known.snapshot().reset_epoch)
    }
}

fn may_be_event_id(text: &str) -> bool {
    (1..=LONGEST_EVENT_ID).contains(&text.chars().count())
}
