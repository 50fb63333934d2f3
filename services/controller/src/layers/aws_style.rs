//! Lets through only calls that are signed, or show a token, by somebody who may make them: AWS-style ones, and those that
//! come from the same programs. AWS-style ones are refused as the gateway of the original does, others by a problem.

use std::sync::Arc;

use axum::{
    extract::{RawPathParams, Request, State, rejection::RawPathParamsRejection},
    http::{HeaderValue, StatusCode},
    middleware::Next,
    response::{IntoResponse, Response},
};
use vestibule_issuance::aws::AwsError;
use vestibule_runtime::extract::unreadable;

use super::{
    bearer::{self, bearer, pass},
    origin::Origin,
    refusal::{Refusal, not_yet},
    signed,
};
use crate::state::Controller;

/// Where AWS says which of its errors it is.
const ERROR_TYPE: &str = "x-amzn-errortype";

/// Lets calls through whose signer or token may do this.
pub(crate) async fn require_signature_or_bearer(
    State(controller): State<Arc<Controller>>,
    params: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
    next: Next,
) -> Response {
    let params = match params {
        Ok(params) => params,
        Err(error) => return unreadable(&error).into_response(),
    };
    let origin = Origin::of(&controller, request.headers());
    let is_v1 = request.uri().path().starts_with("/v1/");
    let answer = if is_v1 { bearer::answer } else { answer };
    let found = if signed::is_meant(request.headers()) {
        signed::signer(&controller, origin, request).await
    } else {
        let caller = bearer(&controller, request.headers()).await;
        caller.map(|caller| (caller, request))
    };
    let passed = match found {
        Ok((caller, request)) => pass(caller, &params, request, next).await,
        Err(refusal) => Err(refusal),
    };
    match passed {
        Ok(response) => response,
        Err(refusal) => refusal.answered(&controller, origin, answer(&refusal)).await,
    }
}

fn answer(refusal: &Refusal) -> Response {
    let error = match refusal {
        Refusal::Nothing | Refusal::Wrong => {
            AwsError::Message(StatusCode::FORBIDDEN, "Missing Authentication Token".to_owned())
        }
        Refusal::Signature(error) => AwsError::Message(StatusCode::FORBIDDEN, error.to_string()),
        Refusal::Forbidden(refused) => AwsError::from(refused.clone()),
        Refusal::Body(problem) => {
            AwsError::Message(problem.status(), "Invalid request body".to_owned())
        }
        Refusal::NotYet => return not_yet().into_response(),
    };
    let mut response = error.into_response();
    if let Refusal::Signature(error) = refusal {
        response.headers_mut().insert(ERROR_TYPE, HeaderValue::from_static(error.kind()));
    }
    response
}
