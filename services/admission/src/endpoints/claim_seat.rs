//! `POST /v1/rooms/{room}/claim`: a visitor whose turn it is enters.

use std::sync::Arc;

use axum::extract::State;
use vestibule_runtime::problem::{Problem, ProblemType};
use vestibule_store::Outcome;

use super::seen::seen;
use crate::{
    state::Admission,
    visit::{Answer, Caller, Carrier, Journey, Kept, Status, Visit, VisitorStatus},
};

/// Claim a seat
///
/// When it is the visitor's turn and a seat is free, it is admitted with a token. `your_turn` in
/// the answer means that every seat is taken at this moment: ask again after
/// `next_check_in_seconds`; the place is not lost. The answer may take two seconds, in which a seat
/// that comes free is given to the first in line. Claiming again gives the same token.
#[utoipa::path(
    post, path = "/v1/rooms/{room}/claim", operation_id = "claim_seat", tag = "visitors",
    params(
        ("room" = String, Path, description = "The room"),
        ("Vestibule-Ticket" = Option<String>, Header, description = "The newest ticket; or the cookie `vestibule_{room}`"),
    ),
    responses(
        (status = 200, description = "Where the visitor stands", body = VisitorStatus,
            headers(("Vestibule-Ticket" = String, description = "The newest ticket"))),
        (status = 400, description = "No ticket, or not one of this room", body = Problem),
        (status = 404, description = "No such room", body = Problem),
        (status = 503, description = "Busy, or the store is away; see Retry-After", body = Problem),
    )
)]
pub(crate) async fn claim_seat(
    State(admission): State<Arc<Admission>>,
    caller: Caller,
) -> Result<Answer, Problem> {
    let (visit, carrier, (ticket, text)) = caller.with_ticket()?;
    if let Some(seat) = ticket.seat {
        return seen(&admission, &visit, carrier, ticket, seat).await;
    }
    claim(&admission, &visit, carrier, (ticket, Some(text))).await
}

/// Claims for someone who has no seat, if it is its turn.
pub(super) async fn claim(
    admission: &Arc<Admission>,
    visit: &Visit,
    carrier: Carrier,
    kept: Kept,
) -> Result<Answer, Problem> {
    let journey = Journey::new(admission, visit, carrier);
    // Without Redis nobody can know whose turn it is by now: the claim itself will say so.
    if admission.feed.is_connected() && !journey.may_enter(&kept.0.waiter) {
        return journey.looks(kept);
    }
    let (claim, rank) = (journey.claim_of(&kept.0.waiter), journey.rank(&kept.0.waiter));
    let claimed = match admission.door.claim(&visit.snapshot.room, claim, rank).await {
        Ok(claimed) => claimed,
        Err(error) => return journey.without_store(&error).await,
    };
    let journey = journey.at(claimed.now_ms);
    match claimed.outcome {
        Outcome::Entered(record) | Outcome::Repeated(record) | Outcome::Uncounted(record) => {
            journey.inside(kept.0, &record, claimed.generation).await
        }
        Outcome::NotServed => journey.waits(kept, Status::Waiting),
        Outcome::NoSeat => journey.held(kept),
        Outcome::PositionExpired => journey.over(kept.0, Status::Expired),
        Outcome::SessionEnded => journey.over(kept.0, Status::Closed),
        Outcome::Foreign => Err(Problem::new(ProblemType::InvalidTicket)
            .field("Vestibule-Ticket", "it is of before a reset; join again")),
    }
}
