//! Joining: queue numbers for newcomers, and seats at once if nobody waits.

use vestibule_domain::{RoomId, regions::Taken};
use vestibule_history::Call;

use crate::{
    Store, StoreError,
    positional::NO_ITEMS,
    recording::answers,
    scripts::{
        self,
        order::join::{Arguments, Reply},
    },
};

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
    /// The reset epoch of `known_queue_counter`.
    pub known_reset_epoch: u64,
    /// The highest queue number that the caller has seen. The script continues after it if the store
    /// has lost its last writes.
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
    /// How many of the batch have entered: the lowest numbers.
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
    /// The index of the draw that they wait for; `None`: of none.
    pub pool: Option<u32>,
    /// Which regions' slots were used by those who entered.
    pub taken: Taken,
}

impl Store {
    /// Reserves queue numbers for a batch of newcomers.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn join(&self, room: &RoomId, join: &Join<'_>) -> Result<Joined, StoreError> {
        let arguments = Arguments {
            region: join.region,
            count: join.count,
            mode: match join.mode {
                JoinMode::Enter => "enter",
                JoinMode::Queue => "queue",
            },
            known_reset_epoch: join.known_reset_epoch,
            known_queue_counter: join.known_queue_counter,
            key_id: join.key_id,
            issuer: join.issuer,
        };
        let noting = self.noting(Some(room), || vec![Call::Join { count: join.count }]).await;
        let reply = self.call_in_order::<_, _, Reply>(&scripts::JOIN, room, &arguments, NO_ITEMS);
        let joined = reply.await.map(Joined::from);
        if let Some(noting) = noting {
            let at = |joined: &Joined| Some(joined.now_ms);
            noting.settle(&joined, at, |joined| vec![answers::joined(join, joined)]);
        }
        joined
    }
}

// === impl Joined ===

impl From<Reply> for Joined {
    fn from(reply: Reply) -> Self {
        Self {
            now_ms: reply.now_ms,
            reset_epoch: reply.reset_epoch,
            generation: reply.generation,
            first: reply.first,
            seated: reply.seated,
            suspended: reply.suspended,
            serving_counter: reply.serving_counter,
            issued_at: reply.issued_at,
            expires_at: reply.expires_at,
            admitted: reply.admitted,
            pool: reply.pool,
            taken: Taken { own: reply.own, anywhere: reply.anywhere, lent: reply.lent },
        }
    }
}
