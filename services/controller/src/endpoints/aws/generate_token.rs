//! `POST /generate_token`, with an issuer and a validity of the caller's choice.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use vestibule_domain::settings::MAX_SECONDS;
use vestibule_issuance::aws::{self, AwsBadRequest, AwsError, ErrorBody, Tokens};

use crate::{
    access::Caller,
    audit::Trail,
    endpoints::responses::{AwsBodyRefusals, AwsRefusals},
    extractors::{AwsBody, WholeNumber},
    rooms::{ProviderIssuers, RoomError},
    state::Controller,
};

const MAX_ISSUER_CHARS: usize = 512;

/// For whom, and with what. A repeated call gets the first call's tokens again, whatever it asks.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct TokenRequest {
    /// The event: a room's name, or its `aws_event_id`.
    event_id: String,
    /// Who it is.
    request_id: String,
    /// The issuer, instead of the room's; not one of a room as an OpenID provider.
    #[schema(min_length = 1, max_length = 512)]
    issuer: Option<String>,
    /// Seconds, instead of the room's `token_validity_seconds`.
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 604_800)]
    validity_period: Option<WholeNumber>,
}

/// Lets a visitor enter who is served.
///
/// Makes an access, a refresh and an id token, which differ in `token_use` only.
#[utoipa::path(
    post, path = "/generate_token", tag = "aws-style", request_body = TokenRequest,
    responses(
        (status = 200, description = "The visitor may enter", body = Tokens),
        (status = 202, description = "Not its turn, or no seat is free yet", body = ErrorBody),
        (status = 410, description = "Not claimed in time, or the session is over",
            body = ErrorBody),
        AwsBadRequest, AwsBodyRefusals, AwsRefusals,
    )
)]
pub(crate) async fn generate_token(
    State(controller): State<Arc<Controller>>,
    caller: Caller,
    trail: Trail,
    AwsBody(body): AwsBody<TokenRequest>,
) -> Result<Tokens, AwsError> {
    body.check_issuer(&controller.issuers)?;
    let validity = body.validity()?;
    let known = match controller.rooms.event(&caller, &body.event_id).await {
        Ok(known) => Some(known),
        Err(RoomError::Unknown) => None,
        Err(error) => return Err(error.into()),
    };
    let of_room = known.as_ref().and_then(|known| known.snapshot().settings.issuer.clone());
    let issuer = body.issuer.as_ref().or(of_room.as_ref()).unwrap_or(&controller.public_url);
    if let Some(known) = &known {
        let snapshot = known.snapshot();
        trail.name_room(snapshot.room.as_str());
        let ciphers = controller.ciphers.get(&snapshot.room, snapshot.reset_epoch);
        if let Ok(place) = ciphers.request_ids.open(&body.request_id) {
            trail.name_subject("session", place.number);
        }
    }
    trail.change(&Value::Null, &json!({ "session": "active" }));
    let with = controller.generate_token_context(issuer, validity);
    aws::generate_token(with, known, &body.request_id).await
}

// === impl TokenRequest ===

impl TokenRequest {
    fn check_issuer(&self, of_providers: &ProviderIssuers) -> Result<(), AwsError> {
        let Some(issuer) = &self.issuer else { return Ok(()) };
        if let Some(reason) = of_providers.error(issuer) {
            return Err(AwsError::bad_request(format!("Invalid issuer: {reason}")));
        }
        let length = issuer.chars().count();
        if (1..=MAX_ISSUER_CHARS).contains(&length) && !issuer.chars().any(char::is_control) {
            return Ok(());
        }
        Err(AwsError::bad_request("Invalid issuer: 1 to 512 printable characters"))
    }

    fn validity(&self) -> Result<Option<u64>, AwsError> {
        let Some(WholeNumber(seconds)) = self.validity_period else { return Ok(None) };
        let seconds = u64::try_from(seconds).ok().filter(|s| (1..=MAX_SECONDS).contains(s));
        let refusal = || AwsError::bad_request("Invalid validity_period: 1 to 604800 seconds");
        seconds.ok_or_else(refusal).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(more: &str) -> TokenRequest {
        serde_json::from_str(&format!(r#"{{"event_id":"e","request_id":"r"{more}}}"#)).unwrap()
    }

    #[test]
    fn the_callers_choices_have_bounds() {
        assert!(matches!(request("").validity(), Ok(None)));
        for (period, valid) in [("1", true), ("604800", true), ("0", false), ("-5", false)] {
            let validity = request(&format!(r#","validity_period":{period}"#)).validity();
            assert_eq!(validity.is_ok(), valid, "{period}");
        }
        assert!(request(r#","validity_period":604801"#).validity().is_err());
        let of_providers = ProviderIssuers::new(Some("https://wait.example"));
        for (issuer, valid) in [
            ("https://a|b é", true),
            ("", false),
            ("a\\nb", false),
            ("https://wait.example/oidc/r1", false),
        ] {
            let checked = request(&format!(r#","issuer":"{issuer}""#)).check_issuer(&of_providers);
            assert_eq!(checked.is_ok(), valid, "{issuer}");
        }
        let long = request(&format!(r#","issuer":"{}""#, "x".repeat(513)));
        assert!(long.check_issuer(&of_providers).is_err());
    }
}
