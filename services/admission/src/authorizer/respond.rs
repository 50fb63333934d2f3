//! A decision as an HTTP response to the gateway.

use axum::{
    body::Body,
    http::{
        HeaderMap, HeaderName, HeaderValue, Response, StatusCode,
        header::{CACHE_CONTROL, LOCATION, RETRY_AFTER},
    },
    response::IntoResponse,
};
use vestibule_domain::request_rate::TooOften;
use vestibule_runtime::problem::Problem;

use super::{Answered, Authorizer, Decision, OriginalRequest, Refusal, RoomDecision};
use crate::{
    challenges::Demand,
    extractors::{TICKET, wants_cloudflares_form, wants_json},
    flows::{FlowError, RoomContext},
    page,
    responses::VisitorReply,
};

const DECISION: HeaderName = HeaderName::from_static("vestibule-decision");
const ROOM: HeaderName = HeaderName::from_static("vestibule-room");
const RULE: HeaderName = HeaderName::from_static("vestibule-rule");
const TOKEN: HeaderName = HeaderName::from_static("vestibule-token");

// === impl Authorizer ===

impl Authorizer {
    /// The response that makes the gateway pass or refuse `original`.
    pub(crate) async fn respond(
        &self,
        decision: Decision,
        original: &OriginalRequest,
        headers: &HeaderMap,
        refusal: Refusal,
    ) -> Response<Body> {
        let name = decision.name();
        let Decision::Covered(room, decided) = decision else { return passes(name) };
        let response = match decided {
            RoomDecision::Preflight | RoomDecision::Open | RoomDecision::Inside => passes(name),
            RoomDecision::Bypassed(rule) => with(passes(name), RULE, &rule),
            RoomDecision::Renewed(answered) | RoomDecision::Entered(answered) => {
                with_token(passes(name), answered.reply(&room))
            }
            RoomDecision::Waits(answered) => {
                let reply = answered.reply(&room);
                let seconds = reply.response.status.next_check_in_seconds.ceil().max(1.0);
                let refused = Refused { authorizer: self, reply, original, headers };
                refuses(refused.response(refusal).await, name, &format!("{seconds:.0}"))
            }
            RoomDecision::Challenged(demand) => {
                let challenged =
                    Challenged { authorizer: self, room: &room, demand, original, headers };
                refuses(challenged.response(refusal), name, "1")
            }
            RoomDecision::Unproven(unproven) => {
                let response = Problem::from(unproven).into_response();
                with(with(response, DECISION, name), CACHE_CONTROL, "no-store")
            }
            RoomDecision::Limited(TooOften { wait_ms }) => {
                let seconds = u32::try_from(wait_ms.div_ceil(1000)).unwrap_or(u32::MAX);
                let response = match refusal {
                    Refusal::Status => empty(StatusCode::UNAUTHORIZED),
                    Refusal::Page | Refusal::Redirect => page::limited(&room, headers, seconds),
                };
                refuses(response, name, &seconds.to_string())
            }
            RoomDecision::Busy(error) => {
                let (response, seconds) = busy(&room, error, headers, refusal);
                refuses(response, name, &seconds.to_string())
            }
        };
        with(response, ROOM, room.snapshot.room.as_str())
    }
}

// === impl Answered ===

impl Answered {
    fn reply<'a>(&'a self, room: &'a RoomContext) -> VisitorReply<'a> {
        VisitorReply { room, presented: &self.presented, response: &self.response }
    }
}

/// A visitor who has to wait.
struct Refused<'a> {
    authorizer: &'a Authorizer,
    reply: VisitorReply<'a>,
    original: &'a OriginalRequest,
    headers: &'a HeaderMap,
}

// === impl Refused ===

impl Refused<'_> {
    async fn response(&self, refusal: Refusal) -> Response<Body> {
        match refusal {
            Refusal::Page => self.page().await,
            Refusal::Redirect => self.redirect(),
            Refusal::Status => self.status(StatusCode::UNAUTHORIZED),
        }
    }

    /// The response for the visitor.
    async fn page(&self) -> Response<Body> {
        let room = self.reply.room;
        let mut response = if wants_cloudflares_form(&room.snapshot.settings, self.headers) {
            self.reply.in_cloudflares_form()
        } else if wants_json(self.headers) {
            self.reply.into_response()
        } else {
            let url = self.original.url();
            self.authorizer.pages.respond_in_place(self.reply, self.headers, &url).await
        };
        *response.status_mut() = status_of_refusal(room);
        response
    }

    fn redirect(&self) -> Response<Body> {
        let target = page_address(self.authorizer, self.reply.room, self.original);
        with(self.status(StatusCode::FOUND), LOCATION, &target)
    }

    /// The ticket is in the cookie and in a header, because a gateway that then asks for the page has to
    /// pass it on.
    fn status(&self, status: StatusCode) -> Response<Body> {
        let mut response = empty(status);
        let sealed = self.reply.sealed_ticket();
        let transport = self.reply.presented.transport;
        sealed.write(response.headers_mut(), transport, self.reply.cookies());
        if let Some(ticket) = sealed.value() {
            response.headers_mut().insert(TICKET, ticket.clone());
        }
        response
    }
}

/// A visitor who has no place and something to solve first.
struct Challenged<'a> {
    authorizer: &'a Authorizer,
    room: &'a RoomContext,
    demand: Box<Demand>,
    original: &'a OriginalRequest,
    headers: &'a HeaderMap,
}

// === impl Challenged ===

impl Challenged<'_> {
    fn response(self, refusal: Refusal) -> Response<Body> {
        let Self { authorizer, room, demand, original, headers } = self;
        match refusal {
            Refusal::Status => empty(StatusCode::UNAUTHORIZED),
            Refusal::Redirect => {
                let target = page_address(authorizer, room, original);
                with(empty(StatusCode::FOUND), LOCATION, &target)
            }
            Refusal::Page if wants_json(headers) => {
                Problem::from(FlowError::ChallengeRequired(demand)).into_response()
            }
            Refusal::Page => {
                let pages = &authorizer.pages;
                let mut page = pages.challenge_in_place(room, headers, &original.url(), &demand);
                *page.status_mut() = status_of_refusal(room);
                page
            }
        }
    }
}

/// The status of a page for who may not pass. Never 2xx, which gateways read as permission.
fn status_of_refusal(room: &RoomContext) -> StatusCode {
    let chosen = StatusCode::from_u16(room.binding.queueing_status_code).ok();
    chosen.filter(|status| !status.is_success()).unwrap_or(StatusCode::SERVICE_UNAVAILABLE)
}

/// The waiting page's own address, for who wants `original`.
fn page_address(authorizer: &Authorizer, room: &RoomContext, original: &OriginalRequest) -> String {
    let wanted: String = form_urlencoded::byte_serialize(original.url().as_bytes()).collect();
    let public_url = &authorizer.flows.public_url;
    format!("{public_url}/room/{}?return={wanted}", room.snapshot.room)
}

/// The request passes.
fn passes(decision: &str) -> Response<Body> {
    with(with(empty(StatusCode::OK), DECISION, decision), CACHE_CONTROL, "no-store")
}

/// The request does not pass, and may be tried again after so many seconds.
fn refuses(response: Response<Body>, decision: &str, seconds: &str) -> Response<Body> {
    let response = with(with(response, DECISION, decision), CACHE_CONTROL, "no-store");
    with(response, RETRY_AFTER, seconds)
}

/// The visitor gets its new ticket, and the site the token.
fn with_token(mut response: Response<Body>, reply: VisitorReply<'_>) -> Response<Body> {
    reply.write_ticket_alone(response.headers_mut());
    match &reply.response.status.access_token {
        Some(token) => with(response, TOKEN, token),
        None => response,
    }
}

/// Sets a header; a value that cannot be one is left out.
fn with(mut response: Response<Body>, name: HeaderName, value: &str) -> Response<Body> {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
    response
}

/// The response while no decision is possible, and after how many seconds to try again.
fn busy(
    room: &RoomContext,
    error: FlowError,
    headers: &HeaderMap,
    refusal: Refusal,
) -> (Response<Body>, u32) {
    let problem = Problem::from(error);
    let seconds = problem.seconds_to_retry().unwrap_or(1);
    let response = match refusal {
        Refusal::Status => empty(StatusCode::UNAUTHORIZED),
        Refusal::Page | Refusal::Redirect if wants_json(headers) => problem.into_response(),
        Refusal::Page | Refusal::Redirect => page::busy(room, headers, seconds),
    };
    (response, seconds)
}

fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}
