//! `POST /v1/rooms/{room}/inlet`

use std::sync::Arc;

use axum::extract::State;
use vestibule_domain::inlet::InletReport;
use vestibule_runtime::{
    Problem,
    extract::{IdempotencyKey, Json, NoName, Path},
};

use super::replace::{ExitsReported, replace};
use crate::{
    audit::Trail,
    endpoints::responses::{BodyRefusals, InvalidRequest, NoInlet, NoSuchRoom, Refusals},
    extractors::RoomPath,
    state::Controller,
};

/// Tells a room's max-size inlet who has left.
///
/// The sessions of `completed` and `abandoned` end, as by `update_session`. Then the serving counter moves by `exited`, or,
/// without it, by as many as were ended; but no further than there is room below `max_size`, where whoever is served and
/// may still enter counts like those inside. All this is one step: calls at the same time never let too many in.
#[utoipa::path(
    post, path = "/v1/rooms/{room}/inlet", tag = "inlets", params(RoomPath, IdempotencyKey),
    request_body = InletReport,
    responses(
        (status = 200, description = "What came of it", body = ExitsReported),
        InvalidRequest, NoSuchRoom, NoInlet, BodyRefusals, Refusals,
    )
)]
pub(crate) async fn report_exits(
    State(controller): State<Arc<Controller>>,
    trail: Trail,
    Path(RoomPath { room }): Path<RoomPath>,
    key: Result<IdempotencyKey, NoName>,
    Json(report): Json<InletReport>,
) -> Result<Json<ExitsReported>, Problem> {
    let call = key?.name.unwrap_or_else(|| controller.store.call_name());
    replace(&controller, &trail, &room, &call, &report).await.map(Json)
}
