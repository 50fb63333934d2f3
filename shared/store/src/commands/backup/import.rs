//! Putting a copied room into a Redis that has none.

use vestibule_domain::RoomId;

use super::{Piece, export::NETWORKS_PERIOD_MS};
use crate::{
    Ending, Round, Store, StoreError,
    commands::{
        answered_calls::LISTS_KEPT_SECONDS,
        history::{KEPT_SECONDS, MINUTES_KEPT_SECONDS},
    },
    keys::{Part, RoomKeys},
};

/// So many fields, members or endings are written with one call.
const AT_ONCE: usize = 500;
/// As `lib/revoked.lua`.
const REVOKED_KEPT_SECONDS: u64 = 86_400;
/// As `lib/networks.lua`: seats, and what came in two periods.
const NETWORK_SEATS_KEPT_SECONDS: u64 = 21_600;
const NETWORKS_KEPT_SECONDS: u64 = 2 * NETWORKS_PERIOD_MS / 1000;

/// One room on its way into a Redis, piece by piece. Nobody touches it before its line is there, which comes last.
#[derive(Debug)]
pub struct Import<'a> {
    store: &'a Store,
    room: RoomId,
    /// See [`Self::new`].
    unseen: Option<u64>,
    /// Sessions that were ended while others were read.
    endings: Vec<Ending>,
}

// === impl Import ===

impl<'a> Import<'a> {
    /// `unseen`: so many numbers may have been handed out since the copy was made; `None`: none, for nobody could
    /// change the room after that.
    #[must_use]
    pub fn new(store: &'a Store, room: RoomId, unseen: Option<u64>) -> Self {
        Self { store, room, unseen, endings: Vec::new() }
    }

    /// Which room.
    #[must_use]
    pub fn room(&self) -> &RoomId {
        &self.room
    }

    /// Puts a piece back, in the order of the copy.
    ///
    /// # Errors
    /// [`StoreError::Unexpected`] for a piece that this release does not know; otherwise see [`StoreError`].
    pub async fn put(&mut self, piece: Piece) -> Result<(), StoreError> {
        if !piece.is_known() {
            let Self { room, .. } = self;
            return Err(StoreError::unexpected(format_args!(
                "room {room} has a part `{}` that this release does not know",
                piece.key()
            )));
        }
        let name = RoomKeys(&self.room).named(piece.key());
        let kept_seconds = kept_seconds(&piece);
        match piece {
            Piece::Bits { bytes, .. } => {
                self.store.query(redis::cmd("SET").arg(name).arg(bytes)).await
            }
            Piece::Sorted { key, members } => {
                if key == Part::Ended.name() {
                    self.note_endings(&members);
                }
                let pairs: Vec<_> =
                    members.into_iter().map(|(member, score)| (score, member)).collect();
                self.put_kept("ZADD", &name, &pairs, kept_seconds).await
            }
            Piece::Texts { key, texts } => self.store.import_texts(&self.room, &key, texts).await,
            Piece::Set { members, left_ms, .. } => {
                let members: Vec<_> = members.into_iter().collect();
                self.store.query::<()>(redis::cmd("SADD").arg(&name).arg(&members)).await?;
                self.store.query(redis::cmd("PEXPIRE").arg(&name).arg(left_ms)).await
            }
            Piece::Hash { key, fields } => {
                let pairs: Vec<_> = fields.into_iter().collect();
                match key.as_str() {
                    "line" => self.begin(&name, pairs).await,
                    _ if key.starts_with("history:") => self.put_history(&name, &pairs).await,
                    _ => self.put_kept("HSET", &name, &pairs, kept_seconds).await,
                }
            }
        }
    }

    async fn write(
        &self,
        command: &str,
        key: &str,
        pairs: &[(String, String)],
    ) -> Result<(), StoreError> {
        for some in pairs.chunks(AT_ONCE) {
            let mut write = redis::cmd(command);
            write.arg(key);
            for (first, second) in some {
                write.arg(first).arg(second);
            }
            self.store.query::<()>(&write).await?;
        }
        Ok(())
    }

    fn note_endings(&mut self, members: &std::collections::BTreeMap<String, String>) {
        let ending = |(number, expires_at): (&String, &String)| {
            Some(Ending::of_session(number.parse().ok()?, expires_at.parse().ok()?))
        };
        self.endings.extend(members.iter().filter_map(ending));
    }

    /// A minute that is in the history was closed, if it was read in the traffic, too: by an earlier release.
    async fn put_history(&self, name: &str, pairs: &[(String, String)]) -> Result<(), StoreError> {
        self.write("HSET", name, pairs).await?;
        let traffic = RoomKeys(&self.room).key(Part::Traffic);
        for some in pairs.chunks(AT_ONCE) {
            let mut forget = redis::cmd("HDEL");
            forget.arg(&traffic);
            for (field, _) in some {
                forget.arg(field);
            }
            self.store.query::<()>(&forget).await?;
        }
        self.expire(name, KEPT_SECONDS).await
    }

    /// Writes what expires then; `None`: it stays.
    async fn put_kept(
        &self,
        command: &str,
        name: &str,
        pairs: &[(String, String)],
        kept_seconds: Option<u64>,
    ) -> Result<(), StoreError> {
        self.write(command, name, pairs).await?;
        match kept_seconds {
            Some(seconds) => self.expire(name, seconds).await,
            None => Ok(()),
        }
    }

    async fn expire(&self, name: &str, kept_seconds: u64) -> Result<(), StoreError> {
        self.store.query(redis::cmd("EXPIRE").arg(name).arg(kept_seconds)).await
    }

    /// Writes the line: from now on the room is there. The leader opens it.
    async fn begin(&self, name: &str, mut pairs: Vec<(String, String)>) -> Result<(), StoreError> {
        let clock_ms = pairs.iter().find(|(field, _)| field == "clock_ms");
        let clock_ms: u64 = clock_ms.and_then(|(_, text)| text.parse().ok()).unwrap_or(0);
        // The room's time goes on: how far another server's clock was wrong says nothing of this one.
        let ahead = clock_ms.saturating_sub(self.store.server_now_ms().await?);
        let reset_epoch = pairs.iter().find(|(field, _)| field == "reset_epoch");
        let reset_epoch = reset_epoch.and_then(|(_, text)| text.parse().ok()).unwrap_or(0);
        // The list of parts is of another moment than these.
        pairs.retain(|(field, _)| !["clock_ahead", "awaits", "parts"].contains(&field.as_str()));
        pairs.push(("clock_ahead".to_owned(), ahead.to_string()));
        if let Some(unseen) = self.unseen {
            pairs.retain(|(field, _)| field != "suspect");
            pairs.push(("suspect".to_owned(), "restored".to_owned()));
            pairs.push(("unseen".to_owned(), unseen.to_string()));
        }
        self.write("HSET", name, &pairs).await?;
        let round = Round { room: &self.room, name: "", epoch: 0 };
        self.store.rebuild(round, reset_epoch, &[], &self.endings, |_| None).await.map(drop)
    }
}

/// For how long what a piece is of is kept from its last change on; `None`: for good, or the piece says so itself.
fn kept_seconds(piece: &Piece) -> Option<u64> {
    if let Some((what, _)) = piece.of_networks() {
        let is_seats = what == "seats";
        return Some(if is_seats { NETWORK_SEATS_KEPT_SECONDS } else { NETWORKS_KEPT_SECONDS });
    }
    match piece.key().split(':').next() {
        Some("calls" | "networks") => Some(LISTS_KEPT_SECONDS),
        Some("revoked") => Some(REVOKED_KEPT_SECONDS),
        Some("minutes") => Some(MINUTES_KEPT_SECONDS),
        Some("ledger") => Some(KEPT_SECONDS),
        _ => None,
    }
}
