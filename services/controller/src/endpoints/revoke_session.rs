//! `DELETE /v1/rooms/{room}/sessions/{request_id}`

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;
use vestibule_domain::RoomId;
use vestibule_runtime::{Problem, ProblemType, extract::Path};
use vestibule_store::{Departure, EndedAs};

use crate::{
    audit::Trail,
    endpoints::responses::{InvalidRequest, NoSuchSession, Refusals},
    state::Controller,
};

/// Whose session in which room.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct SessionAddress {
    /// The room's name.
    #[param(inline)]
    room: RoomId,
    /// The visitor's request id.
    request_id: String,
}

/// Revokes a visitor's session.
///
/// Its seat is free at once. A token that the visitor still holds stays valid until it expires, at gateways that verify
/// by themselves: where tokens are made for such gateways (`seats_end_with`), the seat is taken until then.
#[utoipa::path(
    delete, path = "/v1/rooms/{room}/sessions/{request_id}", tag = "rooms",
    params(SessionAddress),
    responses((status = 204, description = "Revoked"), InvalidRequest, NoSuchSession, Refusals)
)]
pub(crate) async fn revoke_session(
    State(controller): State<Arc<Controller>>,
    trail: Trail,
    Path(SessionAddress { room, request_id }): Path<SessionAddress>,
) -> Result<StatusCode, Problem> {
    let reset_epoch = controller.rooms.read(&room).await?.reset_epoch;
    let ciphers = controller.ciphers.get(&room, reset_epoch);
    let place = ciphers
        .request_ids
        .open(&request_id)
        .map_err(|error| Problem::new(ProblemType::InvalidRequestId).detail(error.to_string()))?;
    let seat = controller.rooms.read_config(&room).await?.binding.seat_ends();
    let departure = Departure { number: place.number, ended_as: EndedAs::Revoked, seat };
    // Not the request id, by which somebody could pass for the visitor.
    let session = |state: &str| json!({ "queue_number": place.number, "session": state });
    trail.change(&session("active"), &session("revoked"));
    match controller.store.leave(&room, reset_epoch, &[departure]).await {
        Ok(ended) if ended.contains(&true) => Ok(StatusCode::NO_CONTENT),
        Ok(_) => Err(Problem::new(ProblemType::SessionNotFound)),
        Err(error) => Err(controller.rooms.explain(&room, error).await.into()),
    }
}
