//! `POST /v1/rooms/{room}/leave`: a visitor gives its seat, or its place, back.

use std::sync::Arc;

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use vestibule_runtime::problem::Problem;
use vestibule_store::EndedAs;

use crate::{
    endpoints::responses::TicketRefusals,
    extractors::{RoomPath, TicketHeader, VisitorRequest},
    flows::VisitorStatus,
    responses::VisitorReply,
    state::Admission,
};

/// Leave the room
///
/// Someone inside gives the seat back: it is free at once. Someone in line stops being counted.
#[utoipa::path(
    post, path = "/v1/rooms/{room}/leave", operation_id = "leave_room", tag = "visitors",
    params(RoomPath, TicketHeader),
    responses(
        (status = 200, description = "`closed`", body = VisitorStatus),
        TicketRefusals,
    )
)]
pub(crate) async fn leave_room(
    State(admission): State<Arc<Admission>>,
    request: VisitorRequest,
) -> Result<Response, Problem> {
    let ticket = request.ticket.require()?;
    let response = admission.flows.leave(&request.room, ticket, EndedAs::Completed).await?;
    Ok(VisitorReply::new(&request, &response).into_response())
}
