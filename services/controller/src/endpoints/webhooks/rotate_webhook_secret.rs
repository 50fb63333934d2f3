//! `POST /v1/webhooks/{name}/rotate-secret`

use std::sync::Arc;

use axum::extract::State;
use vestibule_runtime::{
    Problem,
    extract::{Json, Path},
};

use super::{
    WebhookAddress,
    put_webhook::{answer, noting},
    webhook_problem,
};
use crate::{
    api_types::NewWebhook,
    audit::Trail,
    endpoints::responses::{NoSuchWebhook, Refusals, TooManyWebhooks},
    state::Controller,
};

/// Makes a new secret for a webhook.
///
/// For a day its events are signed with the one before, too, so that its receiver has the time to change. The new one is
/// in this answer and never again.
#[utoipa::path(
    post, path = "/v1/webhooks/{name}/rotate-secret", tag = "webhooks", params(WebhookAddress),
    responses(
        (status = 200, description = "The new secret", body = NewWebhook),
        NoSuchWebhook, TooManyWebhooks, Refusals,
    )
)]
pub(crate) async fn rotate_webhook_secret(
    State(controller): State<Arc<Controller>>,
    trail: Trail,
    Path(WebhookAddress { name }): Path<WebhookAddress>,
) -> Result<Json<NewWebhook>, Problem> {
    let now_ms = controller.rooms.now_ms().await?;
    let changed = controller.webhooks.rotate(&name, now_ms, noting(&name, &trail)).await;
    Ok(Json(answer(&name, &changed.map_err(webhook_problem)?, true)))
}
