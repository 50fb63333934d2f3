//! Responses to visitors in the endless line. They are made like those to anybody who waits, so that they look the
//! same; what differs is in `vestibule_domain::challenge::endless_line`. Nobody is counted as there.

use vestibule_domain::{challenge::endless_line, poll::WaiterState};
use vestibule_token::{Ending, Endless};

use super::{CurrentTicket, VisitorResponder};
use crate::flows::{FlowError, Status, VisitorResponse};

// === impl VisitorResponder ===

impl VisitorResponder<'_> {
    /// Answers the holder of `current`, a ticket of the place `endless`. Where the room has no endless line any more,
    /// the place is over: whoever joins again is a newcomer.
    pub(in crate::flows) fn respond_endless(
        &self,
        current: CurrentTicket,
        endless: Endless,
    ) -> Result<VisitorResponse, FlowError> {
        let expired = || self.respond_ended(current.ticket, Ending::Expired);
        if let Some(ending) = endless.ended {
            return self.respond_ended(current.ticket, ending);
        }
        let (snapshot, waiter) = (&self.room.snapshot, current.waiter());
        if !endless_line::is_in(snapshot) {
            return expired();
        }
        let call = self.call_of(waiter);
        let outcome = endless_line::evaluate(snapshot, waiter, &call);
        match outcome.state {
            WaiterState::Rejected => self.respond_rejected(&current.ticket),
            WaiterState::Expired => expired(),
            WaiterState::Waiting | WaiterState::YourTurn => {
                self.respond_outcome(current, Status::Waiting, &outcome)
            }
        }
    }
}
