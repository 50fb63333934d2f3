//! `POST /v1/rooms/{room}/join`: a newcomer gets a place, or enters at once.

use std::sync::Arc;

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use vestibule_runtime::problem::Problem;

use crate::{
    endpoints::responses::{OverLimit, RoomRefusals},
    extractors::{ChallengeHeader, RoomPath, TicketHeader, VisitorRequest},
    flows::VisitorStatus,
    responses::VisitorReply,
    state::Admission,
};

/// Join the room
///
/// A newcomer gets a queue number and a ticket; if nobody waits and a seat is free, it is admitted
/// at once. Someone who has a ticket keeps the place that it says: joining again is harmless. A
/// new place is given only when the old one is over.
///
/// In a room with a `challenge` a newcomer sends a solution, or a pass, in `Vestibule-Challenge`. Without, it is
/// answered 403 `challenge-required`, whose member `challenge` is what to solve. A solution is for one place.
/// Where the challenge's `mode` is `endless_line`, who sends none, or a wrong one, is answered `waiting`, for ever.
#[utoipa::path(
    post, path = "/v1/rooms/{room}/join", operation_id = "join_room", tag = "visitors",
    params(RoomPath, TicketHeader, ChallengeHeader),
    responses(
        (status = 200, description = "Where the visitor stands", body = VisitorStatus,
            headers(("Vestibule-Ticket" = String, description = "The newest ticket"))),
        RoomRefusals, OverLimit,
    )
)]
pub(crate) async fn join_room(
    State(admission): State<Arc<Admission>>,
    request: VisitorRequest,
) -> Result<Response, Problem> {
    let response =
        admission.flows.join(&request.room, request.ticket.value(), request.solution()).await?;
    Ok(VisitorReply::new(&request, &response).into_response())
}
