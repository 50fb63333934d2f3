//! Holds the claims of visitors whose turn it is while no seat is free, for as long as each says. Redis
//! decides who gets the next free seat, by rank; here the lowest ranks ask first. A free seat is then taken
//! within milliseconds instead of at somebody's next poll. Redis is asked only when there may be a seat, or
//! a claim that it has not seen.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rustc_hash::FxHashMap;
use tokio::{
    sync::oneshot,
    time::{Instant, sleep},
};
use vestibule_domain::RoomId;
use vestibule_issuance::{ClaimBatcher, Claims};
use vestibule_runtime::Random;
use vestibule_store::{Claim, ClaimOutcome, ClaimReply, Feed, StoreError};
use vestibule_traces::{Span, current, within};

use super::claims_of_place::ClaimsOfPlace;

/// How soon after the news that a seat may be free the lowest ranks claim again.
const RETRY: Duration = Duration::from_millis(50);
/// How many claims are tried together: a few, since mostly no seat is free; when all of them get
/// one, at once twice as many of the next ones, and so on up to this.
const AT_FIRST: usize = 4;
const AT_ONCE: usize = 64;
/// How many at first when seats are known to be free by now: several may be, and whoever does not ask for
/// its own soon is passed.
const AT_DUE: usize = 16;

/// Holds the claims that wait for a seat. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct HeldClaims {
    claims: ClaimBatcher,
    feed: Feed,
    random: Random,
    rooms: Arc<Mutex<FxHashMap<RoomId, Held>>>,
    of_place: ClaimsOfPlace,
}

/// A room's held claims.
#[derive(Debug, Default)]
struct Held {
    /// By rank; a random number makes the keys of claims with one rank different.
    waiting: BTreeMap<(u64, u64), Waiting>,
    /// When a seat may be free by itself.
    free_at: Option<Instant>,
    /// What was known of the room when Redis was last asked: see `KnownRoom::news`.
    news: Option<u64>,
}

#[derive(Debug)]
struct Waiting {
    claim: Claim,
    until: Instant,
    /// What Redis last said; `None`: it has not seen the claim while it is held.
    last: Option<ClaimReply>,
    /// The visitor's span, if it is recorded.
    span: Option<Span>,
    reply: oneshot::Sender<Result<ClaimReply, StoreError>>,
}

// === impl HeldClaims ===

impl HeldClaims {
    /// Claims go over `claims`; `feed` has the news of rooms; `random` orders claims of one rank.
    pub(crate) fn new(claims: ClaimBatcher, feed: Feed, random: Random) -> Self {
        let of_place = ClaimsOfPlace::default();
        Self { claims, feed, random, rooms: Arc::default(), of_place }
    }

    /// See [`ClaimBatcher::drop_idle`].
    pub(crate) fn drop_idle(&self) {
        self.claims.drop_idle();
    }

    fn hold(&self, room: &RoomId, waiting: Waiting) {
        let key = (waiting.claim.rank, self.random.number());
        let mut rooms = self.lock();
        let first = !rooms.contains_key(room);
        rooms.entry(room.clone()).or_default().waiting.insert(key, waiting);
        drop(rooms);
        if first {
            tokio::spawn(self.clone().retry(room.clone()));
        }
    }

    /// Claims again for one room until no claim is held.
    async fn retry(self, room: RoomId) {
        loop {
            sleep(RETRY).await;
            if let Some(mut at_once) = self.may_be_free(&room) {
                while self.let_in(&room, at_once).await {
                    at_once = (at_once * 2).min(AT_ONCE);
                }
            }
            let mut rooms = self.lock();
            if rooms.get_mut(&room).is_none_or(|held| held.let_go(Instant::now())) {
                rooms.remove(&room);
                return;
            }
        }
    }

    /// How many to try, if there is a reason to ask Redis. From now on the news are known.
    fn may_be_free(&self, room: &RoomId) -> Option<usize> {
        let news = self.feed.room(room.as_str()).map(|known| known.news());
        let mut rooms = self.lock();
        let held = rooms.get_mut(room)?;
        let is_news = news.is_none() || held.news != news;
        held.news = news;
        if held.free_at.is_some_and(|at| at <= Instant::now()) {
            return Some(AT_DUE);
        }
        let is_unseen = held.waiting.values().any(|waiting| waiting.last.is_none());
        (is_news || is_unseen).then_some(AT_FIRST)
    }

    /// Claims for the lowest ranks together, and for those whom Redis has not seen; returns whether the next ones may get
    /// seats, too.
    async fn let_in(&self, room: &RoomId, at_once: usize) -> bool {
        let claiming = match self.lock().get_mut(room) {
            Some(held) => held.take_first(at_once),
            None => return false,
        };
        if claiming.is_empty() {
            return false;
        }
        let claims = claiming.iter().map(|(_, waiting)| {
            within(waiting.span.clone(), self.claims.claim(room, waiting.claim_now()))
        });
        let replies = futures_util::future::join_all(claims).await;
        let mut all = true;
        let mut rooms = self.lock();
        let held = rooms.entry(room.clone()).or_default();
        held.free_at = None;
        for ((key, waiting), reply) in claiming.into_iter().zip(replies) {
            match reply {
                Ok(reply) if reply.outcome == ClaimOutcome::NoSeat => {
                    all = false;
                    held.put_back(key, waiting, reply);
                }
                // If the visitor has hung up, its next request finds the session.
                reply => {
                    // Nor would Redis answer the next ones: they are not kept waiting for that beyond their time.
                    all &= reply.is_ok();
                    drop(waiting.reply.send(reply));
                }
            }
        }
        all
    }

    /// Answers one of too many claims of its place as the others would be if their time were over.
    async fn answer_now(&self, room: &RoomId, claim: Claim) -> Result<ClaimReply, StoreError> {
        let last = self.lock().get(room).and_then(|held| held.last_of(&claim).cloned());
        match last {
            Some(last) => Ok(last),
            None => self.claims.claim(room, claim).await,
        }
    }

    fn lock(&self) -> MutexGuard<'_, FxHashMap<RoomId, Held>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Claims for HeldClaims {
    /// Claims a seat; while there is none for it, waits for one, for as long as `claim` says, unless a few claims of the
    /// same place wait already.
    async fn claim(&self, room: &RoomId, claim: Claim) -> Result<ClaimReply, StoreError> {
        let Some(_counted) = self.of_place.begin(room, claim.place) else {
            return self.answer_now(room, claim).await;
        };
        let mut last = None;
        if !self.lock().contains_key(room) {
            let first = self.claims.claim(room, claim.clone()).await?;
            if first.outcome != ClaimOutcome::NoSeat {
                return Ok(first);
            }
            last = Some(first);
        }
        let (reply, replied) = oneshot::channel();
        let until = Instant::now() + Duration::from_millis(claim.held_ms);
        self.hold(room, Waiting { claim, until, last, span: current(), reply });
        // The sender is dropped only when the process stops.
        replied.await.unwrap_or(Err(StoreError::Overloaded))
    }
}

// === impl Waiting ===

impl Waiting {
    /// Its claim, with the time for which it is still held.
    fn claim_now(&self) -> Claim {
        let left = self.until.saturating_duration_since(Instant::now());
        let held_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        Claim { held_ms, ..self.claim.clone() }
    }
}

// === impl Held ===

impl Held {
    /// Takes the lowest ranks out, and those whom Redis has not seen; drops those whose visitor has
    /// hung up.
    fn take_first(&mut self, at_once: usize) -> Vec<((u64, u64), Waiting)> {
        self.waiting.retain(|_, waiting| !waiting.reply.is_closed());
        let mut nth = 0;
        let is_next = |_: &(u64, u64), waiting: &mut Waiting| {
            nth += 1;
            nth <= at_once || waiting.last.is_none()
        };
        self.waiting.extract_if(.., is_next).collect()
    }

    /// What Redis last said to a claim of the same place that waits.
    fn last_of(&self, claim: &Claim) -> Option<&ClaimReply> {
        let of_rank = self.waiting.range((claim.rank, 0)..=(claim.rank, u64::MAX));
        let mut of_place = of_rank.filter(|(_, waiting)| waiting.claim.place == claim.place);
        of_place.find_map(|(_, waiting)| waiting.last.as_ref())
    }

    fn put_back(&mut self, key: (u64, u64), waiting: Waiting, reply: ClaimReply) {
        let after =
            reply.free_at_ms.map(|at| Duration::from_millis(at.saturating_sub(reply.now_ms)));
        self.free_at =
            self.free_at.into_iter().chain(after.map(|after| Instant::now() + after)).min();
        self.waiting.insert(key, Waiting { last: Some(reply), ..waiting });
    }

    /// Answers those who were held for long enough; returns whether none is left. Who came while others were asked for has
    /// not been seen by Redis, and is next, however short its time.
    fn let_go(&mut self, now: Instant) -> bool {
        let is_over =
            |_: &(u64, u64), waiting: &mut Waiting| waiting.last.is_some() && waiting.until <= now;
        for (_, waiting) in self.waiting.extract_if(.., is_over) {
            let last = waiting.last.ok_or(StoreError::Overloaded);
            let _ = waiting.reply.send(last);
        }
        self.waiting.is_empty()
    }
}
