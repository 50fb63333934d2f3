//! `GET /v1/rooms/{room}/status`: where a visitor stands. For those who wait it costs Redis
//! nothing.

use std::sync::Arc;

use axum::extract::State;
use vestibule_runtime::problem::Problem;

use super::seen::seen;
use crate::{
    state::Admission,
    visit::{Answer, Caller, Journey, VisitorStatus},
};

/// Ask where the visitor stands
///
/// Ask when `next_check_in_seconds` have passed: it proves that the visitor is still there. Asking
/// earlier is answered and changes nothing. Someone inside is noted as seen, and the token is
/// renewed when it is due.
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
    caller: Caller,
) -> Result<Answer, Problem> {
    let (visit, carrier, (ticket, text)) = caller.with_ticket()?;
    if let Some(seat) = ticket.seat {
        return seen(&admission, &visit, carrier, ticket, seat).await;
    }
    Journey::new(&admission, &visit, carrier).looks((ticket, Some(text)))
}
