//! `GET /v1/rooms/{room}/draw`: what proves that a draw is fair, before it and after.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::header::CACHE_CONTROL,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use utoipa::IntoParams;
use vestibule_domain::{
    draw::{DrawRecord, foremost},
    schedule::EventName,
};
use vestibule_issuance::problem_of;
use vestibule_runtime::{
    extract::{Path, Query},
    problem::{Problem, ProblemType},
};

use crate::{
    endpoints::responses::RoomRefusals,
    extractors::{self, RoomPath},
    state::Admission,
};

/// Which draw.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// The event's name; if left out, the draw under way, else the next, else the last.
    #[param(value_type = Option<EventName>, inline)]
    event: Option<String>,
}

/// Get what is published of a draw
///
/// Before it: the commitment, the SHA-256 of the seed that will decide. After it: the seed, how many
/// took part and from which queue number on, so that anyone can compute every place again:
/// `first_queue_number + compute_shuffled_index(queue_number - first_queue_number, participants,
/// seed)`, as the Ethereum consensus specification has it (90 rounds). With a beacon, `seed` is the
/// SHA-256 of `committed_seed` and the beacon's randomness; without, it is `committed_seed`. Times
/// are unix seconds, seeds are hexadecimal. `vestibule-crowd verify-draw` checks all of it.
///
/// A draw stays published when the room is reset, and is `superseded` then: queue numbers begin anew, and
/// those of this draw are nobody's any more.
#[utoipa::path(
    get, path = "/v1/rooms/{room}/draw", operation_id = "get_draw", tag = "visitors",
    params(RoomPath, Which),
    responses(
        (status = 200, description = "What is published", body = DrawRecord),
        RoomRefusals,
    )
)]
pub(crate) async fn get_draw(
    State(admission): State<Arc<Admission>>,
    Path(RoomPath { room }): Path<RoomPath>,
    Query(which): Query<Which>,
) -> Result<Response, Problem> {
    let room = extractors::room(&admission.flows, room.as_str()).await?.snapshot.room.clone();
    let records = admission.draws.get(&room).await.map_err(|error| problem_of(&error))?;
    let found: Option<&DrawRecord> = match &which.event {
        Some(event) => records.iter().rfind(|record| record.event == *event),
        None => foremost(&records),
    };
    let found = found
        .ok_or_else(|| Problem::new(ProblemType::NotFound).detail("this room has no such draw"))?;
    Ok(([(CACHE_CONTROL, "public, max-age=1")], Json(found)).into_response())
}
