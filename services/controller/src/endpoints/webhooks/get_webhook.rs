//! `GET /v1/webhooks/{name}`

use std::sync::Arc;

use axum::extract::State;
use vestibule_issuance::problem_of;
use vestibule_runtime::{
    Problem,
    extract::{Json, Path},
};

use super::{WebhookAddress, webhook_problem};
use crate::{
    api_types::Webhook,
    endpoints::responses::{NoSuchWebhook, Refusals},
    state::Controller,
};

/// Tells of a webhook, and how it gets on. Its secret is told to nobody.
#[utoipa::path(
    get, path = "/v1/webhooks/{name}", tag = "webhooks", params(WebhookAddress),
    responses((status = 200, description = "The webhook", body = Webhook), NoSuchWebhook, Refusals)
)]
pub(crate) async fn get_webhook(
    State(controller): State<Arc<Controller>>,
    Path(WebhookAddress { name }): Path<WebhookAddress>,
) -> Result<Json<Webhook>, Problem> {
    let webhook = controller.webhooks.get(&name).await.map_err(webhook_problem)?;
    let deliveries = controller.store.deliveries().await.map_err(|error| problem_of(&error))?;
    Ok(Json(Webhook::new(&name, &webhook, &deliveries)))
}
