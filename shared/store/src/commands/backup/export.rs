//! Reading a room for a backup, in the order that the module's documentation gives reasons for.

use std::collections::BTreeMap;

use redis::FromRedisValue;
use serde::Serialize;
use vestibule_domain::{RoomId, presence::chunk::CHUNK_PLACES};

use super::Piece;
use crate::{
    Store, StoreError,
    commands::history::{DAYS_KEPT, day_of},
    keys::{Part, RoomKeys},
    scripts,
};

/// About so many are read with one call: less than a millisecond of Redis's time.
const AT_ONCE: usize = 500;
/// How often counts are read anew, at most. Minutes are closed once a minute.
const TRIES: u32 = 5;

/// As `lib/networks.lua`.
pub(super) const NETWORKS_PERIOD_MS: u64 = 4_200_000;

type Fields = BTreeMap<String, String>;

#[derive(Serialize)]
struct Nothing {}

#[derive(Serialize)]
struct SeatsArguments<'a> {
    of: &'a str,
    cursor: String,
    count: usize,
}

/// The line and the settings, of one moment.
struct Head {
    line: Fields,
    settings: Fields,
}

impl Store {
    /// Copies a room; `None`: there is none, or only a part of it. The line is the last piece.
    ///
    /// # Errors
    /// [`StoreError::Rewound`] if its state may not be the latest, or was reset or put together anew meanwhile, or its
    /// minutes are closed again and again; otherwise see [`StoreError`].
    pub async fn export_room(&self, room: &RoomId) -> Result<Option<Vec<Piece>>, StoreError> {
        let Some(before) = self.export_head(room).await? else { return Ok(None) };
        let mut pieces = Vec::new();
        for of in [Part::Sessions, Part::Tokens] {
            self.export_seats(room, of, &mut pieces).await?;
        }
        self.export_calls(room, &mut pieces).await?;
        self.export_networks(room, &before, &mut pieces).await?;
        let revoked = format!("{}:{}", Part::Revoked.name(), before.reset_epoch());
        for key in [Part::Ended.name(), &revoked, Part::Holds.name(), Part::Rows.name()] {
            self.export_sorted(room, key, &mut pieces).await?;
        }
        self.export_bits(room, before.queue_counter(), &mut pieces).await?;
        for part in [Part::Rate, Part::Draws, Part::Inlet] {
            pieces.push(self.export_hash(room, part.name()).await?);
        }
        self.export_counts(room, &mut pieces).await?;
        let Some(head) = self.export_head(room).await? else { return Ok(None) };
        if head.age() != before.age() {
            return Err(StoreError::Rewound);
        }
        let Head { line, settings } = head;
        pieces.push(Piece::Hash { key: Part::Settings.name().to_owned(), fields: settings });
        pieces.push(Piece::Hash { key: Part::Line.name().to_owned(), fields: line });
        pieces.retain(|piece| !piece.is_empty());
        Ok(Some(pieces))
    }

    async fn export_head(&self, room: &RoomId) -> Result<Option<Head>, StoreError> {
        let (line, settings): (Fields, Fields) =
            self.call_for(&scripts::EXPORT_ROOM, room, &[], &Nothing {}).await?;
        let is_whole = !line.is_empty() && !settings.is_empty();
        Ok(is_whole.then_some(Head { line, settings }))
    }

    /// Sessions or AWS-style tokens, each with its record.
    async fn export_seats(
        &self,
        room: &RoomId,
        of: Part,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), StoreError> {
        let mut cursor = "0".to_owned();
        loop {
            let arguments = SeatsArguments { of: of.name(), cursor, count: AT_ONCE };
            let (next, seats): (String, Vec<(String, String, String)>) =
                self.call_for(&scripts::EXPORT_SEATS, room, &[], &arguments).await?;
            let (mut members, mut fields) = (Fields::new(), Fields::new());
            for (number, score, record) in seats {
                if !record.is_empty() {
                    fields.insert(number.clone(), record);
                }
                members.insert(number, score);
            }
            pieces.push(Piece::Sorted { key: of.name().to_owned(), members });
            pieces.push(Piece::Hash { key: Part::Records.name().to_owned(), fields });
            if next == "0" {
                return Ok(());
            }
            cursor = next;
        }
    }

    pub(super) async fn export_sorted(
        &self,
        room: &RoomId,
        key: &str,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), StoreError> {
        let pages = self.export_pages(room, "ZSCAN", key).await?;
        let piece = |members| Piece::Sorted { key: key.to_owned(), members };
        pieces.extend(pages.into_iter().map(piece));
        Ok(())
    }

    /// What a key holds, in pages, by the command that reads them.
    pub(super) async fn export_pages<P: FromRedisValue>(
        &self,
        room: &RoomId,
        command: &str,
        key: &str,
    ) -> Result<Vec<P>, StoreError> {
        let (mut pages, mut cursor) = (Vec::new(), "0".to_owned());
        loop {
            let mut scan = redis::cmd(command);
            scan.arg(RoomKeys(room).named(key)).arg(&cursor).arg("COUNT").arg(AT_ONCE);
            let (next, page): (String, P) = self.query(&scan).await?;
            pages.push(page);
            if next == "0" {
                return Ok(pages);
            }
            cursor = next;
        }
    }

    /// What was counted. A minute that is closed meanwhile moves from the open ones to those of a day, so it would be
    /// among both or neither: then all are read again.
    async fn export_counts(
        &self,
        room: &RoomId,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), StoreError> {
        for _ in 0..TRIES {
            let (open, closed) = (self.open_counts(room).await?, self.closed_counts(room).await?);
            let after = self.open_counts(room).await?;
            if open.iter().zip(&after).all(|(before, after)| before.is_kept_in(after)) {
                pieces.extend(open.into_iter().chain(closed));
                return Ok(());
            }
        }
        Err(StoreError::Rewound)
    }

    /// What was counted in minutes that are not closed yet.
    async fn open_counts(&self, room: &RoomId) -> Result<[Piece; 2], StoreError> {
        let [traffic, counts] = [Part::Traffic, Part::Counts].map(Part::name);
        Ok([self.export_hash(room, traffic).await?, self.export_hash(room, counts).await?])
    }

    /// What was counted in those that are.
    async fn closed_counts(&self, room: &RoomId) -> Result<Vec<Piece>, StoreError> {
        let today = day_of(self.now_ms_in(room).await? / 60_000);
        let mut pieces = Vec::new();
        for day in today.saturating_sub(DAYS_KEPT)..=today {
            for kept in ["history", "minutes", "ledger"] {
                pieces.push(self.export_hash(room, &format!("{kept}:{day}")).await?);
            }
        }
        Ok(pieces)
    }

    /// All bits by place, up to that of the last number and, since the line grows, a chunk more.
    async fn export_bits(
        &self,
        room: &RoomId,
        queue_counter: u64,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), StoreError> {
        for chunk in 0..=queue_counter / CHUNK_PLACES + 1 {
            for prefix in ["unattended", "entered:pools", "entered"] {
                let key = format!("{prefix}:{chunk}");
                let bytes: Option<Vec<u8>> =
                    self.query(redis::cmd("GET").arg(RoomKeys(room).named(&key))).await?;
                pieces.push(Piece::Bits { key, bytes: bytes.unwrap_or_default() });
            }
        }
        Ok(())
    }

    /// What networks took in the periods that count still, and their seats.
    async fn export_networks(
        &self,
        room: &RoomId,
        line: &Head,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), StoreError> {
        let (epoch, period) = (line.reset_epoch(), line.number("clock_ms") / NETWORKS_PERIOD_MS);
        self.export_network_seats(room, epoch, pieces).await?;
        for period in period.saturating_sub(1)..=period + 1 {
            let key = format!("{}:{epoch}:{period}", Part::Networks.name());
            let pages = self.export_pages(room, "HSCAN", &key).await?;
            pieces.extend(pages.into_iter().map(|fields| Piece::Hash { key: key.clone(), fields }));
        }
        Ok(())
    }

    async fn export_hash(&self, room: &RoomId, key: &str) -> Result<Piece, StoreError> {
        let fields = self.query(redis::cmd("HGETALL").arg(RoomKeys(room).named(key))).await?;
        Ok(Piece::Hash { key: key.to_owned(), fields })
    }
}

// === impl Head ===

impl Head {
    /// Of the state since it was last begun anew: reset epoch and generation.
    fn age(&self) -> (Option<&String>, Option<&String>) {
        (self.line.get("reset_epoch"), self.line.get("generation"))
    }

    fn queue_counter(&self) -> u64 {
        self.number("queue_counter")
    }

    fn reset_epoch(&self) -> u64 {
        self.number("reset_epoch")
    }

    fn number(&self, field: &str) -> u64 {
        self.line.get(field).and_then(|text| text.parse().ok()).unwrap_or(0)
    }
}
