//! `GET /oidc/{room}/resume`: from the waiting page back to the site.

use std::sync::Arc;

use axum::{
    extract::{RawQuery, Request, State},
    response::Response,
};
use vestibule_runtime::{
    extract::Path,
    problem::{Problem, ProblemType},
};
use vestibule_token::Login;

use super::{
    login::{LOGIN, Sent, go_on},
    provider::{provider_at, without_provider},
};
use crate::{
    endpoints::responses::ProviderRefusals, extractors::RoomPath, flows::RoomContext,
    oidc::error_page, state::Admission,
};

/// Go on with a login
///
/// The waiting page leads here when the visitor's turn has come: whoever is inside, or may enter now, goes back to the
/// site with a code; others go back to the page. What the site has asked for is in `login`, sealed, for a week.
#[utoipa::path(
    get, path = "/oidc/{room}/resume", operation_id = "resume_login", tag = "openid-connect",
    params(RoomPath, ("login" = String, Query, description = "What the site has asked for, sealed")),
    responses(
        (status = 302, description = "To the site with `code`, `state` and `iss`; or to the waiting page"),
        (status = 400, description = "`login` cannot be gone on with: a page that says so for browsers, a problem for others", content(
            (String = "text/html"), (Problem = "application/problem+json"),
        )),
        (status = 401, description = "The session is bound to a key, and there is no good proof (`DPoP`) of it", body = Problem, content_type = "application/problem+json"),
        (status = 403, description = "A page of another origin fetched it with the visitor's cookie", body = Problem, content_type = "application/problem+json"),
        ProviderRefusals,
    )
)]
pub(crate) async fn resume_login(
    State(admission): State<Arc<Admission>>,
    path: Result<Path<RoomPath>, Problem>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, _) = request.into_parts();
    let (headers, flows) = (&parts.headers, &admission.flows);
    let room = match provider_at(flows, path).await {
        Ok(room) => room,
        Err(problem) => return without_provider(problem, headers),
    };
    let login = match login_of(&room, query.as_deref().unwrap_or_default()) {
        Ok(login) => login,
        Err(reason) => {
            let problem = Problem::new(ProblemType::InvalidRequest);
            return Ok(error_page(headers, reason, problem));
        }
    };
    let sent = Sent::of(&parts);
    go_on(&admission, room, sent, &login).await
}

/// What the site has asked for, if its client may still be answered so.
fn login_of(room: &RoomContext, query: &str) -> Result<Login, &'static str> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let sealed = pairs.find(|(name, _)| name == LOGIN).map(|(_, value)| value);
    let login = room.ciphers.logins.open(&sealed.ok_or("login is missing")?);
    let login = login.map_err(|_| "login is not one of this room, or was altered")?;
    if login.until <= room.known.now_ms() / 1000 {
        return Err("login was begun more than a week ago");
    }
    let client = room.binding.oidc_client(&login.client);
    if !client.is_some_and(|client| client.may_return_to(&login.redirect_uri)) {
        return Err("the client may no longer send its visitors here and back");
    }
    Ok(login)
}
