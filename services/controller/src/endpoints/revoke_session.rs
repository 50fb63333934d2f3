//! `DELETE /v1/rooms/{room}/sessions/{request_id}`

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;
use vestibule_domain::{RoomId, RoomSnapshot, SeatEnds};
use vestibule_runtime::{Problem, ProblemType, extract::Path};
use vestibule_store::{Revocation, Revoked};

use crate::{
    audit::Trail,
    endpoints::responses::{Busy, InvalidRequest, NoSuchSession, Refusals},
    rooms::Rollout,
    state::Controller,
};

/// How often a place is looked up anew while draws move it.
const ATTEMPTS: usize = 5;

/// Whose session or place in which room.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct SessionAddress {
    /// The room's name.
    #[param(inline)]
    room: RoomId,
    /// The visitor's request id, or its queue number.
    request_id: String,
}

/// Revokes a visitor's session, or its place in line.
///
/// The seat of a session is free at once. A token that the visitor still holds stays valid until it expires, at gateways
/// that verify by themselves: where tokens are made for such gateways (`seats_end_with`), the seat is taken until then.
///
/// A visitor who waits loses its place: it never comes up, is ahead of nobody, and the visitor is told so (`expired`, with
/// the `reason` `revoked`) as soon as it asks. Once this is answered all admissions know it, but those of
/// `Vestibule-Behind`. Revoking a place again changes nothing and is answered alike.
#[utoipa::path(
    delete, path = "/v1/rooms/{room}/sessions/{request_id}", tag = "rooms",
    params(SessionAddress),
    responses((status = 204, description = "Revoked"), InvalidRequest, NoSuchSession, Busy, Refusals)
)]
pub(crate) async fn revoke_session(
    State(controller): State<Arc<Controller>>,
    trail: Trail,
    Path(SessionAddress { room, request_id }): Path<SessionAddress>,
) -> Result<(StatusCode, Rollout), Problem> {
    let seat = controller.rooms.read_config(&room).await?.binding.seat_ends();
    for _ in 0..ATTEMPTS {
        let snapshot = controller.rooms.read(&room).await?;
        let number = number_of(&controller, &snapshot, &request_id)?;
        trail.name_subject("session", number);
        trail.change(&json!({ "session": "active" }), &json!({ "session": "revoked" }));
        let revoked = controller.store.revoke(&room, revocation(&snapshot, number, seat)).await;
        match revoked {
            Ok(Revoked::Session) => return Ok((StatusCode::NO_CONTENT, Rollout::Complete)),
            Ok(Revoked::Place | Revoked::Again) => {
                trail.name_subject("place", number);
                trail.change(&json!({ "place": "waiting" }), &json!({ "place": "revoked" }));
                let rollout = Rollout::of_change(&controller.store, &room).await;
                return Ok((StatusCode::NO_CONTENT, rollout));
            }
            Ok(Revoked::None) => return Err(Problem::new(ProblemType::SessionNotFound)),
            Ok(Revoked::Moved) => {}
            Err(error) => return Err(controller.rooms.explain(&room, error).await.into()),
        }
    }
    Err(Problem::new(ProblemType::Conflict))
}

/// The visitor's queue number, by what names it. The audit log is told that and not the request id, by which somebody could
/// pass for the visitor.
fn number_of(
    controller: &Controller,
    snapshot: &RoomSnapshot,
    named: &str,
) -> Result<u64, Problem> {
    if let Ok(number) = named.parse() {
        return Ok(number);
    }
    let ciphers = controller.ciphers.get(&snapshot.room, snapshot.reset_epoch);
    let place = ciphers.request_ids.open(named);
    let place = place
        .map_err(|error| Problem::new(ProblemType::InvalidRequestId).detail(error.to_string()))?;
    Ok(place.number)
}

fn revocation(snapshot: &RoomSnapshot, number: u64, seat: SeatEnds) -> Revocation {
    Revocation {
        reset_epoch: snapshot.reset_epoch,
        number,
        position: snapshot.position(number),
        draws: snapshot.draws.len(),
        seat,
    }
}
