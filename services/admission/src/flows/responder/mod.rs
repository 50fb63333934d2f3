//! Makes the responses to visitors: from a ticket and the room's state to a [`VisitorResponse`]. What a
//! call does before that is in its flow; the rules are in `vestibule_domain::poll`.

mod ended;
mod endless;
mod fail_open;
mod inside;
mod status;
mod waiting;

use std::sync::Arc;

use vestibule_domain::{
    Waiter, poll,
    presence::{Band, Spot},
};
use vestibule_issuance::RoomCiphers;
use vestibule_store::{Claim, SessionKind};

use super::{
    CookieChange, Flows, HELD_MS, RoomContext, VisitorResponse, VisitorStatus,
    visitor_response::{Claimant, CurrentTicket},
};
use crate::batching::RoomState;

/// Makes the answer to one call.
#[derive(Debug)]
pub(super) struct VisitorResponder<'a> {
    flows: &'a Flows,
    room: &'a RoomContext,
    ciphers: &'a Arc<RoomCiphers>,
    now_ms: u64,
}

// === impl VisitorResponder ===

impl<'a> VisitorResponder<'a> {
    /// A responder at the time that follows from the room's last snapshot.
    pub(super) fn new(flows: &'a Flows, room: &'a RoomContext) -> Self {
        Self { flows, room, ciphers: &room.ciphers, now_ms: room.known.now_ms() }
    }

    /// The same, at the time of a reply of Redis.
    pub(super) fn at(self, now_ms: u64) -> Self {
        Self { now_ms, ..self }
    }

    /// The same, for a ticket of the reset epoch of `ciphers`.
    pub(super) fn with_ciphers(self, ciphers: &'a Arc<RoomCiphers>) -> Self {
        Self { ciphers, ..self }
    }

    /// Redis's time in ms, as far as this instance knows it.
    pub(super) fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// Whether `waiter` may enter, as far as this instance knows.
    pub(super) fn may_enter(&self, waiter: &Waiter) -> bool {
        poll::may_enter(&self.room.snapshot, waiter, self.win_threshold(waiter))
    }

    /// Whether only a claim can tell whether `waiter` may enter.
    pub(super) fn may_claim(&self, waiter: &Waiter) -> bool {
        poll::may_claim(&self.room.snapshot, waiter, self.win_threshold(waiter))
    }

    /// The claim of `claimant`, by what this instance knows.
    pub(super) fn claim_for(&self, claimant: &Claimant) -> Claim {
        let (snapshot, waiter) = (&self.room.snapshot, claimant.waiter());
        Claim {
            reset_epoch: snapshot.reset_epoch,
            place: waiter.place,
            position: snapshot.position(waiter.place.number),
            rank: poll::rank(snapshot, waiter, self.win_threshold(waiter)),
            draws: snapshot.draws.len(),
            won: poll::has_won(snapshot, waiter, self.win_threshold(waiter)),
            kind: SessionKind::Visitor,
            held_ms: HELD_MS,
            hold: false,
            request_id: String::new(),
            issuer: self.issuer().to_owned(),
            validity_seconds: None,
            network: self.room.claim_network(),
            max_session_seconds: snapshot.settings.max_session_seconds,
            caller: self.room.claiming(),
        }
    }

    /// The threshold that `waiter` must reach to win, which only random rooms have.
    fn win_threshold(&self, waiter: &Waiter) -> f64 {
        if self.room.snapshot.settings.queueing_method.rules().is_ordered() {
            return f64::INFINITY;
        }
        self.ciphers.win_thresholds.threshold(waiter.place.number)
    }

    /// The issuer of the room's tokens.
    fn issuer(&self) -> &str {
        let issuer = self.room.snapshot.settings.issuer.as_deref();
        issuer.unwrap_or(&self.flows.public_url)
    }

    /// Counts a visitor as there.
    pub(in crate::flows) fn check_in(&self, check_in: (Spot, Band)) {
        let snapshot = &self.room.snapshot;
        let state = RoomState {
            room: snapshot.room.clone(),
            reset_epoch: snapshot.reset_epoch,
            generation: snapshot.generation,
        };
        self.flows.check_ins.check_in(state, check_in, self.now_ms);
    }

    fn response(&self, status: VisitorStatus, cookie: CookieChange) -> VisitorResponse {
        VisitorResponse { status, cookie, ciphers: Arc::clone(self.ciphers) }
    }
}
