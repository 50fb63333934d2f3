//! `POST /v1/rooms/{room}/join`: a newcomer gets a place, or enters at once.

use std::sync::Arc;

use axum::extract::State;
use vestibule_domain::{Lease, presence::Spot};
use vestibule_runtime::problem::Problem;
use vestibule_store::JoinMode;

use super::renew_session::renew_session;
use crate::{
    batching::Newcomer,
    state::Admission,
    visitor::{
        Carrier, RoomContext, Status, VisitorRequest, VisitorResponder, VisitorResponse,
        VisitorStatus,
    },
};

/// Join the room
///
/// A newcomer gets a queue number and a ticket; if nobody waits and a seat is free, it is admitted
/// at once. Someone who has a ticket keeps the place that it says: joining again is harmless. A
/// new place is given only when the old one is over.
#[utoipa::path(
    post, path = "/v1/rooms/{room}/join", operation_id = "join_room", tag = "visitors",
    params(
        ("room" = String, Path, description = "The room"),
        ("Vestibule-Ticket" = Option<String>, Header, description = "The newest ticket, if there is one; or the cookie `vestibule_{room}`"),
    ),
    responses(
        (status = 200, description = "Where the visitor stands", body = VisitorStatus,
            headers(("Vestibule-Ticket" = String, description = "The newest ticket"))),
        (status = 404, description = "No such room", body = Problem),
        (status = 503, description = "Busy, or the store is away; see Retry-After", body = Problem),
    )
)]
pub(crate) async fn join_room(
    State(admission): State<Arc<Admission>>,
    caller: VisitorRequest,
) -> Result<VisitorResponse, Problem> {
    join(&admission, caller).await
}

/// Joins; or answers whoever has a place already.
pub(crate) async fn join(
    admission: &Arc<Admission>,
    caller: VisitorRequest,
) -> Result<VisitorResponse, Problem> {
    let VisitorRequest { context, carrier, ticket, .. } = caller;
    if let Ok((ticket, text)) = ticket {
        if let Some(seat) = ticket.seat {
            let answer = renew_session(admission, &context, carrier, ticket, seat).await?;
            if answer.body.status == Status::Admitted {
                return Ok(answer);
            }
        } else {
            let looked =
                VisitorResponder::new(admission, &context, carrier).looks((ticket, Some(text)))?;
            if looked.body.status != Status::Expired {
                return Ok(looked);
            }
        }
    }
    newcomer(admission, context, carrier).await
}

async fn newcomer(
    admission: &Arc<Admission>,
    mut context: RoomContext,
    carrier: Carrier,
) -> Result<VisitorResponse, Problem> {
    if context.snapshot.rejects() {
        return VisitorResponder::new(admission, &context, carrier).turned_away();
    }
    let joined = match admission.joins.join(&context.snapshot.room, JoinMode::Enter).await {
        Ok(joined) => joined,
        Err(error) => {
            return VisitorResponder::new(admission, &context, carrier).without_store(&error).await;
        }
    };
    context.ciphers = context.ciphers_for(admission, joined.reset_epoch);
    let responder = VisitorResponder::new(admission, &context, carrier).at(joined.now_ms);
    let Newcomer { place, serving, spot, generation, token, now_ms, .. } = joined;
    let waits = token.is_none();
    let lease = waits.then(|| Lease::initial(spot, serving, now_ms));
    let ticket = VisitorResponder::new_ticket(place, lease, context.snapshot.cumulative_hazard);
    if let Some(record) = token {
        let inside = responder.inside(ticket, &record, generation).await;
        // The seat is taken, so the place must not be lost if signing is behind: claim again.
        return inside.or_else(|_| responder.waits((ticket, None), Status::YourTurn));
    }
    let served = matches!(spot, Spot::Position(position) if position <= serving);
    if served && !context.snapshot.is_held() {
        return responder.waits((ticket, None), Status::YourTurn);
    }
    responder.looks((ticket, None))
}
