//! The status poll: where a visitor stands. For a waiting visitor it makes no call to Redis.

use vestibule_domain::{Place, presence::Band};
use vestibule_token::{Ticket, TicketState};

use super::{
    FlowError, Flows, RoomContext, Solution, VisitorResponse, responder::VisitorResponder,
    visitor_response::CurrentTicket,
};

// === impl Flows ===

impl Flows {
    /// Tells the holder of `ticket` where it stands. Counts it as present if a check-in is due, and
    /// renews the session of someone inside.
    pub(crate) async fn check_in(
        &self,
        room: &RoomContext,
        ticket: Ticket,
    ) -> Result<VisitorResponse, FlowError> {
        let responder = VisitorResponder::new(self, room);
        let current = CurrentTicket::presented(ticket, room);
        match current.ticket.state {
            TicketState::Waiting => responder.respond_waiting(current),
            TicketState::Held(seat) => self.renew(room, ticket, seat).await,
            TicketState::Ended(ending) => responder.respond_ended(ticket, ending),
            TicketState::Endless(endless) => responder.respond_endless(current, endless),
        }
    }

    /// The same for the waiting page's script; without a ticket it joins. A visitor who has lost its
    /// place gets no new one here: the page first shows that the place is lost.
    pub(crate) async fn check_in_or_join(
        &self,
        room: &RoomContext,
        ticket: Option<Ticket>,
        solution: Solution<'_>,
    ) -> Result<VisitorResponse, FlowError> {
        let Some(ticket) = ticket else { return self.join(room, None, solution).await };
        if ticket.endless().is_some() && solution.is_shown() {
            return self.join(room, Some(ticket), solution).await;
        }
        match self.check_in(room, ticket).await {
            Err(FlowError::Stranger) => self.join(room, None, solution).await,
            answered => answered,
        }
    }

    /// An AWS-style client asked by what names its `place`: it is there. It is told no interval, and asks
    /// every few seconds.
    pub(crate) fn heard(&self, room: &RoomContext, place: &Place) {
        let spot = room.snapshot.spot(place.number);
        VisitorResponder::new(self, room).check_in((spot, Band::for_interval(0)));
    }

    /// Tells where the holder of `ticket`, who waits, stands, and changes nothing.
    pub(crate) fn peek(
        &self,
        room: &RoomContext,
        ticket: &Ticket,
    ) -> Result<VisitorResponse, FlowError> {
        VisitorResponder::new(self, room).respond_peek(ticket)
    }
}
