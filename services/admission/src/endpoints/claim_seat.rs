//! `POST /v1/rooms/{room}/claim`: a visitor whose turn it is enters.

use std::sync::Arc;

use axum::extract::State;
use vestibule_runtime::problem::{Problem, ProblemType};
use vestibule_store::ClaimOutcome;

use super::renew_session::renew_session;
use crate::{
    state::Admission,
    visitor::{
        Carrier, PresentedTicket, RoomContext, Status, VisitorRequest, VisitorResponder,
        VisitorResponse, VisitorStatus,
    },
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
    caller: VisitorRequest,
) -> Result<VisitorResponse, Problem> {
    let (context, carrier, (ticket, text)) = caller.with_ticket()?;
    if let Some(seat) = ticket.seat {
        return renew_session(&admission, &context, carrier, ticket, seat).await;
    }
    claim(&admission, &context, carrier, (ticket, Some(text))).await
}

/// Claims for someone who has no seat, if it is its turn.
pub(super) async fn claim(
    admission: &Arc<Admission>,
    context: &RoomContext,
    carrier: Carrier,
    kept: PresentedTicket,
) -> Result<VisitorResponse, Problem> {
    let responder = VisitorResponder::new(admission, context, carrier);
    // Without Redis nobody can know whose turn it is by now: the claim itself will say so.
    if admission.feed.is_connected() && !responder.may_enter(&kept.0.waiter) {
        return responder.looks(kept);
    }
    let (claim, rank) = (responder.claim_of(&kept.0.waiter), responder.rank(&kept.0.waiter));
    let claimed = match admission.held_claims.claim(&context.snapshot.room, claim, rank).await {
        Ok(claimed) => claimed,
        Err(error) => return responder.without_store(&error).await,
    };
    let responder = responder.at(claimed.now_ms);
    match claimed.outcome {
        ClaimOutcome::Entered(record)
        | ClaimOutcome::Repeated(record)
        | ClaimOutcome::Uncounted(record) => {
            responder.inside(kept.0, &record, claimed.generation).await
        }
        ClaimOutcome::NotServed => responder.waits(kept, Status::Waiting),
        ClaimOutcome::NoSeat => responder.held(kept),
        ClaimOutcome::PositionExpired => responder.over(kept.0, Status::Expired),
        ClaimOutcome::SessionEnded => responder.over(kept.0, Status::Closed),
        ClaimOutcome::Foreign => Err(Problem::new(ProblemType::InvalidTicket)
            .field("Vestibule-Ticket", "it is of before a reset; join again")),
    }
}
