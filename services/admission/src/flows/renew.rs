//! Visitors inside: whether a session must still be alive, from memory, and renewing it with its
//! token when a visitor was seen.

use vestibule_store::{StoreError, Touch, Touched};
use vestibule_token::{Ending, Seat, Ticket};

use super::{
    CookieChange, FlowError, Flows, RoomContext, Stranger, VisitorResponse,
    responder::VisitorResponder,
};

// === impl Flows ===

impl Flows {
    /// Whether the session of `ticket` must still be alive: Redis saw it not long ago, and it was not
    /// ended since. Does not ask Redis.
    pub(crate) fn is_inside(&self, room: &RoomContext, ticket: &Ticket) -> bool {
        let Some(seat) = ticket.seat() else { return false };
        let (snapshot, now_ms) = (&room.snapshot, room.known.now_ms());
        let unseen_ms = now_ms.saturating_sub(ticket.waiter.heard_at);
        let (reset_epoch, number) = (snapshot.reset_epoch, ticket.waiter.place.number);
        // While Redis is away, those inside stay inside; but nobody whose end was ever heard of.
        let is_away = self.feed.is_away(&room.known);
        let fresh = unseen_ms < snapshot.settings.recheck_ms() || is_away;
        fresh
            && seat.generation == snapshot.generation
            && seat.expires_at * 1000 > now_ms
            && !room.known.has_ended(reset_epoch, number)
    }

    /// Keeps the session of `seat` alive and answers with a token.
    pub(super) async fn renew(
        &self,
        room: &RoomContext,
        ticket: Ticket,
        seat: Seat,
    ) -> Result<VisitorResponse, FlowError> {
        let responder = VisitorResponder::new(self, room);
        if room.snapshot.settings.suspended {
            return self.renew_in_suspended(room, ticket, seat).await;
        }
        let touch = touch_for(room, &ticket, &seat);
        let touched = match self.touches.touch(&room.snapshot.room, touch).await {
            Ok(touched) => touched,
            Err(error) if error.is_temporary() => {
                return self.renew_without_store(room, (ticket, seat), error).await;
            }
            Err(error) => return Err(error.into()),
        };
        if touched.is_stranger {
            self.strangers.count(Stranger::session);
            return Err(FlowError::Stranger);
        }
        let responder = responder.at(touched.now_ms);
        match touched.session {
            Some(record) => responder.respond_inside(ticket, &record, touched.generation).await,
            None if seat.expires_at <= touched.now_ms / 1000 => {
                responder.respond_ended(ticket, Ending::Expired)
            }
            None => responder.respond_ended(ticket, Ending::Closed),
        }
    }

    /// While the store is away, a session goes on if its ticket says that it must still be alive. After that its holder
    /// passes where the room fails open, as a newcomer does, and keeps its ticket.
    async fn renew_without_store(
        &self,
        room: &RoomContext,
        (ticket, seat): (Ticket, Seat),
        error: StoreError,
    ) -> Result<VisitorResponse, FlowError> {
        let responder = VisitorResponder::new(self, room);
        // What is known to have ended stays so, though nobody can be asked.
        let (reset_epoch, number) = (room.snapshot.reset_epoch, ticket.waiter.place.number);
        if room.known.has_ended(reset_epoch, number) {
            return responder.respond_ended(ticket, Ending::Closed);
        }
        if seat.expires_at <= responder.now_ms() / 1000 {
            return responder.respond_without_store(error, CookieChange::Keep(ticket)).await;
        }
        let record = responder.record(seat.issued_at, seat.expires_at)?;
        responder.respond_inside(ticket, &record, seat.generation).await
    }

    /// The same in a suspended room, where everybody is inside: a seat goes on, so that it is still there when the room
    /// is suspended no more; and without one, or without Redis, the ticket is enough.
    async fn renew_in_suspended(
        &self,
        room: &RoomContext,
        ticket: Ticket,
        seat: Seat,
    ) -> Result<VisitorResponse, FlowError> {
        let responder = VisitorResponder::new(self, room);
        if seat.is_counted() {
            let touch = touch_for(room, &ticket, &seat);
            let touched = self.touches.touch(&room.snapshot.room, touch).await;
            if touched.as_ref().is_ok_and(|touched| touched.is_stranger) {
                self.strangers.count(Stranger::session);
                return Err(FlowError::Stranger);
            }
            if let Ok(Touched { now_ms, generation, session: Some(record), .. }) = touched {
                return responder.at(now_ms).respond_inside(ticket, &record, generation).await;
            }
        }
        let record = responder.uncounted_record(&seat)?;
        responder.respond_inside(ticket, &record, seat.generation).await
    }
}

fn touch_for(room: &RoomContext, ticket: &Ticket, seat: &Seat) -> Touch {
    let number = ticket.waiter.place.number;
    Touch {
        reset_epoch: room.snapshot.reset_epoch,
        number,
        position: room.snapshot.position(number).unwrap_or(number),
        generation: seat.generation,
        issued_at: seat.issued_at,
        expires_at: seat.expires_at,
        max_session_seconds: room.snapshot.settings.max_session_seconds,
        caller: room.renewing(seat),
    }
}
