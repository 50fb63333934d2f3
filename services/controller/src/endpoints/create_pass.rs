//! `POST /v1/rooms/{room}/passes`

use std::sync::Arc;

use axum::{
    extract::State,
    http::header::CACHE_CONTROL,
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;
use vestibule_domain::settings::MAX_SECONDS;
use vestibule_runtime::{
    Problem, ProblemType,
    extract::{Json, Path},
};

use crate::{
    audit::Trail,
    endpoints::responses::{BodyRefusals, InvalidRequest, NoSuchRoom, Refusals},
    extractors::RoomPath,
    state::Controller,
};

/// What a pass is to allow.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PassRequest {
    /// For how long it is valid.
    #[schema(minimum = 1, maximum = 604_800)]
    seconds: u64,
    /// Whether it is for one place only; otherwise for any number of them.
    #[serde(default)]
    single_use: bool,
}

/// A pass. Whoever has it need not solve the room's challenge.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Pass {
    /// What a newcomer sends in `Vestibule-Challenge`.
    pass: String,
    /// When it expires, unix seconds.
    expires_at: u64,
}

/// Makes a pass past the room's challenge.
///
/// For kiosks and tests: a newcomer who sends it in `Vestibule-Challenge` need not solve the challenge, and takes a
/// place in line like everybody else. It is not stored, and cannot be withdrawn but with the deployment's secret; a
/// reset does not end it.
#[utoipa::path(
    post, path = "/v1/rooms/{room}/passes", tag = "rooms", params(RoomPath), request_body = PassRequest,
    responses(
        (status = 200, description = "The pass", body = Pass),
        InvalidRequest, NoSuchRoom, BodyRefusals, Refusals,
    )
)]
pub(crate) async fn create_pass(
    State(controller): State<Arc<Controller>>,
    trail: Trail,
    Path(RoomPath { room }): Path<RoomPath>,
    Json(request): Json<PassRequest>,
) -> Result<Response, Problem> {
    let PassRequest { seconds, single_use } = request;
    if !(1..=MAX_SECONDS).contains(&seconds) {
        let reason = format!("must be from 1 to {MAX_SECONDS}, a week, and is {seconds}");
        return Err(Problem::new(ProblemType::InvalidRequest).field("seconds", reason));
    }
    let snapshot = controller.rooms.read(&room).await?;
    let expires_at = snapshot.now_ms / 1000 + seconds;
    let noted = json!({ "expires_at": expires_at, "single_use": single_use });
    trail.change(&Value::Null, &noted);
    let ciphers = controller.ciphers.get(&room, snapshot.reset_epoch);
    let pass = ciphers.challenges.pass(expires_at, single_use);
    Ok(([(CACHE_CONTROL, "no-store")], Json(Pass { pass, expires_at })).into_response())
}
