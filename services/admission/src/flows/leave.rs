//! Leaving: a visitor gives up its seat or its place, or the site ends its session.

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
        let (snapshot, ticket) = (&room.snapshot, CurrentTicket::presented(ticket, room).ticket);
        let number = ticket.waiter.place.number;
        match ticket.state {
            TicketState::Held(seat) => {
                // It is bound at its renewal, or was since: nobody else may end it then.
                let may_be_bound = room.binds_sessions() && !room.is_bound_as_wanted(&seat);
                // Where the room was put together anew, the session may have no record that could end.
                let may_be_lost = seat.generation != snapshot.generation;
                if may_be_bound || may_be_lost {
                    self.renew(room, ticket, seat).await?;
                }
                let departure = Departure { number, ended_as, seat: room.binding.seat_ends() };
                let reset_epoch = snapshot.reset_epoch;
                if self.leaves.leave(&snapshot.room, reset_epoch, departure).await? {
                    room.known.note_ended(reset_epoch, number);
                }
            }
            TicketState::Waiting => {
                let network = room.limited_network().map(|network| network.digest);
                let place = GivenUp { number, position: snapshot.position(number), network };
                let seen = (snapshot.reset_epoch, snapshot.draws.len());
                if !self.places.give_up(&snapshot.room, seen, place).await?
                    && let Some(inside) = self.entered_since(room, ticket).await?
                {
                    return Box::pin(self.leave(room, inside, ended_as)).await;
                }
            }
            // Nobody knows of a place in the endless line.
            TicketState::Ended(_) | TicketState::Endless(_) => {}
        }
        VisitorResponder::new(self, room).respond_ended(ticket, Ending::Closed)
    }

    /// The ticket of who is inside by now, of one that is from before: the answer to its claim was lost, or another tab has
    /// it.
    async fn entered_since(
        &self,
        room: &RoomContext,
        ticket: Ticket,
    ) -> Result<Option<Ticket>, FlowError> {
        let Some(claimant) = CurrentTicket::new(ticket).claimant() else { return Ok(None) };
        // Its place is over, so that it enters by this only if it has entered before.
        let response = self.claim_seat(room, claimant, Turn::Enter, 0).await?;
        Ok(response.cookie.ticket().copied().filter(|ticket| ticket.seat().is_some()))
    }
}
