//! `DELETE /v1/webhooks/{name}`

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use serde_json::Value;
use vestibule_domain::webhook::Webhook as Stored;
use vestibule_runtime::{Problem, extract::Path};

use super::{SUBJECT, WebhookAddress, webhook_problem};
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
    trail.name_subject(SUBJECT, &name);
    let note = |deleted: &Stored| trail.change(&Webhook::noted(&name, deleted), &Value::Null);
    controller.webhooks.delete(&name, note).await.map_err(webhook_problem)?;
    Ok(StatusCode::NO_CONTENT)
}
