//! `PUT /v1/webhooks/{name}`

use std::{collections::BTreeMap, sync::Arc};

use axum::{extract::State, http::StatusCode};
use secrecy::ExposeSecret;
use serde_json::Value;
use vestibule_domain::webhook::check_name;
use vestibule_runtime::{
    Problem, ProblemType,
    extract::{Json, Path},
};

use super::{SUBJECT, WebhookAddress, webhook_problem};
use crate::{
    access::Caller,
    api_types::{NewWebhook, Webhook, WebhookRequest},
    audit::Trail,
    endpoints::responses::{BodyRefusals, InvalidRequest, Refusals, TooManyWebhooks},
    state::Controller,
    webhooks::Changed,
};

/// Makes a webhook, or replaces one.
///
/// It is told what happens from when it was made, each event at least once and signed as Standard Webhooks 1.0 says.
/// A secret that was made here is in this answer and never again. There are at most 16 webhooks.
#[utoipa::path(
    put, path = "/v1/webhooks/{name}", tag = "webhooks", params(WebhookAddress),
    request_body = WebhookRequest,
    responses(
        (status = 200, description = "It was replaced", body = NewWebhook),
        (status = 201, description = "It was made", body = NewWebhook),
        BodyRefusals, InvalidRequest, TooManyWebhooks, Refusals,
    )
)]
pub(crate) async fn put_webhook(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    trail: Trail,
    Path(WebhookAddress { name }): Path<WebhookAddress>,
    Json(request): Json<WebhookRequest>,
) -> Result<(StatusCode, Json<NewWebhook>), Problem> {
    let invalid = || Problem::new(ProblemType::InvalidRequest);
    check_name(&name).map_err(|reason| invalid().field("name", reason))?;
    let given = request.has_secret();
    let draft = request.check().map_err(|wrong| {
        wrong.into_iter().fold(invalid(), |problem, error| problem.field(error.field, error.reason))
    })?;
    let now_ms = controller.rooms.now_ms().await?;
    let by = (&*caller.name, now_ms);
    let changed = controller.webhooks.put(&name, &draft, by, noting(&name, &trail)).await;
    let changed = changed.map_err(webhook_problem)?;
    let status = if changed.before.is_some() { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(answer(&name, &changed, !given))))
}

/// Notes what is about to be changed.
pub(super) fn noting(name: &str, trail: &Trail) -> impl Fn(&Changed) {
    trail.name_subject(SUBJECT, name);
    |changed| {
        let before = changed.before.as_ref().map(|before| Webhook::noted(name, before));
        trail.change(&before.unwrap_or(Value::Null), &Webhook::noted(name, &changed.after));
    }
}

/// What was changed, told with its secret if that is new to the caller.
pub(super) fn answer(name: &str, changed: &Changed, tells: bool) -> NewWebhook {
    let secret = changed.secret.as_ref().filter(|_| tells);
    let secret = secret.map(|secret| secret.text().expose_secret().to_owned());
    NewWebhook { about: Webhook::new(name, &changed.after, &BTreeMap::new()), secret }
}
