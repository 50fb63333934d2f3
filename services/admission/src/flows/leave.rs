//! Leaving: a visitor gives up its seat or its place, or the site ends its session.

use vestibule_domain::RoomSnapshot;
use vestibule_store::{Departure, EndedAs, GivenUp};
use vestibule_token::{Ending, Ticket, TicketState};

use super::{FlowError, Flows, RoomContext, VisitorResponse, responder::VisitorResponder};

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
                let is_given_up = self.places.give_up(&snapshot.room, seen, place).await?;
                // The answer that told of its session may have been lost. A bound one ends for who is known to hold it.
                if !is_given_up && !room.binds_sessions() {
                    self.end_session(room, number, ended_as).await?;
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
}
