//! A visitor who is to log in: it enters if it can, and then goes back to the site with a code; else it goes to the
//! waiting page, which leads back here.

use axum::{
    http::{
        Extensions, HeaderMap, HeaderValue, Method, StatusCode, Uri,
        header::{CACHE_CONTROL, LOCATION, REFERRER_POLICY},
        request::Parts,
    },
    response::{IntoResponse, Response},
};
use vestibule_runtime::problem::Problem;
use vestibule_site::UrlParts;
use vestibule_token::Login;

use super::provider::issuer;
use crate::{
    extractors::{Asked, Initiator, VisitorRequest, is_navigation},
    flows::{FlowError, Flows, RoomContext, Sender, Status, VisitorResponse},
    oidc::{Answer, AuthorizationError},
    page,
    responses::VisitorReply,
    state::Admission,
};

/// The parameter in which the waiting page leads back to what a site has asked for.
pub(super) const LOGIN: &str = "login";

/// A visitor's request, taken apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent<'a> {
    pub(super) method: &'a Method,
    pub(super) uri: &'a Uri,
    pub(super) extensions: &'a Extensions,
    pub(super) headers: &'a HeaderMap,
}

// === impl Sent ===

impl<'a> Sent<'a> {
    pub(super) fn of(parts: &'a Parts) -> Self {
        let Parts { method, uri, extensions, headers, .. } = parts;
        Self { method, uri, extensions, headers }
    }
}

/// Lets the visitor enter, and sends it where it belongs then.
///
/// # Errors
/// What is wrong with the visitor's request, or with this service.
pub(super) async fn go_on(
    admission: &Admission,
    mut room: RoomContext,
    sent: Sent<'_>,
    login: &Login,
) -> Result<Response, Problem> {
    let flows = &admission.flows;
    let to_page = to_page(flows, &room, login);
    let request = match read(admission, &mut room, sent).await {
        Ok(request) => request,
        // The page says so, and tries again.
        Err(problem) if problem.kind().default_retry_after().is_some() => return found(&to_page),
        Err(problem) => return Err(problem),
    };
    let solution = request.solution().by(Sender::Browser);
    let entered = flows.enter(&request.room, request.ticket.value(), solution).await;
    let entered = match entered {
        Ok(entered) => entered,
        // Whoever has something to solve first does that at the page, too.
        Err(FlowError::ChallengeRequired(_)) => return found(&to_page),
        Err(error) if error.is_temporary() => return found(&to_page),
        Err(error) => return Err(error.into()),
    };
    let back = back_to_site(flows, &request, login, &entered);
    if back.is_none() && entered.status.status == Status::Admitted {
        // Let in without a place, since Redis is away: no code could be exchanged, and the page would lead back here.
        return later(flows, &request.room, login);
    }
    let mut response = found(&back.unwrap_or(to_page))?;
    page::write_cookies(VisitorReply::new(&request, &entered), response.headers_mut());
    Ok(response)
}

/// Sends a visitor back with a code if it is inside already, and otherwise with an error: no page is shown.
///
/// # Errors
/// As [`go_on`].
pub(super) async fn ask(
    admission: &Admission,
    mut room: RoomContext,
    sent: Sent<'_>,
    login: &Login,
) -> Result<Response, Problem> {
    let flows = &admission.flows;
    let waits = |room: &RoomContext| {
        let why = (AuthorizationError::LoginRequired, "the visitor is not inside");
        refused(flows, room, login, why)
    };
    let request = match read(admission, &mut room, sent).await {
        Ok(request) => request,
        Err(problem) if problem.kind().default_retry_after().is_some() => {
            return later(flows, &room, login);
        }
        Err(problem) => return Err(problem),
    };
    let Ok(ticket) = request.ticket.known() else { return later(flows, &request.room, login) };
    let Some(ticket) = ticket.filter(|ticket| ticket.seat().is_some()) else {
        return waits(&request.room);
    };
    let response = match flows.check_in(&request.room, ticket).await {
        Ok(response) => response,
        Err(FlowError::Stranger) => return waits(&request.room),
        Err(error) if error.is_temporary() => return later(flows, &request.room, login),
        Err(error) => return Err(error.into()),
    };
    let Some(back) = back_to_site(flows, &request, login, &response) else {
        return waits(&request.room);
    };
    let mut answer = found(&back)?;
    page::write_cookies(VisitorReply::new(&request, &response), answer.headers_mut());
    Ok(answer)
}

async fn read(
    admission: &Admission,
    room: &mut RoomContext,
    sent: Sent<'_>,
) -> Result<VisitorRequest, Problem> {
    let Sent { method, uri, extensions, headers } = sent;
    let flows = &admission.flows;
    admission.clients.identify(room, extensions, headers);
    let asked = Asked::of_us(flows, method, uri.path());
    // A site leads its visitors here by a link or a redirect: as to the waiting page.
    let initiator = match Initiator::of(headers, &flows.public_url, &room.binding) {
        Initiator::Foreign if is_navigation(headers) => Initiator::Untold,
        initiator => initiator,
    };
    VisitorRequest::read(flows, room.clone(), headers, &asked, initiator).await
}

/// The site's address with a code, if the visitor is inside.
fn back_to_site(
    flows: &Flows,
    request: &VisitorRequest,
    login: &Login,
    response: &VisitorResponse,
) -> Option<String> {
    let code = Flows::grant(&request.room, login, response)?;
    let issuer = issuer(flows, &request.room);
    Some(Answer::to(login, &issuer).with_code(&code))
}

/// The site is told that it has to come again.
fn later(flows: &Flows, room: &RoomContext, login: &Login) -> Result<Response, Problem> {
    let why = (AuthorizationError::TemporarilyUnavailable, "try again shortly");
    refused(flows, room, login, why)
}

fn refused(
    flows: &Flows,
    room: &RoomContext,
    login: &Login,
    (error, description): (AuthorizationError, &str),
) -> Result<Response, Problem> {
    found(&Answer::to(login, &issuer(flows, room)).with_error(error, description))
}

/// The waiting page of the room, from which the visitor goes on here. Relative, as all links between our own pages.
fn to_page(flows: &Flows, room: &RoomContext, login: &Login) -> String {
    let name = &room.snapshot.room;
    let below = UrlParts::split(&flows.public_url).map_or("", |own| own.path.trim_end_matches('/'));
    let sealed = room.ciphers.logins.seal(login);
    let resume = format!("{below}/oidc/{name}/resume?{LOGIN}={sealed}");
    let query =
        form_urlencoded::Serializer::new(String::new()).append_pair(page::RETURN, &resume).finish();
    format!("../../room/{name}?{query}")
}

/// 302, and whoever is led there does not learn from where: the address may have a code in it.
///
/// # Errors
/// If `target` cannot be sent, which does not happen.
pub(super) fn found(target: &str) -> Result<Response, Problem> {
    let mut response = StatusCode::FOUND.into_response();
    let headers = response.headers_mut();
    headers.insert(LOCATION, HeaderValue::from_str(target).map_err(|e| Problem::internal(&e))?);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(response)
}
