//! `POST /v1/webhooks/{name}/test`

use std::sync::Arc;

use axum::extract::State;
use serde_json::{Value, json};
use vestibule_runtime::{
    Problem,
    extract::{Json, Path},
};

use super::{SUBJECT, WebhookAddress, webhook_problem};
use crate::{
    api_types::WebhookTest,
    audit::Trail,
    endpoints::responses::{NoSuchWebhook, Refusals},
    state::Controller,
    webhooks::{Envelope, Sent},
};

/// What a test is called. Nobody asks for it by name.
const KIND: &str = "webhook.test";

/// Sends an event to a webhook, once, and tells what came of it.
///
/// It is sent whether the webhook is on or not, and waits for nothing that is still to be told. The event is
/// `webhook.test`, signed like all others.
#[utoipa::path(
    post, path = "/v1/webhooks/{name}/test", tag = "webhooks", params(WebhookAddress),
    responses((status = 200, description = "What came of it", body = WebhookTest), NoSuchWebhook, Refusals)
)]
pub(crate) async fn test_webhook(
    State(controller): State<Arc<Controller>>,
    trail: Trail,
    Path(WebhookAddress { name }): Path<WebhookAddress>,
) -> Result<Json<WebhookTest>, Problem> {
    let webhook = controller.webhooks.get(&name).await.map_err(webhook_problem)?;
    let now_ms = controller.rooms.now_ms().await?;
    let secrets = controller.webhooks.secrets(&name, &webhook, now_ms / 1_000);
    let secrets = secrets.map_err(webhook_problem)?;
    trail.name_subject(SUBJECT, &name);
    trail.change(&Value::Null, &json!({ "told": null }));
    let event = controller.outbox.event(KIND, "", now_ms, json!({ "webhook": name }));
    let timestamp = controller.rooms.server_now_ms().await? / 1_000;
    let envelope = Envelope { id: &event.id, timestamp, body: &event.body };
    let sent = controller.webhook_client.send(&webhook, &secrets, envelope).await;
    let (told, answer) = match sent {
        Sent::Told(status) => (true, format!("it answered {status}")),
        Sent::Gone => (false, "it answered 410 Gone".to_owned()),
        Sent::Failed { why, .. } => (false, why),
    };
    trail.change(&Value::Null, &json!({ "told": told }));
    Ok(Json(WebhookTest { told, answer, id: event.id }))
}
