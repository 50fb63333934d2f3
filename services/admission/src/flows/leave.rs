//! Leaving: a visitor gives up its seat or its place, or the site ends its session.

use vestibule_store::{Departure, EndedAs, GivenUp};
use vestibule_token::{Ending, Ticket, TicketState};

use super::{
    FlowError, Flows, RoomContext, VisitorResponse, responder::VisitorResponder,
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
                if room.binds_sessions() && seat.binding.is_none() {
                    // It is bound at its renewal: nobody else may end it then.
                    self.renew(room, ticket, seat).await?;
                }
                let departure = Departure { number, ended_as, seat: room.binding.seat_ends() };
                self.leaves.leave(&snapshot.room, snapshot.reset_epoch, departure).await?;
            }
            TicketState::Waiting => {
                let network = room.limited_network().map(|network| network.digest);
                let place = GivenUp { number, position: snapshot.position(number), network };
                let seen = (snapshot.reset_epoch, snapshot.draws.len());
                self.places.give_up(&snapshot.room, seen, place).await?;
            }
            // Nobody knows of a place in the endless line.
            TicketState::Ended(_) | TicketState::Endless(_) => {}
        }
        VisitorResponder::new(self, room).respond_ended(ticket, Ending::Closed)
    }
}
