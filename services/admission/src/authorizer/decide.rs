//! The decision about one request for a site. For a visitor inside it usually makes no call to Redis.

use axum::http::{
    HeaderMap, HeaderName, Method,
    header::{
        ACCEPT_LANGUAGE, ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, CONTENT_LENGTH,
        CONTENT_TYPE, COOKIE, ORIGIN, TRANSFER_ENCODING, USER_AGENT,
    },
};
use vestibule_runtime::problem::{Problem, ProblemType};
use vestibule_site::Origin;
use vestibule_token::TicketState;
use vestibule_traces::note;

use super::{
    Answered, Authorizer, Decision, OriginalRequest, RoomDecision, original_request::HeaderFacts,
};
use crate::{
    extractors::{self, PresentedTicket, wants_page_json},
    flows::{Caller, FlowError, HELD_MS, RoomContext, Sender, Solution, Status, Stranger, Turn},
};

// === impl Authorizer ===

impl Authorizer {
    /// Decides about `original`, which came with `headers`.
    ///
    /// # Errors
    /// What is wrong with the request or with this service. A temporary failure, such as an outage of
    /// Redis, is no error but [`RoomDecision::Busy`].
    pub(crate) async fn decide(
        &self,
        original: &OriginalRequest,
        headers: &HeaderMap,
    ) -> Result<Decision, Problem> {
        let decision = match self.covering(original, headers).await? {
            None => Decision::Uncovered,
            Some(mut room) => {
                let decided = self.decide_in(&mut room, original, headers).await?;
                Decision::Covered(Box::new(room), decided)
            }
        };
        self.decisions.count(&decision);
        note(|span| span.set("vestibule.decision", decision.name()));
        Ok(decision)
    }

    /// The room that covers `original`, if any, and who asks.
    ///
    /// # Errors
    /// If the room was deleted a moment ago, the path is one that must be refused, or this instance has just started and
    /// does not know all rooms yet.
    pub(crate) async fn covering(
        &self,
        original: &OriginalRequest,
        headers: &HeaderMap,
    ) -> Result<Option<RoomContext>, Problem> {
        let (is_whole, coverage) = (self.coverage.is_whole(), self.coverage.get());
        let covering = coverage.covering(original.host(), &original.path);
        let Some((name, _)) = covering.map_err(OriginalRequest::wrong_path)? else {
            // Whoever has not read all rooms cannot say of anything that it is covered by none.
            return is_whole
                .then_some(None)
                .ok_or_else(|| Problem::new(ProblemType::RedisUnavailable));
        };
        let room = extractors::room(&self.flows, name.as_str()).await?;
        let network = Some(self.clients.network(original.client));
        let agent = headers.get(USER_AGENT).cloned();
        let languages = headers.get(ACCEPT_LANGUAGE).cloned();
        let https = original.https;
        let caller = Caller { https, network, agent, languages, ..room.caller };
        Ok(Some(RoomContext { caller, ..room }))
    }

    async fn decide_in(
        &self,
        room: &mut RoomContext,
        original: &OriginalRequest,
        headers: &HeaderMap,
    ) -> Result<RoomDecision, Problem> {
        if let Some(rule) = bypassed(room, original, headers) {
            return Ok(RoomDecision::Bypassed(rule));
        }
        if is_preflight(original, headers) {
            return Ok(RoomDecision::Preflight);
        }
        if room.snapshot.settings.suspended {
            return Ok(RoomDecision::Open);
        }
        let presented = match PresentedTicket::read(&self.flows, room, headers).await {
            Ok(presented) => presented,
            Err(error) if error.is_temporary() => return Ok(RoomDecision::Busy(error)),
            Err(error) => return Err(error.into()),
        };
        if presented.may_have_stayed_behind(headers) {
            return Ok(RoomDecision::Busy(FlowError::WithoutCookie));
        }
        let ticket = presented.value();
        if let Err(unproven) = original.asked().prove(&self.flows, room, headers, ticket.as_ref()) {
            self.flows.strangers.count(Stranger::key);
            return Ok(RoomDecision::Unproven(unproven));
        }
        if let Some(Err(too_often)) = ticket.map(|ticket| self.requests.count(room, &ticket)) {
            return Ok(RoomDecision::Limited(too_often));
        }
        // The page's script asks for the status, and says how it takes the turn.
        let turn = wants_page_json(headers)
            .then(|| extractors::turn_of_page(headers, &room.snapshot.settings));
        let solution = extractors::solution(headers).by(Sender::Browser);
        self.decide_about(room, presented, solution, turn).await
    }

    /// `turn`: how the page's script takes the turn; `None`: the visitor wants to enter.
    async fn decide_about(
        &self,
        room: &RoomContext,
        presented: PresentedTicket,
        solution: Solution<'_>,
        turn: Option<Turn>,
    ) -> Result<RoomDecision, Problem> {
        let ticket = presented.value();
        if ticket.is_some_and(|ticket| self.flows.is_inside(room, &ticket)) {
            return Ok(RoomDecision::Inside);
        }
        let answered = match turn {
            Some(turn) => self.flows.ask(room, ticket, solution, turn, HELD_MS).await,
            None => self.flows.enter(room, ticket, solution).await,
        };
        let response = match answered {
            Ok(response) => response,
            Err(FlowError::ChallengeRequired(demand)) => {
                return Ok(RoomDecision::Challenged(demand));
            }
            Err(error) if error.is_temporary() => return Ok(RoomDecision::Busy(error)),
            Err(error) => return Err(error.into()),
        };
        let is_admitted = response.status.status == Status::Admitted;
        // Of a ticket that is somebody else's, it has got another number.
        let number = response.status.queue_number;
        let of_before = ticket.filter(|ticket| {
            is_admitted && ticket.seat().is_none() && ticket.waiter.place.number == number
        });
        if let Some(Err(too_often)) =
            of_before.map(|ticket| self.requests.count_late(room, &ticket))
        {
            return Ok(RoomDecision::Limited(too_often));
        }
        let was_inside = ticket.is_some_and(|ticket| {
            matches!(ticket.state, TicketState::Held(_) | TicketState::Ended(_))
                && ticket.waiter.place.number == number
        });
        let answered = Box::new(Answered { presented, response });
        Ok(match (is_admitted, was_inside) {
            (false, _) => RoomDecision::Waits(answered),
            (true, true) => RoomDecision::Renewed(answered),
            (true, false) => RoomDecision::Entered(answered),
        })
    }
}

/// The name of the rule by which the request passes.
fn bypassed(room: &RoomContext, original: &OriginalRequest, headers: &HeaderMap) -> Option<String> {
    if room.binding.bypass_rules.is_empty() {
        return None;
    }
    let headers = HeaderFacts(headers);
    let (_, rule) = room.binding.bypassed_by(&original.facts(&headers))?;
    Some(rule.name.clone())
}

/// What a preflight never has: who the visitor is, and a body.
const NOT_OF_PREFLIGHTS: [HeaderName; 4] = [COOKIE, AUTHORIZATION, CONTENT_TYPE, TRANSFER_ENCODING];

/// Whether a browser asks by it what a page of another origin may do.
fn is_preflight(original: &OriginalRequest, headers: &HeaderMap) -> bool {
    let origin = only(headers, &ORIGIN);
    let method = only(headers, &ACCESS_CONTROL_REQUEST_METHOD);
    original.method == "OPTIONS"
        && origin.is_some_and(|origin| origin == "null" || origin.parse::<Origin>().is_ok())
        && method.is_some_and(|method| Method::from_bytes(method.as_bytes()).is_ok())
        && !NOT_OF_PREFLIGHTS.iter().any(|name| headers.contains_key(name))
        && headers.get_all(CONTENT_LENGTH).iter().all(|length| length == "0")
}

/// The value of a header that is there once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next().filter(|_| values.next().is_none())?;
    value.to_str().ok()
}
