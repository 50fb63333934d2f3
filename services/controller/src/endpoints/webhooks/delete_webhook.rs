//! `DELETE /v1/webhooks/{name}`

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use serde_json::Value;
use vestibule_runtime::{Problem, extract::Path};

use super::{WebhookAddress, webhook_problem};
use crate::{
    api_types::Webhook,
    audit::Trail,
    endpoints::responses::{NoSuchWebhook, Refusals, TooManyWebhooks},
    state::Controller,
};

/// Deletes a webhook. An event that is being sent may still reach it.
#[utoipa::path(
    delete, path = "/v1/webhooks/{name}", tag = "webhooks", params(WebhookAddress),
    responses((status = 204, description = "Deleted"), NoSuchWebhook, TooManyWebhooks, Refusals)
)]
pub(crate) async fn delete_webhook(
    State(controller): State<Arc<Controller>>,
    trail: Trail,
    Path(WebhookAddress { name }): Path<WebhookAddress>,
) -> Result<StatusCode, Problem> {
    let deleted = controller.webhooks.delete(&name).await.map_err(webhook_problem)?;
    trail.change(&Webhook::noted(&name, &deleted), &Value::Null);
    Ok(StatusCode::NO_CONTENT)
}
