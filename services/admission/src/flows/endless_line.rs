//! The endless line: joins of those who have not solved the room's challenge and are not told so. They get a ticket
//! that looks like any other. It has no place: Redis hears nothing of it, now or later.

use vestibule_domain::{Place, Waiter, challenge::endless_line};
use vestibule_token::{Endless, Ticket, TicketState};

use super::{
    FlowError, Flows, RoomContext, Solution, Status, VisitorResponse, responder::VisitorResponder,
    visitor_response::CurrentTicket,
};

// === impl Flows ===

impl Flows {
    /// Answers a newcomer with a new place in the endless line.
    pub(super) fn join_endless_line(
        &self,
        room: &RoomContext,
    ) -> Result<VisitorResponse, FlowError> {
        self.challenges.counter.count_endless(&room.snapshot.room);
        let endless = Endless::random();
        let now_ms = room.known.now_ms();
        let entered_at = u32::try_from(now_ms / 1000).unwrap_or(u32::MAX);
        let place = Place {
            number: endless_line::number(&room.snapshot, (now_ms, room.progress())),
            entered_at,
            region: Place::marked(self.region.index(), true, self.feed.makes_uuids()),
        };
        let waiter = Waiter::new(place, room.snapshot.cumulative_hazard);
        let ticket = Ticket { waiter, state: TicketState::Endless(endless) };
        VisitorResponder::new(self, room).respond_endless(CurrentTicket::new(ticket), endless)
    }

    /// Lets the holder of a `ticket` of the endless line join again: it gets a place by a good solution, and with none
    /// it keeps what it has, as anybody does.
    pub(super) async fn rejoin_from_endless_line(
        &self,
        room: &RoomContext,
        (ticket, endless): (Ticket, Endless),
        solution: Solution<'_>,
    ) -> Result<VisitorResponse, FlowError> {
        let current = CurrentTicket::presented(ticket, room);
        let kept = VisitorResponder::new(self, room).respond_endless(current, endless)?;
        let is_over = kept.status.status == Status::Expired || endless.ended.is_some();
        if !is_over && !solution.is_shown() {
            return Ok(kept);
        }
        self.join_newcomer(room, solution, Some(kept).filter(|_| !is_over)).await
    }
}
