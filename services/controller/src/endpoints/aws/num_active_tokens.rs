//! `GET /num_active_tokens`

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;
use vestibule_issuance::aws::{AwsBadRequest, AwsError};

use crate::{
    access::Caller, endpoints::responses::AwsRefusals, extractors::EventQuery, state::Controller,
};

/// How many are inside.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ActiveTokens {
    /// Sessions that are neither over nor expired.
    pub(crate) active_tokens: u64,
}

/// Counts the visitors inside, this moment.
#[utoipa::path(
    get, path = "/num_active_tokens", tag = "aws-style", params(EventQuery),
    responses(
        (status = 200, description = "How many are inside", body = ActiveTokens),
        AwsBadRequest, AwsRefusals,
    )
)]
pub(crate) async fn num_active_tokens(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    query: EventQuery,
) -> Result<Json<ActiveTokens>, AwsError> {
    let known = controller.rooms.event(&caller, &query.event_id).await?;
    let room = controller.rooms.read(&known.snapshot().room).await?;
    // Seats may outlast their sessions; the original counts sessions.
    let kept = controller.rooms.kept_seats(&room.room).await?;
    Ok(Json(ActiveTokens { active_tokens: room.sessions(kept) }))
}
