//! How many requests for the site each session makes at this instance, where its room has a limit. The rule is
//! [`vestibule_domain::request_rate`].
//!
//! Bounded: of more sessions than are kept, those that ask least are forgotten, and begin anew.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use quick_cache::sync::Cache;
use vestibule_domain::{
    RoomId,
    request_rate::{TooOften, once_more},
};
use vestibule_token::Ticket;

use crate::flows::RoomContext;

/// So many sessions are kept, about 150 bytes each.
const KEPT: usize = 65_536;

/// For how long a refusal is remembered, ms: a gateway may ask for the page a moment later.
const REFUSED_FOR_MS: u64 = 1_000;

/// The sessions and their requests.
pub(crate) struct RequestLimits(Cache<Session, Arc<Requests>>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Session {
    room: RoomId,
    reset_epoch: u64,
    number: u64,
}

#[derive(Debug, Default)]
struct Requests {
    /// Until when they are paid for, unix µs.
    paid_until: AtomicU64,
    /// When one was refused last, unix ms.
    refused_at: AtomicU64,
}

// === impl RequestLimits ===

impl RequestLimits {
    /// Counts a request of the session of `ticket`, if there is one. A ticket of somebody who waits has none; if it turns
    /// out to be one of before a claim, [`Self::count_late`] counts it, and what was refused then is refused here.
    ///
    /// # Errors
    /// [`TooOften`], which counts nothing.
    pub(super) fn count(&self, room: &RoomContext, ticket: &Ticket) -> Result<(), TooOften> {
        if ticket.seat().is_some() {
            return self.count_late(room, ticket);
        }
        let refused = self.has_refused(room, ticket);
        if refused { Err(TooOften { wait_ms: REFUSED_FOR_MS }) } else { Ok(()) }
    }

    /// Counts a request of the session of `ticket`, which has one, though the ticket may not say so.
    ///
    /// # Errors
    /// [`TooOften`], which counts nothing.
    pub(super) fn count_late(&self, room: &RoomContext, ticket: &Ticket) -> Result<(), TooOften> {
        let Some((limit, session)) = limited(room, ticket) else { return Ok(()) };
        let now_ms = room.known.now_ms();
        let made = || Ok::<_, std::convert::Infallible>(Arc::<Requests>::default());
        let Ok(requests) = self.0.get_or_insert_with(&session, made);
        let mut refused = None;
        let counted = requests.paid_until.fetch_update(Relaxed, Relaxed, |paid_until| {
            once_more(paid_until, now_ms, limit).map_err(|wait| refused = Some(wait)).ok()
        });
        match (counted, refused) {
            (Err(_), Some(refused)) => {
                requests.refused_at.store(now_ms, Relaxed);
                Err(refused)
            }
            _ => Ok(()),
        }
    }

    /// Whether a request of this session was refused a moment ago. Counts nothing.
    pub(crate) fn has_refused(&self, room: &RoomContext, ticket: &Ticket) -> bool {
        let requests = limited(room, ticket).and_then(|(_, session)| self.0.get(&session));
        let refused_at = requests.map_or(0, |requests| requests.refused_at.load(Relaxed));
        room.known.now_ms().saturating_sub(refused_at) < REFUSED_FOR_MS
    }
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self(Cache::new(KEPT))
    }
}

impl std::fmt::Debug for RequestLimits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("RequestLimits").field(&self.0.len()).finish()
    }
}

/// The limit of the room, and the session that it holds for, if there is one.
fn limited(room: &RoomContext, ticket: &Ticket) -> Option<(u64, Session)> {
    let limit = room.snapshot.settings.requests_per_session_per_second?;
    let (reset_epoch, number) = (room.ciphers.reset_epoch, ticket.waiter.place.number);
    Some((limit, Session { room: room.snapshot.room.clone(), reset_epoch, number }))
}
