//! Lets through only calls with a token that may do what they ask for. It is a layer instead of an extractor, so that
//! no endpoint can forget it; whose token it was goes on with the request. What each call needs is in
//! [`crate::access`], and how guessing is made slow in [`crate::guesses`]. AWS-style calls may be signed instead:
//! `aws_style.rs`.

use std::sync::Arc;

use axum::{
    extract::{MatchedPath, RawPathParams, Request, State, rejection::RawPathParamsRejection},
    http::HeaderMap,
    middleware::Next,
    response::{IntoResponse, Response},
};
use vestibule_domain::RoomId;
use vestibule_runtime::{
    Problem, ProblemType,
    extract::{self, unreadable},
};
use vestibule_traces::{Span, note};

use super::{
    origin::Origin,
    refusal::{Refusal, not_yet},
};
use crate::{
    access::{Caller, Operation, Over, Refused, operation},
    state::Controller,
    tokens::Found,
};

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
    let origin = Origin::of(&controller, request.headers());
    let passed = match bearer(&controller, request.headers()).await {
        Ok(caller) => pass(caller, &params, request, next).await,
        Err(refusal) => Err(refusal),
    };
    match passed {
        Ok(response) => response,
        Err(refusal) => refusal.answered(&controller, origin, answer(&refusal)).await,
    }
}

pub(super) fn answer(refusal: &Refusal) -> Response {
    match refusal {
        Refusal::Nothing | Refusal::Wrong => ProblemType::Unauthorized.into_response(),
        Refusal::Signature(error) => {
            Problem::new(ProblemType::Unauthorized).detail(error.to_string()).into_response()
        }
        Refusal::Body(problem) => problem.clone().into_response(),
        Refusal::NotYet => not_yet().into_response(),
        Refusal::Forbidden(refused) => Problem::from(refused.clone()).into_response(),
    }
}

/// Whose token a call shows.
pub(super) async fn bearer(
    controller: &Controller,
    headers: &HeaderMap,
) -> Result<Caller, Refusal> {
    let token = extract::bearer(headers).ok_or(Refusal::Nothing)?;
    match controller.tokens.find(token).await {
        Found::Caller(caller) => Ok(caller),
        Found::Wrong => Err(Refusal::Wrong),
        Found::NotYet => Err(Refusal::NotYet),
    }
}

/// Has the call carried out, if its caller may make it.
pub(super) async fn pass(
    caller: Caller,
    params: &RawPathParams,
    mut request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let operation = operation(request.method(), route);
    check(&caller, operation, params).map_err(Refusal::Forbidden)?;
    note(|span| note_room(span, params));
    request.extensions_mut().insert(caller);
    request.extensions_mut().insert(operation);
    Ok(next.run(request).await)
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
