//! Responses to visitors whose place or session is over, and to visitors of a room that lets nobody
//! in.

use vestibule_domain::Place;
use vestibule_token::{Ending, Ticket};

use super::VisitorResponder;
use crate::flows::{CookieChange, FlowError, Reason, RoomContext, Status, VisitorResponse};

// === impl VisitorResponder ===

impl VisitorResponder<'_> {
    /// Answers a visitor whose place or session is over. The new ticket records that, so joining again
    /// gives a new place.
    pub(in crate::flows) fn respond_ended(
        &self,
        mut ticket: Ticket,
        ending: Ending,
    ) -> Result<VisitorResponse, FlowError> {
        let before = ticket;
        ticket.state = ticket.state.ended(ending);
        let (status, change) = match ending {
            Ending::Closed => (Status::Closed, CookieChange::End(ticket)),
            Ending::Expired if ticket == before => (Status::Expired, CookieChange::Keep(ticket)),
            Ending::Expired => (Status::Expired, CookieChange::Set(ticket)),
        };
        let mut body = self.status_of(&ticket, status, 0)?;
        (body.people_ahead, body.wait_seconds) = (Some(0), None);
        body.reason = self.was_revoked(&ticket).then_some(Reason::Revoked);
        Ok(self.response(body, change))
    }

    /// Whether an operator has revoked the place of `ticket`.
    pub(in crate::flows) fn was_revoked(&self, ticket: &Ticket) -> bool {
        let RoomContext { known, snapshot, .. } = self.room;
        ticket.endless().is_none()
            && known.was_revoked(snapshot.reset_epoch, ticket.waiter.place.number)
    }

    /// Answers a visitor whose place was revoked.
    pub(in crate::flows) fn respond_revoked(
        &self,
        ticket: Ticket,
    ) -> Result<VisitorResponse, FlowError> {
        self.respond_ended(ticket, Ending::Expired)
    }

    /// Answers a visitor with a place in a room that turns everyone away: the visitor keeps its place.
    pub(super) fn respond_rejected(&self, ticket: &Ticket) -> Result<VisitorResponse, FlowError> {
        let mut body = self.status_of(ticket, Status::Closed, 0)?;
        body.wait_seconds = None;
        Ok(self.response(body, CookieChange::None))
    }

    /// Answers a newcomer in a room that turns everyone away: it gets no place.
    pub(in crate::flows) fn respond_turned_away(&self) -> VisitorResponse {
        let place = Place { number: 0, entered_at: 0, region: 0 };
        let mut body = self.status_without_id(place.number, Status::Closed, 0);
        (body.position, body.people_ahead, body.wait_seconds) = (None, None, None);
        self.response(body, CookieChange::None)
    }
}
