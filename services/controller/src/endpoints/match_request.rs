//! `POST /v1/match`

use std::sync::Arc;

use axum::extract::State;
use vestibule_issuance::problem_of;
use vestibule_runtime::{Problem, extract::Json};

use crate::{
    access::Caller,
    api_types::{DryRunRequest, Match},
    endpoints::responses::{BodyRefusals, InvalidRequest, Refusals},
    state::Controller,
};

/// Tells what would become of a request.
///
/// Which room covers it, by which route, and which bypass rule lets it pass, as the rooms are set
/// up this moment, among those that the token is for. A dry run: nobody enters or waits.
#[utoipa::path(
    post, path = "/v1/match", tag = "rooms",
    request_body = DryRunRequest,
    responses(
        (status = 200, description = "What would become of it", body = Match),
        BodyRefusals, InvalidRequest, Refusals,
    )
)]
pub(crate) async fn match_request(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    Json(request): Json<DryRunRequest>,
) -> Result<Json<Match>, Problem> {
    let bindings = controller.rooms.site_bindings().await;
    let mut bindings = bindings.map_err(|error| problem_of(&error))?;
    bindings.retain(|(room, _)| caller.rooms.covers(room.as_str()));
    request.look_at(&bindings).map(Json)
}
