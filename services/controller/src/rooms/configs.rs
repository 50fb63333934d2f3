//! The configs of all rooms at once: as Redis holds them or, of rooms whose shard is away, as this instance remembers them.

use std::collections::BTreeMap;

use futures_util::{StreamExt, stream};
use vestibule_domain::{RoomId, schedule::RoomConfig};
use vestibule_store::{KnownRoom, StoreError};

use super::directory::RoomDirectory;
use crate::away::{Away, is_away};

/// So many configs are read at a time.
const READS: usize = 64;
/// After so long a change of routes that was noted is over: twice as long as its lease, since clocks differ.
const OVER_AFTER_MS: u64 = 20_000;

/// What Redis answered about a room's config; `None`: there is no such room.
type ReadConfig = Result<Option<RoomConfig>, StoreError>;

// === impl RoomDirectory ===

impl RoomDirectory {
    /// Every room's config, by name: as Redis holds it this moment or, of a room whose shard is away, as this instance
    /// remembers it. That one may have been changed since, for a moment.
    ///
    /// # Errors
    /// See [`StoreError`]; of a room whose shard is away, if this instance does not know its config.
    pub(crate) async fn read_configs(&self) -> Result<Vec<(RoomId, RoomConfig)>, StoreError> {
        let mut configs = Vec::new();
        for (room, read) in self.read_each().await? {
            let config = match read {
                Ok(config) => config,
                Err(error) => {
                    Some(self.remembered(&room).filter(|_| is_away(&error)).ok_or(error)?)
                }
            };
            // A room that has just been deleted is left out.
            configs.extend(config.map(|config| (room, config)));
        }
        Ok(configs)
    }

    /// The same for what must be true of all of them, such as that no two have the same routes: what is remembered of a
    /// room whose shard is away counts only if it is surely the latest, see [`is_latest`].
    ///
    /// # Errors
    /// As [`Self::read_configs`]; of a room whose shard is away also if it may have been changed since.
    pub(crate) async fn latest_configs(&self) -> Result<Vec<(RoomId, RoomConfig)>, StoreError> {
        let (mut configs, mut away) = (Vec::new(), BTreeMap::new());
        for (room, read) in self.read_each().await? {
            match read {
                Ok(config) => configs.extend(config.map(|config| (room, config))),
                Err(error) if is_away(&error) => drop(away.insert(room, error)),
                Err(error) => return Err(error),
            }
        }
        if away.is_empty() {
            return Ok(configs);
        }
        let (changed, now_ms) = (self.store.routes_changed().await?, self.store.now_ms().await?);
        for (room, error) in away {
            let known = self.feed.room(room.as_str());
            let latest = known.filter(|known| is_latest(known, changed.of(&room), now_ms));
            let config = latest.and_then(|_| self.remembered(&room)).ok_or(error)?;
            configs.push((room, config));
        }
        configs.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(configs)
    }

    /// Every room that is listed, by name, with its config as Redis holds it. A shard that is away is not asked for each of
    /// its rooms.
    async fn read_each(&self) -> Result<Vec<(RoomId, ReadConfig)>, StoreError> {
        let away = &Away::default();
        let read = async |room: RoomId| {
            let read = away.ask(&self.store, &room, self.store.read_config(&room)).await;
            (room, read)
        };
        Ok(stream::iter(self.store.rooms().await?).map(read).buffered(READS).collect().await)
    }

    fn remembered(&self, room: &RoomId) -> Option<RoomConfig> {
        Some(self.feed.room(room.as_str())?.stored_config()?.config.clone())
    }
}

/// Whether the config that this instance remembers of a room is the one that Redis holds, though the room's shard cannot be
/// asked at `now_ms`. `changed_ms`: when a change of its routes or names was noted last.
///
/// Whoever changes these holds the lease of routes, and notes the change where that lease is before it makes it. So who
/// holds the lease now knows of every such change, whether its maker could say what came of it or not. A snapshot that
/// was made when that was over names the version of the config that there is since. Another instance may reach the shard
/// while this one does not; it must note its changes all the same.
fn is_latest(known: &KnownRoom, changed_ms: u64, now_ms: u64) -> bool {
    let last = known.snapshot();
    // Clocks of servers may differ, and a push may have been late.
    let age = u64::try_from(known.age().as_millis()).unwrap_or(u64::MAX);
    let made_ms = last.now_ms.min(now_ms.saturating_sub(age));
    let is_of_it =
        known.stored_config().is_some_and(|stored| stored.config.version == last.config_version);
    is_of_it && made_ms >= changed_ms.saturating_add(OVER_AFTER_MS)
}
