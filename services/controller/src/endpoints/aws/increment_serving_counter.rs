//! `POST /increment_serving_counter`

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use vestibule_issuance::aws::{AwsBadRequest, AwsError};

use crate::{
    endpoints::responses::{AwsBodyRefusals, AwsRefusals},
    extractors::{AwsBody, WholeNumber},
    state::Controller,
};

/// By how much, and where.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct Increment {
    /// The event: a room's name.
    event_id: String,
    /// Forwards, or back if negative.
    #[schema(value_type = i64)]
    increment_by: WholeNumber,
}

/// Where the counter stands.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ServingNum {
    /// The serving counter, after the increment.
    pub(crate) serving_num: i64,
}

/// Moves the serving counter.
///
/// Not idempotent: each call moves it again.
#[utoipa::path(
    post, path = "/increment_serving_counter", tag = "aws-style", request_body = Increment,
    responses(
        (status = 200, description = "Where it stands", body = ServingNum),
        AwsBadRequest, AwsBodyRefusals, AwsRefusals,
    )
)]
pub(crate) async fn increment_serving_counter(
    State(controller): State<Arc<Controller>>,
    AwsBody(body): AwsBody<Increment>,
) -> Result<Json<ServingNum>, AwsError> {
    let room = controller.rooms.event(&body.event_id).await?.snapshot().room.clone();
    match controller.store.increment(&room, body.increment_by.0).await {
        Ok(serving_num) => Ok(Json(ServingNum { serving_num })),
        Err(error) => Err(controller.rooms.explain(&room, error).await.into()),
    }
}
