//! Claiming: a visitor whose turn it is enters, if a seat is free or comes free within a moment.

use vestibule_domain::network_limits::{NetworkLimit, NetworkLimitMode};
use vestibule_issuance::Claims;
use vestibule_store::{Claim, ClaimOutcome};
use vestibule_token::{Ending, Seat, Ticket};
use vestibule_traces::{SpanBuilder, child, spanned};

use super::{
    FlowError, Flows, HELD_MS, RoomContext, Status, Stranger, Turn, VisitorResponse,
    responder::VisitorResponder,
    tally::of_limit,
    visitor_response::{Claimant, CurrentTicket},
};

/// Seats of a full network come free when its sessions end: nobody knows when, seconds.
const SEATS_WAIT_S: u32 = 10;

// === impl Flows ===

impl Flows {
    /// Lets the holder of `ticket` take its turn if it has come and a seat is free. Someone inside is
    /// answered as by [`Flows::check_in`].
    ///
    /// # Errors
    /// [`FlowError::ForeignTicket`] if Redis is a reset ahead of the snapshot.
    pub(crate) async fn claim(
        &self,
        room: &RoomContext,
        ticket: Ticket,
        turn: Turn,
    ) -> Result<VisitorResponse, FlowError> {
        match CurrentTicket::presented(ticket, room).claimant() {
            Some(claimant) => self.claim_seat(room, claimant, turn, HELD_MS).await,
            None => self.check_in(room, ticket).await,
        }
    }

    /// Claims for a visitor in line.
    pub(super) async fn claim_seat(
        &self,
        room: &RoomContext,
        claimant: Claimant,
        turn: Turn,
        held_ms: u64,
    ) -> Result<VisitorResponse, FlowError> {
        let responder = VisitorResponder::new(self, room);
        let current = claimant.current();
        if responder.was_revoked(&current.ticket) {
            return responder.respond_revoked(current.ticket);
        }
        // Without Redis this instance cannot know whose turn it is by now: the claim decides.
        if !self.feed.is_away(&room.known) && !responder.may_claim(claimant.waiter()) {
            return responder.respond_waiting(current);
        }
        let claim = Claim { hold: turn == Turn::Hold, held_ms, ..responder.claim_for(&claimant) };
        let claimed = self.held_claims.claim(&room.snapshot.room, claim);
        let reply = match spanned(child(|| SpanBuilder::from_name("claim")), claimed).await {
            Ok(reply) => reply,
            // Unlike a newcomer it has a place, which is its own again when the store is back.
            Err(error) => {
                let kept = current.into_change();
                return responder.respond_without_store(error, kept).await;
            }
        };
        if reply.beyond_seats {
            let only_logs = room.snapshot.settings.network_limit_mode == NetworkLimitMode::Log;
            self.limits.count(NetworkLimit::Seats, 1, only_logs);
        }
        let responder = responder.at(reply.now_ms);
        match reply.outcome {
            ClaimOutcome::Entered(record) | ClaimOutcome::Repeated(record) => {
                responder.respond_inside(current.ticket, &record, reply.generation).await
            }
            ClaimOutcome::Uncounted(record) => {
                responder.respond_inside(current.ticket, &record, Seat::UNCOUNTED).await
            }
            ClaimOutcome::NotServed => responder.respond_with_status(current, Status::Waiting),
            ClaimOutcome::NoSeat => responder.respond_at_door(current),
            ClaimOutcome::NetworkFull => {
                self.tally.refused(room, of_limit(NetworkLimit::Seats));
                let (limit, wait_s) = (NetworkLimit::Seats, SEATS_WAIT_S);
                Err(FlowError::OverLimit { limit, wait_s })
            }
            ClaimOutcome::Held { until_ms } => responder.respond_called(current, until_ms),
            ClaimOutcome::PositionExpired => {
                responder.respond_ended(current.ticket, Ending::Expired)
            }
            ClaimOutcome::SessionEnded if responder.was_revoked(&current.ticket) => {
                responder.respond_revoked(current.ticket)
            }
            ClaimOutcome::SessionEnded => responder.respond_ended(current.ticket, Ending::Closed),
            ClaimOutcome::Stranger => {
                self.strangers.count(Stranger::session);
                Err(FlowError::Stranger)
            }
            ClaimOutcome::Foreign => Err(FlowError::ForeignTicket),
        }
    }
}
