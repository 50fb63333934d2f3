//! `GET /v1/rooms/{room}/challenge`: what a newcomer has to solve before it gets a place.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::header::CACHE_CONTROL,
    response::{IntoResponse, Response},
};
use vestibule_runtime::{
    extract::Path,
    problem::{Problem, ProblemType},
};

use crate::{
    challenges::Demand,
    endpoints::responses::Busy,
    extractors::{self, RoomPath},
    state::Admission,
};

/// Get a challenge to solve
///
/// For newcomers of a room with a `challenge`. The built-in one has ALTCHA's format, so that ALTCHA's widget can be
/// pointed here; the solution is sent in `Vestibule-Challenge` with the join, once, within ten minutes.
#[utoipa::path(
    get, path = "/v1/rooms/{room}/challenge", operation_id = "get_challenge", tag = "visitors",
    params(RoomPath),
    responses(
        (status = 200, description = "What to solve", body = Demand),
        (status = 400, description = "The name is not a room's", body = Problem, content_type = "application/problem+json"),
        (status = 404, description = "There is no such room, or it has no challenge", body = Problem, content_type = "application/problem+json"),
        Busy,
    )
)]
pub(crate) async fn get_challenge(
    State(admission): State<Arc<Admission>>,
    Path(RoomPath { room }): Path<RoomPath>,
) -> Result<Response, Problem> {
    let room = extractors::room(&admission.flows, room.as_str()).await?;
    if !room.snapshot.settings.challenge.is_on() {
        return Err(Problem::new(ProblemType::NotFound).detail("this room has no challenge"));
    }
    let demand = admission.flows.demand(&room, None);
    Ok(([(CACHE_CONTROL, "no-store")], Json(demand)).into_response())
}
