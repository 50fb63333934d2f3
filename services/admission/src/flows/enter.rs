//! Entering in one call: a newcomer joins, and a visitor whose turn it is claims. For clients that
//! only request the site itself.

use vestibule_token::Ticket;

use super::{FlowError, Flows, HELD_MS, RoomContext, Solution, Turn, VisitorResponse};

// === impl Flows ===

impl Flows {
    /// Lets the visitor in if that is possible now; otherwise answers where it stands.
    pub(crate) async fn enter(
        &self,
        room: &RoomContext,
        ticket: Option<Ticket>,
        solution: Solution<'_>,
    ) -> Result<VisitorResponse, FlowError> {
        let response = self.join(room, ticket, solution).await?;
        self.take_turn(room, response, Turn::Enter, HELD_MS).await
    }
}
