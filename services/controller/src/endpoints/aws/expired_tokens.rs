//! `GET /expired_tokens`

use std::sync::Arc;

use axum::{Json, extract::State};
use vestibule_issuance::aws::{AwsBadRequest, AwsError};

use crate::{
    access::Caller, endpoints::responses::AwsRefusals, extractors::EventQuery, rooms::RoomError,
    state::Controller,
};

/// Lists request ids whose tokens have expired.
///
/// Earliest first, whatever became of their sessions; those of the last 24 hours.
#[utoipa::path(
    get, path = "/expired_tokens", tag = "aws-style", params(EventQuery),
    responses(
        (status = 200, description = "Request ids", body = Vec<String>),
        AwsBadRequest, AwsRefusals,
    )
)]
pub(crate) async fn expired_tokens(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    query: EventQuery,
) -> Result<Json<Vec<String>>, AwsError> {
    let known = controller.rooms.event(&caller, &query.event_id).await?;
    let tokens = controller.store.expired_tokens(&known.snapshot().room).await;
    Ok(Json(tokens.map_err(RoomError::from)?))
}
