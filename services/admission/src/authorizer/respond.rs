//! A decision as an HTTP answer to the gateway.

use std::sync::Arc;

use axum::{
    body::Body,
    http::{
        HeaderMap, HeaderName, HeaderValue, Response, StatusCode,
        header::{CACHE_CONTROL, LOCATION, RETRY_AFTER},
    },
    response::IntoResponse,
};
use vestibule_runtime::problem::{Problem, ProblemType};

use super::{Decision, OriginalRequest, Refusal, RoomDecision};
use crate::{
    page,
    state::Admission,
    visitor::{
        CookieChange, RoomContext, TICKET, VisitorResponse,
        cloudflare::{self, wants_json},
    },
};

const DECISION: HeaderName = HeaderName::from_static("vestibule-decision");
const ROOM: HeaderName = HeaderName::from_static("vestibule-room");
const RULE: HeaderName = HeaderName::from_static("vestibule-rule");
const TOKEN: HeaderName = HeaderName::from_static("vestibule-token");

/// Tells the gateway what to do with `original`.
pub(crate) async fn respond(
    admission: &Arc<Admission>,
    decision: Decision,
    original: &OriginalRequest,
    headers: &HeaderMap,
    refusal: Refusal,
) -> Response<Body> {
    let word = decision.word();
    let Decision::Covered(context, decided) = decision else { return passes(word) };
    let response = match decided {
        RoomDecision::Preflight | RoomDecision::Open | RoomDecision::Inside => passes(word),
        RoomDecision::Bypassed(rule) => with(passes(word), RULE, &rule),
        RoomDecision::Renewed(answer) | RoomDecision::Entered(answer) => {
            told(passes(word), &answer)
        }
        RoomDecision::Waits(answer) => {
            let wait = Waiting { admission, context: &context, answer: &answer, original, headers };
            let seconds = answer.body.next_check_in_seconds.ceil().max(1.0);
            refuses(wait.refused(refusal).await, word, &format!("{seconds:.0}"))
        }
        RoomDecision::Busy(seconds) => {
            refuses(busy(&context, headers, refusal, seconds), word, &seconds.to_string())
        }
    };
    with(response, ROOM, context.snapshot.room.as_str())
}

/// A visitor who has to wait.
struct Waiting<'a> {
    admission: &'a Arc<Admission>,
    context: &'a RoomContext,
    answer: &'a VisitorResponse,
    original: &'a OriginalRequest,
    headers: &'a HeaderMap,
}

// === impl Waiting ===

impl Waiting<'_> {
    async fn refused(&self, refusal: Refusal) -> Response<Body> {
        match refusal {
            Refusal::Page => self.page().await,
            Refusal::Redirect => self.redirect(),
            Refusal::Status => self.status(StatusCode::UNAUTHORIZED),
        }
    }

    /// What the visitor is to see. A gateway would take 2xx for leave to pass.
    async fn page(&self) -> Response<Body> {
        let mut response = if wants_json(self.headers) {
            self.json()
        } else {
            let url = self.original.url();
            page::in_place(self.admission, self.context, self.answer, self.headers, &url).await
        };
        let chosen = StatusCode::from_u16(self.context.binding.queueing_status_code).ok();
        let refuses = chosen.filter(|status| !status.is_success());
        *response.status_mut() = refuses.unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
        response
    }

    fn json(&self) -> Response<Body> {
        if cloudflare::is_asked_for(&self.context.snapshot, self.headers) {
            let now_ms = self.context.known.now_ms();
            return cloudflare::respond(self.answer, &self.context.snapshot, now_ms);
        }
        self.answer.clone().into_response()
    }

    fn redirect(&self) -> Response<Body> {
        let room = &self.context.snapshot.room;
        let wanted: String =
            form_urlencoded::byte_serialize(self.original.url().as_bytes()).collect();
        let url = format!("{}/room/{room}?return={wanted}", self.admission.public_url);
        with(self.status(StatusCode::FOUND), LOCATION, &url)
    }

    /// The ticket goes along both ways: a gateway that asks for the page itself must pass it on.
    fn status(&self, status: StatusCode) -> Response<Body> {
        let mut response = empty(status);
        self.answer.hand_over(response.headers_mut());
        match &self.answer.ticket {
            CookieChange::Newest(ticket) => with(response, TICKET, ticket),
            CookieChange::Taken | CookieChange::Untouched => response,
        }
    }
}

/// The request passes.
fn passes(word: &str) -> Response<Body> {
    with(with(empty(StatusCode::OK), DECISION, word), CACHE_CONTROL, "no-store")
}

/// It does not, and may try again after so many seconds.
fn refuses(response: Response<Body>, word: &str, seconds: &str) -> Response<Body> {
    let response = with(with(response, DECISION, word), CACHE_CONTROL, "no-store");
    with(response, RETRY_AFTER, seconds)
}

/// What is new for a visitor inside goes along.
fn told(mut response: Response<Body>, answer: &VisitorResponse) -> Response<Body> {
    answer.hand_over(response.headers_mut());
    match &answer.body.access_token {
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

fn busy(
    context: &RoomContext,
    headers: &HeaderMap,
    refusal: Refusal,
    seconds: u32,
) -> Response<Body> {
    match refusal {
        Refusal::Status => empty(StatusCode::UNAUTHORIZED),
        Refusal::Page | Refusal::Redirect if wants_json(headers) => {
            Problem::new(ProblemType::RedisUnavailable).into_response()
        }
        Refusal::Page | Refusal::Redirect => page::busy(context, headers, seconds),
    }
}

fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}
