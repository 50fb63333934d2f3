//! Lets through only calls with the API token. It is a layer instead of an extractor, so that no
//! endpoint can forget it. There are no users and no roles.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header::AUTHORIZATION},
    middleware::Next,
    response::{IntoResponse, Response},
};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;
use vestibule_issuance::aws::AwsError;
use vestibule_runtime::ProblemType;

use crate::state::Controller;

/// Lets calls with the API token through; answers a 401 problem to all others.
pub(crate) async fn require_bearer(
    State(controller): State<Arc<Controller>>,
    request: Request,
    next: Next,
) -> Response {
    if shows(request.headers(), &controller.api_token) {
        next.run(request).await
    } else {
        ProblemType::Unauthorized.into_response()
    }
}

/// As [`require_bearer`], refusing as the gateway of the AWS-style API does.
pub(crate) async fn require_bearer_aws_style(
    State(controller): State<Arc<Controller>>,
    request: Request,
    next: Next,
) -> Response {
    if shows(request.headers(), &controller.api_token) {
        next.run(request).await
    } else {
        let message = "Missing Authentication Token".to_owned();
        AwsError::Message(StatusCode::FORBIDDEN, message).into_response()
    }
}

fn shows(headers: &HeaderMap, token: &SecretString) -> bool {
    let shown = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let Some((scheme, shown)) = shown.and_then(|value| value.split_once(' ')) else { return false };
    let same = shown.trim_start().as_bytes().ct_eq(token.expose_secret().as_bytes());
    scheme.eq_ignore_ascii_case("Bearer") && bool::from(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_itself_opens() {
        let token = SecretString::from("0123456789abcdef");
        let shows = |value: &str| {
            let headers = HeaderMap::from_iter([(AUTHORIZATION, value.parse().unwrap())]);
            shows(&headers, &token)
        };
        assert!(shows("Bearer 0123456789abcdef"));
        assert!(shows("bearer 0123456789abcdef"));
        for wrong in [
            "0123456789abcdef",
            "Bearer",
            "Bearer ",
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdef0",
            "Bearer 0123456789abcdeF",
            "Basic 0123456789abcdef",
        ] {
            assert!(!shows(wrong), "{wrong}");
        }
        assert!(!super::shows(&HeaderMap::new(), &token));
    }
}
