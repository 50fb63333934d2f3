//! `GET /v1/rooms/{room}/status`: where a visitor stands. For those who wait it costs Redis
//! nothing.

use std::sync::Arc;

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use vestibule_runtime::problem::Problem;

use crate::{
    endpoints::responses::TicketRefusals,
    extractors::{RoomPath, TicketHeader, VisitorRequest},
    responses::{StatusBody, VisitorReply},
    state::Admission,
};

/// Ask where the visitor stands
///
/// Ask when `next_check_in_seconds` have passed: it proves that the visitor is still there. Asking
/// earlier is answered and changes nothing. Someone inside is noted as seen, and the token is
/// renewed when it is due.
///
/// `HEAD` answers the headers alone and changes nothing.
///
/// In a room with `json_response_enabled`, a request with exactly `Accept: application/json` is
/// answered `{"cfWaitingRoom": {…}}`, as apps for Cloudflare's waiting rooms expect; it joins a
/// newcomer and claims by itself, and once inside its `vestibule` has the token.
#[utoipa::path(
    get, path = "/v1/rooms/{room}/status", operation_id = "get_status", tag = "visitors",
    params(RoomPath, TicketHeader),
    responses(
        (status = 200, description = "Where the visitor stands", body = StatusBody,
            headers(("Vestibule-Ticket" = String, description = "The newest ticket"))),
        TicketRefusals,
    )
)]
pub(crate) async fn get_status(
    State(admission): State<Arc<Admission>>,
    request: VisitorRequest,
) -> Result<Response, Problem> {
    if request.in_cloudflares_form {
        let response = admission
            .flows
            .enter(&request.room, request.ticket.value(), request.solution())
            .await?;
        return Ok(VisitorReply::new(&request, &response).in_cloudflares_form());
    }
    let response = admission.flows.check_in(&request.room, request.ticket.require()?).await?;
    Ok(VisitorReply::new(&request, &response).into_response())
}
