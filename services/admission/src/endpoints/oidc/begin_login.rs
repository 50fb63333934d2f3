//! `GET /oidc/{room}/authorize`: a site sends its visitor to log in.

use std::sync::Arc;

use axum::{
    extract::{RawQuery, Request, State},
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{CACHE_CONTROL, LOCATION},
    },
    response::{IntoResponse, Response},
};
use vestibule_runtime::{
    extract::{Form, Path},
    problem::{Problem, ProblemType},
};

use super::{
    login::{Sent, ask, found, go_on},
    provider::{issuer, provider, provider_at, without_provider},
};
use crate::{
    endpoints::responses::ProviderRefusals,
    extractors::RoomPath,
    oidc::{Answer, AuthorizationRequest, NoText, Refused, check_text, error_page},
    state::Admission,
};

/// The longest form that is made an address of, in bytes.
const LONGEST_FORM: usize = 6 * 1024;

/// Log a visitor in
///
/// For a site's visitors: whoever is inside, or may enter at once, goes back to the site with a code; others go to the
/// waiting page, and from there back to the site when their turn has come. Nothing is stored of it: the visitor carries
/// along what the site has asked for.
///
/// As long as `client_id` and `redirect_uri` are not exactly those of a client, the answer is an error for the visitor,
/// and never a redirect.
#[utoipa::path(
    get, path = "/oidc/{room}/authorize", operation_id = "begin_login", tag = "openid-connect",
    params(
        RoomPath,
        ("client_id" = String, Query, description = "A client of the room's `oidc_clients`"),
        ("redirect_uri" = String, Query, description = "Exactly one of the client's `redirect_uris`"),
        ("response_type" = String, Query, description = "`code`"),
        ("scope" = String, Query, description = "Must contain `openid`; others are passed over"),
        ("state" = Option<String>, Query, description = "Comes back as it is"),
        ("nonce" = Option<String>, Query, description = "Comes back in the id token"),
        ("code_challenge" = Option<String>, Query, description = "PKCE (RFC 7636); a public client must send it"),
        ("code_challenge_method" = Option<String>, Query, description = "`S256`"),
        ("prompt" = Option<String>, Query, description = "`none`: whoever is not inside comes back with `login_required`"),
    ),
    responses(
        (status = 302, description = "To the site with `code`, `state` and `iss`, or with `error` and `state`; or to the waiting page"),
        (status = 400, description = "Not of a client of this room, or not back to where it may be: a page that says so for browsers, a problem for others", content(
            (String = "text/html"), (Problem = "application/problem+json"),
        )),
        (status = 401, description = "The session is bound to a key, and there is no good proof (`DPoP`) of it", body = Problem, content_type = "application/problem+json"),
        (status = 403, description = "A page of another origin fetched it with the visitor's cookie", body = Problem, content_type = "application/problem+json"),
        ProviderRefusals,
    )
)]
pub(crate) async fn begin_login(
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
    let sent = Sent::of(&parts);
    let now = room.known.now_ms() / 1000;
    let query = query.unwrap_or_default();
    match AuthorizationRequest::read(&query, &room.binding, now) {
        Ok(AuthorizationRequest { login, without_page: false }) => {
            go_on(&admission, room, sent, &login).await
        }
        Ok(AuthorizationRequest { login, .. }) => ask(&admission, room, sent, &login).await,
        Err(Refused::Here(reason)) => {
            Ok(error_page(headers, reason, Problem::new(ProblemType::InvalidRequest)))
        }
        Err(Refused::There { redirect_uri, state, error, description }) => {
            let issuer = issuer(flows, &room);
            let answer =
                Answer { redirect_uri: &redirect_uri, state: state.as_deref(), issuer: &issuer };
            found(&answer.with_error(error, description))
        }
    }
}

/// Log a visitor in, by a form
///
/// Leads to the same address with the form's parameters in its query: cookies do not travel with a form of another site.
#[utoipa::path(
    post, path = "/oidc/{room}/authorize", operation_id = "post_login", tag = "openid-connect",
    params(RoomPath),
    request_body(content = String, content_type = "application/x-www-form-urlencoded", description = "The parameters of `GET`"),
    responses(
        (status = 303, description = "To the same address"),
        (status = 400, description = "The form cannot be read", body = Problem, content_type = "application/problem+json"),
        (status = 408, description = "The body does not arrive within 10 seconds", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "The form is too long", body = Problem, content_type = "application/problem+json"),
        (status = 415, description = "Not a form", body = Problem, content_type = "application/problem+json"),
        ProviderRefusals,
    )
)]
pub(crate) async fn post_login(
    State(admission): State<Arc<Admission>>,
    Path(RoomPath { room }): Path<RoomPath>,
    form: Result<Form, Problem>,
) -> Result<Response, Problem> {
    let _ = provider(&admission.flows, room.as_str()).await?;
    let Form(form) = form?;
    if form.len() > LONGEST_FORM {
        return Err(Problem::new(ProblemType::PayloadTooLarge));
    }
    let no_text =
        |NoText| Problem::new(ProblemType::InvalidRequest).detail("the form is not UTF-8");
    check_text(&form).map_err(no_text)?;
    // Read and written once more, so that nothing is in it but parameters.
    let pairs = form_urlencoded::parse(form.as_bytes());
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    let target = HeaderValue::from_str(&format!("authorize?{query}"));
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    headers.insert(LOCATION, target.map_err(|error| Problem::internal(&error))?);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// Whether a visitor may be sent here; nobody gets a place by it.
pub(crate) async fn head_login(
    State(admission): State<Arc<Admission>>,
    path: Result<Path<RoomPath>, Problem>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    match provider_at(&admission.flows, path).await {
        Ok(_) => Ok([(CACHE_CONTROL, "no-store")].into_response()),
        Err(problem) => without_provider(problem, &headers),
    }
}
