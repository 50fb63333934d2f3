//! Which room is the provider that a call is made of.

use axum::{
    http::{HeaderMap, StatusCode},
    response::Response,
};
use vestibule_runtime::{
    extract::Path,
    problem::{Problem, ProblemType},
};

use crate::{
    extractors::{self, RoomPath},
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
pub(super) async fn provider(flows: &Flows, name: &str) -> Result<RoomContext, Problem> {
    let room = extractors::room(flows, name).await?;
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

/// The provider that the path of a call names.
///
/// # Errors
/// As [`provider`], and what is wrong with the path.
pub(super) async fn provider_at(
    flows: &Flows,
    path: Result<Path<RoomPath>, Problem>,
) -> Result<RoomContext, Problem> {
    let Path(path) = path?;
    provider(flows, path.room.as_str()).await
}

/// What a visitor is answered whom a site has sent to what is no provider.
///
/// # Errors
/// `problem`, for what is no browser.
pub(super) fn without_provider(problem: Problem, headers: &HeaderMap) -> Result<Response, Problem> {
    if problem.kind() == ProblemType::OpenIdOff {
        return Ok(oidc::error_page(headers, OFF, problem));
    }
    match problem.kind().status() {
        StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST | StatusCode::SERVICE_UNAVAILABLE => {
            page::without_room(problem, headers, "")
        }
        _ => Err(problem),
    }
}
