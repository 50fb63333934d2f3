//! The door: visitors whose turn it is and who found no seat are held here for a moment, and as
//! seats come free the lowest positions get them first. A seat is then taken within a blink, not
//! at someone's next poll.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::oneshot,
    time::{Instant, sleep},
};
use vestibule_domain::RoomId;
use vestibule_issuance::ClaimBatcher;
use vestibule_store::{Claim, ClaimOutcome, ClaimReply, StoreError};

/// How often the first in line ask again.
const LOOK: Duration = Duration::from_millis(50);
/// How many ask together. When all of them get in, the next ones ask at once.
const AT_ONCE: usize = 64;
/// How long a request is held; well within what a visitor counts as present without polling.
const HOLD: Duration = Duration::from_secs(2);

/// Holds those who wait for a seat. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct HeldClaims {
    claims: ClaimBatcher,
    rooms: Arc<Mutex<HashMap<RoomId, Held>>>,
}

/// Those who are held, by rank; the number tells requests of one rank apart.
type Held = BTreeMap<(u64, u64), Waiting>;

#[derive(Debug)]
struct Waiting {
    claim: Claim,
    until: Instant,
    answer: oneshot::Sender<Result<ClaimReply, StoreError>>,
}

// === impl HeldClaims ===

impl HeldClaims {
    /// A door whose claims go over `claims`.
    pub(crate) fn new(claims: ClaimBatcher) -> Self {
        Self { claims, rooms: Arc::default() }
    }

    /// Claims a seat; while there is none, waits for one for a moment. The lowest `rank` goes first:
    /// see `vestibule_domain::poll::rank`.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub(crate) async fn claim(
        &self,
        room: &RoomId,
        claim: Claim,
        rank: u64,
    ) -> Result<ClaimReply, StoreError> {
        if !self.is_kept(room) {
            let first = self.claims.claim(room, claim.clone()).await?;
            if first.outcome != ClaimOutcome::NoSeat {
                return Ok(first);
            }
        }
        // Others are held already: whoever comes now stands among them by its rank.
        let answered = self.hold(room, claim, rank);
        // Without an answer the keeper is gone: the process is stopping.
        answered.await.unwrap_or(Err(StoreError::Overloaded))
    }

    fn is_kept(&self, room: &RoomId) -> bool {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner).contains_key(room)
    }

    #[expect(clippy::disallowed_methods, reason = "tells claims of one position apart")]
    fn hold(
        &self,
        room: &RoomId,
        claim: Claim,
        rank: u64,
    ) -> oneshot::Receiver<Result<ClaimReply, StoreError>> {
        let (answer, answered) = oneshot::channel();
        let key = (rank, rand::random());
        let waiting = Waiting { claim, until: Instant::now() + HOLD, answer };
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        let first = !rooms.contains_key(room);
        rooms.entry(room.clone()).or_default().insert(key, waiting);
        drop(rooms);
        if first {
            tokio::spawn(self.clone().keep(room.clone()));
        }
        answered
    }

    /// Keeps one room's door until nobody is held.
    async fn keep(self, room: RoomId) {
        loop {
            sleep(LOOK).await;
            while self.let_in(&room).await {}
            let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
            if rooms.get(&room).is_none_or(BTreeMap::is_empty) {
                rooms.remove(&room);
                return;
            }
        }
    }

    /// The first in line ask together; says whether all of them got an answer.
    async fn let_in(&self, room: &RoomId) -> bool {
        let asking = self.first_in_line(room);
        if asking.is_empty() {
            return false;
        }
        let claims =
            asking.iter().map(|(_, waiting)| self.claims.claim(room, waiting.claim.clone()));
        let answers = futures_util::future::join_all(claims).await;
        let mut all = true;
        let mut back = Held::new();
        for ((key, waiting), answer) in asking.into_iter().zip(answers) {
            let no_seat = matches!(&answer, Ok(claimed) if claimed.outcome == ClaimOutcome::NoSeat);
            if no_seat && Instant::now() < waiting.until {
                back.insert(key, waiting);
                all = false;
            } else {
                all &= !no_seat;
                // Whoever has gone meanwhile finds the session at the next request.
                let _ = waiting.answer.send(answer);
            }
        }
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        rooms.entry(room.clone()).or_default().append(&mut back);
        all
    }

    /// Takes the lowest ranks out, and drops those whose visitor has hung up.
    fn first_in_line(&self, room: &RoomId) -> Vec<((u64, u64), Waiting)> {
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(held) = rooms.get_mut(room) else { return Vec::new() };
        held.retain(|_, waiting| !waiting.answer.is_closed());
        let mut asking = Vec::new();
        while asking.len() < AT_ONCE
            && let Some(first) = held.pop_first()
        {
            asking.push(first);
        }
        // Those further back whose time is over are sent home for now.
        let now = Instant::now();
        let over: Vec<_> =
            held.iter().filter(|(_, waiting)| waiting.until <= now).map(|(key, _)| *key).collect();
        asking.extend(over.into_iter().filter_map(|key| held.remove_entry(&key)));
        asking
    }
}
