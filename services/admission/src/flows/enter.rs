//! Entering in one call: a newcomer joins, and a visitor whose turn it is claims. For clients that
//! only request the site itself.

use vestibule_token::Ticket;

use super::{
    CookieChange, FlowError, Flows, RoomContext, Status, VisitorResponse,
    visitor_response::CurrentTicket,
};

// === impl Flows ===

impl Flows {
    /// Lets the visitor in if that is possible now; otherwise answers where it stands.
    pub(crate) async fn enter(
        &self,
        room: &RoomContext,
        ticket: Option<Ticket>,
    ) -> Result<VisitorResponse, FlowError> {
        let response = self.join(room, ticket).await?;
        // The snapshot of another reset says nothing about this number, so it cannot be claimed yet.
        let is_of_snapshot = response.ciphers.reset_epoch == room.ciphers.reset_epoch;
        if response.status.status != Status::YourTurn || !is_of_snapshot {
            return Ok(response);
        }
        let current = match response.cookie {
            CookieChange::Set(ticket) => CurrentTicket::new(ticket),
            CookieChange::Keep(ticket) => CurrentTicket::presented(ticket),
            CookieChange::End(_) | CookieChange::Remove | CookieChange::None => {
                return Ok(response);
            }
        };
        self.claim_seat(room, current).await
    }
}
