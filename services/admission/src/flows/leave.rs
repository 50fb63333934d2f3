//! Leaving: a visitor gives up its seat or its place, or the site ends its session.

use vestibule_domain::RoomSnapshot;
use vestibule_store::{Departure, EndedAs, GivenUp};
use vestibule_token::{Ending, Ticket, TicketState};

use super::{
    FlowError, Flows, RoomContext, Turn, VisitorResponse, responder::VisitorResponder,
    visitor_response::CurrentTicket,
};

// === impl Flows ===

impl Flows {
    /// Ends the session of `ticket`, or gives its place in line back: the seat is free at once, or as soon as no gateway
    /// takes its token any more, and nobody waits for the visitor. `ended_as` is what is recorded of a session.
    pub(crate) async fn leave(
        &self,
        room: &RoomContext,
        ticket: Ticket,
        ended_as: EndedAs,
    ) -> Result<VisitorResponse, FlowError> {
        let (snapshot, ticket) = (&room.snapshot, room.current(ticket).ticket);
        let number = ticket.waiter.place.number;
        match ticket.state {
            TicketState::Held(seat) => {
                if room.binds_sessions() && seat.binding.is_none() {
                    // It is bound at its renewal: nobody else may end it then.
                    self.renew(room, ticket, seat).await?;
                }
                self.end_session(room, number, ended_as).await?;
            }
            TicketState::Waiting => {
                let network = room.limited_network().map(|network| network.digest);
                let place = GivenUp { number, position: snapshot.position(number), network };
                let seen = (snapshot.reset_epoch, snapshot.draws.len());
                if !self.places.give_up(&snapshot.room, seen, place).await? {
                    self.end_session_of_place(room, ticket, ended_as).await?;
                }
            }
            // Nobody knows of a place in the endless line.
            TicketState::Ended(_) | TicketState::Endless(_) => {}
        }
        VisitorResponder::new(self, room).respond_ended(ticket, Ending::Closed)
    }

    async fn end_session(
        &self,
        room: &RoomContext,
        number: u64,
        ended_as: EndedAs,
    ) -> Result<(), FlowError> {
        let departure = Departure { number, ended_as, seat: room.binding.seat_ends() };
        let RoomSnapshot { room, reset_epoch, .. } = &*room.snapshot;
        self.leaves.leave(room, *reset_epoch, departure).await?;
        Ok(())
    }

    /// Ends the session that began with a place, if the answer that told of it was lost: the visitor still has the ticket of
    /// the place. As at the claim of such a one it is found out whose the session is.
    async fn end_session_of_place(
        &self,
        room: &RoomContext,
        ticket: Ticket,
        ended_as: EndedAs,
    ) -> Result<(), FlowError> {
        let Some(claimant) = CurrentTicket::presented(ticket).claimant() else { return Ok(()) };
        let claimed = self.claim_seat(room, claimant, Turn::Enter, 0).await?;
        let is_inside = claimed.cookie.ticket().is_some_and(|ticket| ticket.seat().is_some());
        if is_inside {
            self.end_session(room, ticket.waiter.place.number, ended_as).await?;
        }
        Ok(())
    }
}
