//! Lets through only calls with a token that may do what they ask for. It is a layer instead of an extractor, so that
//! no endpoint can forget it; whose token it was goes on with the request. What each call needs is in
//! [`crate::access`], and how guessing is made slow in [`crate::guesses`].

use std::sync::Arc;

use axum::{
    extract::{MatchedPath, RawPathParams, Request, State, rejection::RawPathParamsRejection},
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{AUTHORIZATION, CONNECTION},
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use vestibule_domain::RoomId;
use vestibule_issuance::aws::AwsError;
use vestibule_runtime::{Problem, ProblemType, extract::unreadable};
use vestibule_traces::{Span, note};

use super::origin::Origin;
use crate::{
    access::{Caller, Operation, Over, Refused, operation},
    state::Controller,
    tokens::Found,
};

/// Why a call is not let through.
#[derive(Debug)]
enum Refusal {
    /// No token: nothing was guessed.
    Nothing,
    /// Nobody's token.
    Wrong,
    /// It is not known yet whose token it is.
    NotYet,
    /// The token may not do this.
    Forbidden(Refused),
}

/// Lets calls through whose token may do this; answers a problem to all others.
pub(crate) async fn require_bearer(
    State(controller): State<Arc<Controller>>,
    params: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
    next: Next,
) -> Response {
    let params = match params {
        Ok(params) => params,
        Err(error) => return unreadable(&error).into_response(),
    };
    guard(&controller, &params, request, next, |refusal| match refusal {
        Refusal::Nothing | Refusal::Wrong => ProblemType::Unauthorized.into_response(),
        Refusal::NotYet => not_yet().into_response(),
        Refusal::Forbidden(refused) => Problem::from(refused.clone()).into_response(),
    })
    .await
}

/// As [`require_bearer`], refusing as the gateway of the AWS-style API does.
pub(crate) async fn require_bearer_aws_style(
    State(controller): State<Arc<Controller>>,
    params: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
    next: Next,
) -> Response {
    let params = match params {
        Ok(params) => params,
        Err(error) => return unreadable(&error).into_response(),
    };
    guard(&controller, &params, request, next, |refusal| match refusal {
        Refusal::Nothing | Refusal::Wrong => {
            let message = "Missing Authentication Token".to_owned();
            AwsError::Message(StatusCode::FORBIDDEN, message).into_response()
        }
        Refusal::NotYet => not_yet().into_response(),
        Refusal::Forbidden(refused) => AwsError::from(refused.clone()).into_response(),
    })
    .await
}

async fn guard(
    controller: &Controller,
    params: &RawPathParams,
    mut request: Request,
    next: Next,
    answer: impl Fn(&Refusal) -> Response,
) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let operation = operation(request.method(), route);
    match admit(controller, request.headers(), operation, params).await {
        Ok(caller) => {
            note(|span| note_room(span, params));
            request.extensions_mut().insert(caller);
            request.extensions_mut().insert(operation);
            next.run(request).await
        }
        Err(refusal) => refuse(controller, request.headers(), &refusal, answer(&refusal)).await,
    }
}

/// Whose call it is, if it may be made.
async fn admit(
    controller: &Controller,
    headers: &HeaderMap,
    operation: Operation,
    params: &RawPathParams,
) -> Result<Caller, Refusal> {
    let token = shown(headers).ok_or(Refusal::Nothing)?;
    let caller = match controller.tokens.find(token).await {
        Found::Caller(caller) => caller,
        Found::Wrong => return Err(Refusal::Wrong),
        Found::NotYet => return Err(Refusal::NotYet),
    };
    check(&caller, operation, params).map_err(Refusal::Forbidden)?;
    Ok(caller)
}

fn check(caller: &Caller, operation: Operation, params: &RawPathParams) -> Result<(), Refused> {
    caller.require(operation.role)?;
    match operation.over {
        Over::Room => {
            let room = params.iter().find(|(name, _)| *name == "room");
            room.map_or(Ok(()), |(_, room)| caller.require_room(room))
        }
        Over::Deployment => caller.require_all_rooms(),
        Over::Event | Over::OwnRooms => Ok(()),
    }
}

/// Which room the call is about, if any.
fn note_room(span: &Span, params: &RawPathParams) {
    let room = params.iter().find(|(name, _)| *name == "room").map(|(_, room)| room);
    if let Some(room) = room.filter(|room| RoomId::check(room).is_ok()) {
        span.set("vestibule.room", room.to_owned());
    }
}

/// The token of a call.
fn shown(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("Bearer").then(|| token.trim_start())
}

fn not_yet() -> Problem {
    Problem::new(ProblemType::RedisUnavailable)
}

/// Answers with the refusal: later and later where wrong tokens come from, and else at once.
async fn refuse(
    controller: &Controller,
    headers: &HeaderMap,
    refusal: &Refusal,
    mut answer: Response,
) -> Response {
    let reason = match refusal {
        Refusal::Nothing => "nothing",
        Refusal::Wrong => "wrong",
        Refusal::NotYet => return answer,
        Refusal::Forbidden(refused) => {
            tracing::info!(reason = %refused, "a call was refused");
            refused.lacks
        }
    };
    controller.metrics.count_refused(reason);
    if let Refusal::Wrong = refusal {
        let origin = Origin::of(controller, headers);
        if controller.guesses.slow_down(origin.peer, origin.client).await.is_err() {
            answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_what_follows_the_word_bearer() {
        let token = |value: &str| {
            let headers = HeaderMap::from_iter([(AUTHORIZATION, value.parse().unwrap())]);
            shown(&headers).map(str::to_owned)
        };
        assert_eq!(token("Bearer 0123").as_deref(), Some("0123"));
        assert_eq!(token("bearer   0123").as_deref(), Some("0123"));
        assert_eq!(token("Bearer ").as_deref(), Some(""));
        for other in ["0123456789abcdef", "Bearer", "Basic 0123456789abcdef"] {
            assert_eq!(token(other), None, "{other}");
        }
        assert_eq!(shown(&HeaderMap::new()), None);
    }
}
