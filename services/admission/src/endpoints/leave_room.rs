//! `POST /v1/rooms/{room}/leave`: a visitor gives its seat, or its place, back.

use std::sync::Arc;

use axum::extract::State;
use vestibule_issuance::problem_of;
use vestibule_runtime::problem::Problem;
use vestibule_store::{Departure, EndedAs};

use crate::{
    state::Admission,
    visitor::{Status, VisitorRequest, VisitorResponder, VisitorResponse, VisitorStatus, end_of},
};

/// Leave the room
///
/// Someone inside gives the seat back: it is free at once. Someone in line stops being counted.
#[utoipa::path(
    post, path = "/v1/rooms/{room}/leave", operation_id = "leave_room", tag = "visitors",
    params(
        ("room" = String, Path, description = "The room"),
        ("Vestibule-Ticket" = Option<String>, Header, description = "The newest ticket; or the cookie `vestibule_{room}`"),
    ),
    responses(
        (status = 200, description = "`closed`", body = VisitorStatus),
        (status = 400, description = "No ticket, or not one of this room", body = Problem),
        (status = 404, description = "No such room", body = Problem),
        (status = 503, description = "Busy, or the store is away; see Retry-After", body = Problem),
    )
)]
pub(crate) async fn leave_room(
    State(admission): State<Arc<Admission>>,
    caller: VisitorRequest,
) -> Result<VisitorResponse, Problem> {
    let (context, carrier, (ticket, _)) = caller.with_ticket()?;
    if ticket.seat.is_some_and(|seat| end_of(&seat).is_none()) {
        let departure =
            Departure { number: ticket.waiter.place.number, ended_as: EndedAs::Completed };
        let snapshot = &context.snapshot;
        let left = admission.leaves.leave(&snapshot.room, snapshot.reset_epoch, departure).await;
        left.map_err(|error| problem_of(&error))?;
    }
    VisitorResponder::new(&admission, &context, carrier).over(ticket, Status::Closed)
}
