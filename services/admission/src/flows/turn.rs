//! Turns: a visitor whose turn it is enters, or has a seat held for it until it comes.

use vestibule_token::Ticket;

use super::{
    CookieChange, FlowError, Flows, RoomContext, Solution, Status, VisitorResponse,
    visitor_response::CurrentTicket,
};

/// How long a claim is held while no seat is free, ms.
pub(crate) const HELD_MS: u64 = 2_000;

/// How a visitor takes its turn if it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Not by this call: it only asks.
    Later,
    /// It enters.
    Enter,
    /// A seat is held for it, because nobody looks at its page, or because it enters by a button.
    Hold,
}

// === impl Flows ===

impl Flows {
    /// Tells the page's script where its visitor stands, and lets it take its turn.
    pub(crate) async fn ask(
        &self,
        room: &RoomContext,
        ticket: Option<Ticket>,
        solution: Solution<'_>,
        turn: Turn,
        held_ms: u64,
    ) -> Result<VisitorResponse, FlowError> {
        let response = self.check_in_or_join(room, ticket, solution).await?;
        self.take_turn(room, response, turn, held_ms).await
    }

    /// Joins the line from a page that was just opened. If it is the visitor's turn, a seat is held for it, if
    /// there is one.
    pub(crate) async fn open_page(
        &self,
        room: &RoomContext,
        ticket: Option<Ticket>,
        solution: Solution<'_>,
    ) -> Result<VisitorResponse, FlowError> {
        let response = self.join(room, ticket, solution).await?;
        self.take_turn(room, response, Turn::Hold, 0).await
    }

    /// Lets a visitor who was answered `response` take its turn, if it has come. `held_ms`: for how long it
    /// may be kept waiting for a seat.
    pub(crate) async fn take_turn(
        &self,
        room: &RoomContext,
        response: VisitorResponse,
        turn: Turn,
        held_ms: u64,
    ) -> Result<VisitorResponse, FlowError> {
        // The snapshot of another reset says nothing about this number, so it cannot be claimed yet.
        let is_of_snapshot = response.ciphers.reset_epoch == room.ciphers.reset_epoch;
        let is_turn = response.status.status == Status::YourTurn;
        if turn == Turn::Later || !is_turn || !is_of_snapshot {
            return Ok(response);
        }
        let current = match response.cookie {
            CookieChange::Set(ticket) => CurrentTicket::new(ticket),
            CookieChange::Keep(ticket) => CurrentTicket::presented(ticket, room),
            CookieChange::End(_) | CookieChange::Remove | CookieChange::None => {
                return Ok(response);
            }
        };
        let Some(claimant) = current.claimant() else { return Ok(response) };
        match self.claim_seat(room, claimant, turn, held_ms).await {
            // Somebody else has entered with this ticket; if a solution came along, it was not for this.
            Err(FlowError::Stranger) => self.join(room, None, Solution::NONE).await,
            answered => answered,
        }
    }
}
