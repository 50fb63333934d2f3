//! `GET /v1/rooms/{room}/inlet`

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use vestibule_domain::inlet::{MaxSizeInlet, PeriodicInlet};
use vestibule_issuance::problem_of;
use vestibule_runtime::{
    Problem,
    extract::{Json, Path},
};

use super::InletAlarmState;
use crate::{
    endpoints::responses::{InvalidRequest, NoSuchRoom, Refusals},
    extractors::RoomPath,
    state::Controller,
};

/// A room's inlet.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct InletStatus {
    /// The periodic inlet, if the room has one.
    periodic_inlet: Option<PeriodicInlet>,
    /// The max-size inlet, if the room has one.
    max_size_inlet: Option<MaxSizeInlet>,
    /// The alarm that stops the periodic inlet.
    alarm: InletAlarmState,
}

/// Tells which inlet a room has, and how its alarm stands.
#[utoipa::path(
    get, path = "/v1/rooms/{room}/inlet", tag = "inlets", params(RoomPath),
    responses(
        (status = 200, description = "The inlet", body = InletStatus),
        InvalidRequest, NoSuchRoom, Refusals,
    )
)]
pub(crate) async fn get_inlet(
    State(controller): State<Arc<Controller>>,
    Path(RoomPath { room }): Path<RoomPath>,
) -> Result<Json<InletStatus>, Problem> {
    let settings = controller.rooms.read_config(&room).await?.settings;
    let alarm = controller.store.inlet_alarm(&room).await.map_err(|error| problem_of(&error))?;
    Ok(Json(InletStatus {
        periodic_inlet: settings.periodic_inlet,
        max_size_inlet: settings.max_size_inlet,
        alarm: alarm.into(),
    }))
}
