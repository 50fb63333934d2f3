//! Leaving: a visitor gives up its seat or its place, or the site ends its session.

use vestibule_store::{Departure, EndedAs};
use vestibule_token::{Ending, Ticket};

use super::{FlowError, Flows, RoomContext, VisitorResponse, responder::VisitorResponder};

// === impl Flows ===

impl Flows {
    /// Ends the session of `ticket`, or its place in line: the seat is free at once, and the visitor
    /// is not counted as present any more. `ended_as` is what is recorded of a session.
    pub(crate) async fn leave(
        &self,
        room: &RoomContext,
        ticket: Ticket,
        ended_as: EndedAs,
    ) -> Result<VisitorResponse, FlowError> {
        if ticket.seat().is_some() {
            let departure = Departure { number: ticket.waiter.place.number, ended_as };
            let snapshot = &room.snapshot;
            self.leaves.leave(&snapshot.room, snapshot.reset_epoch, departure).await?;
        }
        VisitorResponder::new(self, room).respond_ended(ticket, Ending::Closed)
    }
}
