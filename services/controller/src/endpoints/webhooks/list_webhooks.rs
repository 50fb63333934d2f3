//! `GET /v1/webhooks`

use std::sync::Arc;

use axum::extract::State;
use vestibule_issuance::problem_of;
use vestibule_runtime::{Problem, extract::Json};

use super::webhook_problem;
use crate::{
    api_types::{Webhook, WebhookList},
    endpoints::responses::Refusals,
    state::Controller,
};

/// Lists the webhooks, and how each gets on. Their secrets are told to nobody.
#[utoipa::path(
    get, path = "/v1/webhooks", tag = "webhooks",
    responses((status = 200, description = "The webhooks", body = WebhookList), Refusals)
)]
pub(crate) async fn list_webhooks(
    State(controller): State<Arc<Controller>>,
) -> Result<Json<WebhookList>, Problem> {
    let set = controller.webhooks.all().await.map_err(webhook_problem)?;
    let deliveries = controller.store.deliveries().await.map_err(|error| problem_of(&error))?;
    let told = set.webhooks.iter().map(|(name, webhook)| Webhook::new(name, webhook, &deliveries));
    Ok(Json(WebhookList { webhooks: told.collect() }))
}
