//! Operations on webhooks, one file each.

pub(crate) mod delete_webhook;
pub(crate) mod get_webhook;
pub(crate) mod list_webhooks;
pub(crate) mod put_webhook;
pub(crate) mod rotate_webhook_secret;
pub(crate) mod test_webhook;

use serde::Deserialize;
use utoipa::IntoParams;
use vestibule_issuance::problem_of;
use vestibule_runtime::{Problem, ProblemType};

use crate::webhooks::WebhookError;

/// What the audit log calls a webhook.
const SUBJECT: &str = "webhook";

/// Which webhook.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct WebhookAddress {
    /// Its name: 1 to 64 letters, digits, `_` and `-`.
    #[param(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9_-]{1,64}$", example = "ops")]
    name: String,
}

/// The problem document for an error of webhooks.
fn webhook_problem(error: WebhookError) -> Problem {
    match error {
        WebhookError::Store(error) => problem_of(&error),
        WebhookError::Unknown => Problem::new(ProblemType::WebhookNotFound),
        WebhookError::TooMany | WebhookError::Busy => {
            Problem::new(ProblemType::Conflict).detail(error.to_string())
        }
        WebhookError::Text(_) | WebhookError::Secret(_) => Problem::internal(&error),
    }
}
