//! Holds the claims of visitors whose turn it is while no seat is free, for up to two seconds. The
//! lowest positions get the next free seats. A free seat is then taken within milliseconds instead of
//! at somebody's next poll.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rustc_hash::FxHashMap;
use tokio::{
    sync::oneshot,
    time::{Instant, sleep},
};
use vestibule_domain::RoomId;
use vestibule_issuance::ClaimBatcher;
use vestibule_runtime::Random;
use vestibule_store::{Claim, ClaimOutcome, ClaimReply, StoreError};

/// How often the lowest ranks claim again.
const RETRY: Duration = Duration::from_millis(50);
/// How many claims are tried together: a few, since mostly no seat is free; when all of them get a
/// reply, at once twice as many of the next ones, and so on up to this.
const AT_FIRST: usize = 4;
const AT_ONCE: usize = 64;
/// How long a request is held. A visitor counts as present for longer than that without polling.
const HOLD: Duration = Duration::from_secs(2);

/// Holds the claims that wait for a seat. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct HeldClaims {
    claims: ClaimBatcher,
    random: Random,
    rooms: Arc<Mutex<FxHashMap<RoomId, Held>>>,
}

/// A room's held claims, by rank; a random number makes the keys of claims with one rank different.
type Held = BTreeMap<(u64, u64), Waiting>;

#[derive(Debug)]
struct Waiting {
    claim: Claim,
    until: Instant,
    reply: oneshot::Sender<Result<ClaimReply, StoreError>>,
}

// === impl HeldClaims ===

impl HeldClaims {
    /// Claims go over `claims`; `random` orders claims of one rank.
    pub(crate) fn new(claims: ClaimBatcher, random: Random) -> Self {
        Self { claims, random, rooms: Arc::default() }
    }

    /// Claims a seat; while there is none, waits for one for a moment. The lowest `rank` goes first:
    /// see `vestibule_domain::poll::rank`.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub(crate) async fn claim(
        &self,
        room: &RoomId,
        claim: Claim,
        rank: u64,
    ) -> Result<ClaimReply, StoreError> {
        if !self.is_holding(room) {
            let first = self.claims.claim(room, claim.clone()).await?;
            if first.outcome != ClaimOutcome::NoSeat {
                return Ok(first);
            }
        }
        let replied = self.hold(room, claim, rank);
        // The sender is dropped only when the process stops.
        replied.await.unwrap_or(Err(StoreError::Overloaded))
    }

    fn is_holding(&self, room: &RoomId) -> bool {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner).contains_key(room)
    }

    fn hold(
        &self,
        room: &RoomId,
        claim: Claim,
        rank: u64,
    ) -> oneshot::Receiver<Result<ClaimReply, StoreError>> {
        let (reply, replied) = oneshot::channel();
        let key = (rank, self.random.number());
        let waiting = Waiting { claim, until: Instant::now() + HOLD, reply };
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        let first = !rooms.contains_key(room);
        rooms.entry(room.clone()).or_default().insert(key, waiting);
        drop(rooms);
        if first {
            tokio::spawn(self.clone().retry(room.clone()));
        }
        replied
    }

    /// Claims again for one room until no claim is held.
    async fn retry(self, room: RoomId) {
        loop {
            sleep(RETRY).await;
            let mut at_once = AT_FIRST;
            while self.let_in(&room, at_once).await {
                at_once = (at_once * 2).min(AT_ONCE);
            }
            let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
            if rooms.get(&room).is_none_or(BTreeMap::is_empty) {
                rooms.remove(&room);
                return;
            }
        }
    }

    /// Claims for the lowest ranks together; returns whether all of them got a reply.
    async fn let_in(&self, room: &RoomId, at_once: usize) -> bool {
        let claiming = self.first_in_line(room, at_once);
        if claiming.is_empty() {
            return false;
        }
        let claims =
            claiming.iter().map(|(_, waiting)| self.claims.claim(room, waiting.claim.clone()));
        let replies = futures_util::future::join_all(claims).await;
        let mut all = true;
        let mut back = Held::new();
        for ((key, waiting), reply) in claiming.into_iter().zip(replies) {
            let no_seat = matches!(&reply, Ok(claimed) if claimed.outcome == ClaimOutcome::NoSeat);
            if no_seat && Instant::now() < waiting.until {
                back.insert(key, waiting);
                all = false;
            } else {
                all &= !no_seat;
                // If the visitor has hung up, its next request finds the session.
                let _ = waiting.reply.send(reply);
            }
        }
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        rooms.entry(room.clone()).or_default().append(&mut back);
        all
    }

    /// Takes the lowest ranks out, and drops those whose visitor has hung up.
    fn first_in_line(&self, room: &RoomId, at_once: usize) -> Vec<((u64, u64), Waiting)> {
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(held) = rooms.get_mut(room) else { return Vec::new() };
        held.retain(|_, waiting| !waiting.reply.is_closed());
        let mut claiming = Vec::new();
        while claiming.len() < at_once
            && let Some(first) = held.pop_first()
        {
            claiming.push(first);
        }
        // Higher ranks that were held for two seconds get a reply now.
        let now = Instant::now();
        let over: Vec<_> =
            held.iter().filter(|(_, waiting)| waiting.until <= now).map(|(key, _)| *key).collect();
        claiming.extend(over.into_iter().filter_map(|key| held.remove_entry(&key)));
        claiming
    }
}
