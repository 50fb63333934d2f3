//! Joining: queue numbers for newcomers, and a seat at once when nobody waits.

use vestibule_domain::{RoomId, regions::Taken};

use super::keys;
use crate::{Store, StoreError, keys::Part, scripts};

/// Whether newcomers take a seat at once if one is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JoinMode {
    /// Yes: the visitor's calls.
    Enter,
    /// No, they claim it later: the AWS-style calls.
    Queue,
}

/// A batch of newcomers.
#[derive(Debug, Clone)]
pub struct Join<'a> {
    /// The region where they arrived.
    pub region: &'a str,
    /// How many they are.
    pub count: u64,
    /// Whether they take seats at once.
    pub mode: JoinMode,
    /// The reset epoch of what the caller has seen.
    pub known_reset_epoch: u64,
    /// The highest queue number that it has seen: the store may have lost its last writes.
    pub known_queue_counter: u64,
    /// Which key signs the tokens of those who enter.
    pub key_id: &'a str,
    /// The issuer of their tokens.
    pub issuer: &'a str,
}

/// The numbers of a batch: `first`, `first + 1`, …
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Joined {
    /// Redis's time, ms.
    pub now_ms: u64,
    /// The room's reset epoch, which request ids are sealed for.
    pub reset_epoch: u64,
    /// The room's generation, which seats are noted for.
    pub generation: u32,
    /// The first queue number.
    pub first: u64,
    /// How many of the batch, from the first on, have entered.
    pub seated: u64,
    /// Whether the room is suspended: everyone enters, uncounted.
    pub suspended: bool,
    /// The serving counter, after the join.
    pub serving_counter: i64,
    /// When tokens of those who entered were issued, unix seconds.
    pub issued_at: u64,
    /// When they expire, unix seconds.
    pub expires_at: u64,
    /// Sessions that ever began in this room.
    pub admitted: u64,
    /// The index of the draw that they wait for.
    pub pool: Option<u32>,
    /// Where the seats of those who entered came from.
    pub taken: Taken,
}

type Answer = (u64, u64, u32, u64, i64, i64, u64, u64, u64, i64, (u64, u64, u64));

impl Store {
    /// Reserves queue numbers for a batch of newcomers.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], or as for every call to Redis.
    pub async fn join(&self, room: &RoomId, join: &Join<'_>) -> Result<Joined, StoreError> {
        let parts = [
            Part::Line,
            Part::Settings,
            Part::Sessions,
            Part::Records,
            Part::Tokens,
            Part::Entered,
            Part::Rate,
            Part::Rows,
            Part::Grants,
            Part::Traffic,
            Part::Unattended,
            Part::Presence,
        ];
        let mut call = self.timed(&scripts::JOIN, &keys(room, parts));
        call.arg(join.region).arg(join.count).arg(match join.mode {
            JoinMode::Enter => "enter",
            JoinMode::Queue => "queue",
        });
        call.arg(join.known_reset_epoch).arg(join.known_queue_counter);
        call.arg(join.key_id).arg(join.issuer);
        let (
            now_ms,
            reset_epoch,
            generation,
            first,
            seated,
            serving_counter,
            issued_at,
            expires_at,
            admitted,
            pool,
            (own, anywhere, lent),
        ) = self.run::<Answer>(&call).await?;
        Ok(Joined {
            now_ms,
            reset_epoch,
            generation,
            first,
            seated: u64::try_from(seated).unwrap_or(0),
            suspended: seated < 0,
            serving_counter,
            issued_at,
            expires_at,
            admitted,
            pool: u32::try_from(pool).ok(),
            taken: Taken { own, anywhere, lent },
        })
    }
}
