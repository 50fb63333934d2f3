//! Responses to visitors who have a place and no seat.

use vestibule_domain::{
    Waiter, check_in,
    poll::{self, PollContext, PollOutcome, WaiterState},
};
use vestibule_token::{Ending, Ticket};

use super::{CurrentTicket, VisitorResponder};
use crate::flows::{CookieChange, FlowError, Status, VisitorResponse};

/// After how many ms a visitor claims again whose claim was held and found no seat: almost at once,
/// so that nobody gets ahead of it.
const CLAIM_AGAIN_MS: u32 = 100;

/// How often a visitor asks for whom a seat is held, in seconds.
const CALLED_ASKS_SECONDS: u32 = 10;

// === impl VisitorResponder ===

impl VisitorResponder<'_> {
    /// Answers from the room's snapshot. The call counts as a check-in if one was due.
    pub(in crate::flows) fn respond_waiting(
        &self,
        current: CurrentTicket,
    ) -> Result<VisitorResponse, FlowError> {
        self.evaluate(current, None)
    }

    /// The same, with the `status` that follows from a reply of Redis.
    pub(in crate::flows) fn respond_with_status(
        &self,
        current: CurrentTicket,
        status: Status,
    ) -> Result<VisitorResponse, FlowError> {
        self.evaluate(current, Some(status))
    }

    /// Tells a newcomer that it is its turn. The join has counted it as there, unless its network keeps it out.
    pub(in crate::flows) fn respond_next(
        &self,
        current: CurrentTicket,
    ) -> Result<VisitorResponse, FlowError> {
        let waiter = current.waiter();
        let outcome = poll::evaluate(&self.room.snapshot, waiter, &self.call_of(waiter));
        self.respond_evaluated(current, Some(Status::YourTurn), &outcome)
    }

    /// Answers a visitor whose claim was held and found no seat.
    pub(in crate::flows) fn respond_at_door(
        &self,
        current: CurrentTicket,
    ) -> Result<VisitorResponse, FlowError> {
        if self.was_revoked(&current.ticket) {
            return self.respond_revoked(current.ticket);
        }
        let mut response = self.evaluate(current, Some(Status::YourTurn))?;
        response.status.next_check_in_seconds = f64::from(CLAIM_AGAIN_MS) / 1000.0;
        Ok(response)
    }

    /// Answers a visitor for whom a seat is held until `until_ms`.
    pub(in crate::flows) fn respond_called(
        &self,
        current: CurrentTicket,
        until_ms: u64,
    ) -> Result<VisitorResponse, FlowError> {
        if self.was_revoked(&current.ticket) {
            return self.respond_revoked(current.ticket);
        }
        let mut response = self.evaluate(current, Some(Status::YourTurn))?;
        let left_seconds = until_ms.saturating_sub(self.now_ms) / 1000;
        response.status.seat_held_seconds = Some(left_seconds);
        response.status.next_check_in_seconds =
            f64::from(u32::try_from(left_seconds).unwrap_or(0).clamp(1, CALLED_ASKS_SECONDS));
        Ok(response)
    }

    /// Answers where a visitor stands and changes nothing: it counts no check-in, gives up no place and
    /// keeps the ticket.
    pub(in crate::flows) fn respond_peek(
        &self,
        ticket: &Ticket,
    ) -> Result<VisitorResponse, FlowError> {
        if self.was_revoked(ticket) {
            let body = self.status_of(ticket, Status::Expired, 0)?;
            return Ok(self.response(body, CookieChange::Keep(*ticket)));
        }
        let waiter = &ticket.waiter;
        let status = if self.room.snapshot.rejects() {
            Status::Closed
        } else if ticket.endless().is_none() && self.may_enter(waiter) {
            Status::YourTurn
        } else {
            Status::Waiting
        };
        let next_ms = waiter.interval_ms.max(poll::YOUR_TURN_INTERVAL_MS);
        self.respond_in_line(ticket, status, next_ms, CookieChange::Keep(*ticket))
    }

    /// Evaluates the call by the rules. `redis_says` replaces the rules' waiting or your-turn.
    fn evaluate(
        &self,
        current: CurrentTicket,
        redis_says: Option<Status>,
    ) -> Result<VisitorResponse, FlowError> {
        if self.was_revoked(&current.ticket) {
            return self.respond_revoked(current.ticket);
        }
        let waiter = current.waiter();
        let outcome = poll::evaluate(&self.room.snapshot, waiter, &self.call_of(waiter));
        if let Some(check_in) = outcome.check_in {
            self.check_in(check_in);
        }
        self.respond_evaluated(current, redis_says, &outcome)
    }

    /// Answers what an evaluation came to.
    fn respond_evaluated(
        &self,
        current: CurrentTicket,
        redis_says: Option<Status>,
        outcome: &PollOutcome,
    ) -> Result<VisitorResponse, FlowError> {
        let status = match outcome.state {
            WaiterState::Rejected => return self.respond_rejected(&current.ticket),
            WaiterState::Expired => return self.respond_ended(current.ticket, Ending::Expired),
            WaiterState::Waiting => redis_says.unwrap_or(Status::Waiting),
            WaiterState::YourTurn => redis_says.unwrap_or(Status::YourTurn),
        };
        self.respond_outcome(current, status, outcome)
    }

    /// The circumstances of a call of `waiter`.
    pub(super) fn call_of(&self, waiter: &Waiter) -> PollContext {
        PollContext {
            now_ms: self.now_ms,
            win_threshold: self.win_threshold(waiter),
            spread: check_in::spread(waiter.place.number),
            excused_until_ms: self.flows.able_since_ms(self.now_ms),
        }
    }

    /// Answers somebody in line, by what a call came to.
    pub(super) fn respond_outcome(
        &self,
        current: CurrentTicket,
        status: Status,
        outcome: &PollOutcome,
    ) -> Result<VisitorResponse, FlowError> {
        if outcome.waiter == *current.waiter() {
            let change = current.into_change();
            return self.respond_in_line(&current.ticket, status, outcome.next_ms, change);
        }
        let ticket = Ticket { waiter: outcome.waiter, ..current.ticket };
        self.respond_in_line(&ticket, status, outcome.next_ms, CookieChange::Set(ticket))
    }

    fn respond_in_line(
        &self,
        ticket: &Ticket,
        status: Status,
        next_ms: u32,
        change: CookieChange,
    ) -> Result<VisitorResponse, FlowError> {
        let mut body = self.status_of(ticket, status, next_ms)?;
        if status == Status::YourTurn {
            body.clear_wait();
        }
        Ok(self.response(body, change))
    }
}
