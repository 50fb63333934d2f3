//! `GET /v1/rooms/{room}/status`: where a visitor stands. For those who wait it costs Redis
//! nothing.

use std::sync::Arc;

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use vestibule_runtime::problem::Problem;

use super::{enter::enter, renew_session::renew_session};
use crate::{
    state::Admission,
    visitor::{VisitorRequest, VisitorResponder, VisitorStatus, cloudflare},
};

/// Ask where the visitor stands
///
/// Ask when `next_check_in_seconds` have passed: it proves that the visitor is still there. Asking
/// earlier is answered and changes nothing. Someone inside is noted as seen, and the token is
/// renewed when it is due.
///
/// In a room with `json_response_enabled`, a request with exactly `Accept: application/json` is
/// answered `{"cfWaitingRoom": {…}}`, as apps for Cloudflare's waiting rooms expect; it joins a
/// newcomer and claims by itself, and once inside its `vestibule` has the token.
#[utoipa::path(
    get, path = "/v1/rooms/{room}/status", operation_id = "get_status", tag = "visitors",
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
pub(crate) async fn get_status(
    State(admission): State<Arc<Admission>>,
    caller: VisitorRequest,
) -> Result<Response, Problem> {
    if caller.in_cloudflares_form {
        return in_cloudflares_form(&admission, caller).await;
    }
    let (context, carrier, (ticket, text)) = caller.with_ticket()?;
    let answer = match ticket.seat {
        Some(seat) => renew_session(&admission, &context, carrier, ticket, seat).await?,
        None => VisitorResponder::new(&admission, &context, carrier).looks((ticket, Some(text)))?,
    };
    Ok(answer.into_response())
}

async fn in_cloudflares_form(
    admission: &Arc<Admission>,
    caller: VisitorRequest,
) -> Result<Response, Problem> {
    let context = caller.context.clone();
    let answer = enter(admission, caller).await?;
    let now_ms = context.known.now_ms();
    Ok(cloudflare::respond(&answer, &context.known.snapshot(), now_ms))
}
