//! Lets through only calls with the API token. It is a layer instead of an extractor, so that no
//! endpoint can forget it. There are no users and no roles. How guessing is made slow is in
//! [`crate::guesses`].

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};

use axum::{
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{AUTHORIZATION, CONNECTION},
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;
use vestibule_issuance::aws::AwsError;
use vestibule_runtime::{Peer, ProblemType};

use crate::state::Controller;

/// What a call shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Token,
    Wrong,
    /// No token: nothing was guessed.
    Nothing,
}

/// Lets calls with the API token through; answers a 401 problem to all others.
pub(crate) async fn require_bearer(
    State(controller): State<Arc<Controller>>,
    request: Request,
    next: Next,
) -> Response {
    match shown(request.headers(), &controller.api_token) {
        Shown::Token => next.run(request).await,
        shown => {
            let refusal = ProblemType::Unauthorized.into_response();
            refuse(&controller, request.headers(), shown, refusal).await
        }
    }
}

/// As [`require_bearer`], refusing as the gateway of the AWS-style API does.
pub(crate) async fn require_bearer_aws_style(
    State(controller): State<Arc<Controller>>,
    request: Request,
    next: Next,
) -> Response {
    match shown(request.headers(), &controller.api_token) {
        Shown::Token => next.run(request).await,
        shown => {
            let message = "Missing Authentication Token".to_owned();
            let refusal = AwsError::Message(StatusCode::FORBIDDEN, message).into_response();
            refuse(&controller, request.headers(), shown, refusal).await
        }
    }
}

fn shown(headers: &HeaderMap, token: &SecretString) -> Shown {
    let value = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let Some((scheme, value)) = value.and_then(|value| value.split_once(' ')) else {
        return Shown::Nothing;
    };
    if !scheme.eq_ignore_ascii_case("Bearer") {
        return Shown::Nothing;
    }
    let same = value.trim_start().as_bytes().ct_eq(token.expose_secret().as_bytes());
    if bool::from(same) { Shown::Token } else { Shown::Wrong }
}

/// Answers with the refusal: at once if nothing was shown, and the later the more wrong tokens have come.
async fn refuse(
    controller: &Controller,
    headers: &HeaderMap,
    shown: Shown,
    mut refusal: Response,
) -> Response {
    if shown == Shown::Nothing {
        controller.metrics.count_refused("nothing");
        return refusal;
    }
    controller.metrics.count_refused("wrong");
    let peer = Peer::current().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0.ip());
    let client = controller.proxies.client(peer, headers);
    if controller.guesses.slow_down(peer, client).await.is_err() {
        refusal.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    refusal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_itself_opens() {
        let token = SecretString::from("0123456789abcdef");
        let shows = |value: &str| {
            let headers = HeaderMap::from_iter([(AUTHORIZATION, value.parse().unwrap())]);
            shown(&headers, &token)
        };
        assert_eq!(shows("Bearer 0123456789abcdef"), Shown::Token);
        assert_eq!(shows("bearer 0123456789abcdef"), Shown::Token);
        for wrong in [
            "Bearer ",
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdef0",
            "Bearer 0123456789abcdeF",
        ] {
            assert_eq!(shows(wrong), Shown::Wrong, "{wrong}");
        }
        for other in ["0123456789abcdef", "Bearer", "Basic 0123456789abcdef"] {
            assert_eq!(shows(other), Shown::Nothing, "{other}");
        }
        assert_eq!(shown(&HeaderMap::new(), &token), Shown::Nothing);
    }
}
