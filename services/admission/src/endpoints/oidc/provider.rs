//! Which room is the provider that a call is made of.

use axum::{
    http::{HeaderMap, StatusCode},
    response::Response,
};
use vestibule_runtime::problem::{Problem, ProblemType};

use crate::{
    extractors,
    flows::{Flows, RoomContext},
    oidc, page,
};

/// Why a room that has no clients says nothing.
const OFF: &str = "the room has no oidc_clients";

/// The room called `name`, if it is a provider.
///
/// # Errors
/// A problem if there is no such room, or it has no clients; or when that may be something that this instance has not
/// heard of yet.
pub(super) fn provider(flows: &Flows, name: &str) -> Result<RoomContext, Problem> {
    let room = extractors::room(flows, name)?;
    match room.binding.version() {
        None => Err(Problem::new(ProblemType::RedisUnavailable)),
        Some(_) if room.binding.oidc_clients.is_empty() => {
            Err(Problem::new(ProblemType::OpenIdOff).detail(OFF))
        }
        Some(_) => Ok(room),
    }
}

/// The address of the provider, which is its `iss`.
pub(super) fn issuer(flows: &Flows, room: &RoomContext) -> String {
    format!("{}/oidc/{}", flows.public_url, room.snapshot.room)
}

/// What a visitor is answered whom a site has sent to what is no provider.
///
/// # Errors
/// `problem`, for what is no browser.
pub(super) fn without_provider(
    problem: Problem,
    flows: &Flows,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    if problem.kind() == ProblemType::OpenIdOff {
        return Ok(oidc::error_page(headers, OFF, problem));
    }
    match problem.kind().status() {
        StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST | StatusCode::SERVICE_UNAVAILABLE => {
            page::without_room(problem, flows, headers, "")
        }
        _ => Err(problem),
    }
}
