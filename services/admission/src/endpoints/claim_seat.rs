//! `POST /v1/rooms/{room}/claim`: a visitor whose turn it is enters.

use std::sync::Arc;

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use vestibule_runtime::{extract::Query, problem::Problem};

use crate::{
    endpoints::responses::{OverLimit, TicketRefusals},
    extractors::{RoomPath, TicketHeader, TurnQuery, VisitorRequest},
    flows::VisitorStatus,
    responses::VisitorReply,
    state::Admission,
};

/// Claim a seat
///
/// When it is the visitor's turn and a seat is free, it is admitted with a token. `your_turn` in
/// the answer means that every seat is taken at this moment: ask again after
/// `next_check_in_seconds`; the place is not lost. The answer may take two seconds, in which a seat
/// that comes free is given to the first in line. Claiming again gives the same token.
///
/// With `?turn=hold` a visitor who is not ready yet has a seat held, once, for
/// `seat_held_seconds` (the room's `turn_hold_seconds`), and claims within that time. At most a twentieth of
/// a room's seats is held; without one the answer is as if every seat were taken.
#[utoipa::path(
    post, path = "/v1/rooms/{room}/claim", operation_id = "claim_seat", tag = "visitors",
    params(RoomPath, TicketHeader, TurnQuery),
    responses(
        (status = 200, description = "Where the visitor stands", body = VisitorStatus,
            headers(("Vestibule-Ticket" = String, description = "The newest ticket"))),
        TicketRefusals, OverLimit,
    )
)]
pub(crate) async fn claim_seat(
    State(admission): State<Arc<Admission>>,
    Query(query): Query<TurnQuery>,
    request: VisitorRequest,
) -> Result<Response, Problem> {
    let ticket = request.ticket.require()?;
    let response = admission.flows.claim(&request.room, ticket, query.into()).await?;
    Ok(VisitorReply::new(&request, &response).into_response())
}
