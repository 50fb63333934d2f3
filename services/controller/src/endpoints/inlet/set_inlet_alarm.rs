//! `PUT /v1/rooms/{room}/inlet/alarm`

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;
use vestibule_domain::{RoomId, inlet::AlarmState};
use vestibule_runtime::{
    Problem,
    extract::{Json, Path},
};

use super::InletAlarmState;
use crate::{
    audit::Trail,
    endpoints::responses::{BodyRefusals, InvalidRequest, NoSuchRoom, Refusals},
    extractors::RoomPath,
    state::Controller,
};

/// How the alarm is to stand.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct InletAlarmRequest {
    /// `ALARM` stops the periodic inlet; `OK` and `INSUFFICIENT_DATA` let it go on.
    state: AlarmState,
}

/// Stops a room's periodic inlet, or lets it go on.
///
/// While the state is `ALARM`, no period moves the serving counter; a period that has begun by then is over for good. A
/// reset changes nothing about it, and a room that has no periodic inlet keeps it for later.
#[utoipa::path(
    put, path = "/v1/rooms/{room}/inlet/alarm", tag = "inlets", params(RoomPath),
    request_body = InletAlarmRequest,
    responses(
        (status = 200, description = "How it stands now", body = InletAlarmState),
        InvalidRequest, NoSuchRoom, BodyRefusals, Refusals,
    )
)]
pub(crate) async fn set_inlet_alarm(
    State(controller): State<Arc<Controller>>,
    trail: Trail,
    Path(RoomPath { room }): Path<RoomPath>,
    Json(request): Json<InletAlarmRequest>,
) -> Result<Json<InletAlarmState>, Problem> {
    note(&controller, &trail, &room, request.state, None).await.map(Json)
}

/// Notes how the alarm stands, of now or of that moment, unix ms.
pub(super) async fn note(
    controller: &Controller,
    trail: &Trail,
    room: &RoomId,
    state: AlarmState,
    at_ms: Option<u64>,
) -> Result<InletAlarmState, Problem> {
    let explain = async |error| Problem::from(controller.rooms.explain(room, error).await);
    let before = match controller.store.inlet_alarm(room).await {
        Ok(before) => before,
        Err(error) => return Err(explain(error).await),
    };
    let view = |state: AlarmState| json!({ "inlet_alarm": state.name() });
    let before = view(before.map(|alarm| alarm.alarm).unwrap_or_default());
    trail.change(&before, &view(state));
    match controller.store.note_alarm(room, state, at_ms).await {
        Ok(noted) => {
            trail.change(&before, &view(noted.alarm));
            Ok(Some(noted).into())
        }
        Err(error) => Err(explain(error).await),
    }
}
