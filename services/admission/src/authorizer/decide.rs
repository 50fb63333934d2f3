//! The decision about one request for a site.

use std::sync::Arc;

use axum::http::{
    HeaderMap,
    header::{ACCESS_CONTROL_REQUEST_METHOD, ORIGIN},
};
use vestibule_runtime::problem::Problem;
use vestibule_token::{Seat, Ticket};

use super::{OriginalRequest, original_request::HeaderFacts};
use crate::{
    endpoints::{enter, tell},
    page,
    state::Admission,
    visitor::{RoomContext, Status, VisitorRequest, VisitorResponse, end_of},
};

/// What is decided about a request.
#[derive(Debug)]
pub(crate) enum Decision {
    /// No room covers it.
    Uncovered,
    /// A room covers it.
    Covered(Box<RoomContext>, RoomDecision),
}

/// What a room that covers a request decides about it.
#[derive(Debug)]
pub(crate) enum RoomDecision {
    /// It passes uncounted by the rule of this name.
    Bypassed(String),
    /// A browser asks whether it may ask: it passes uncounted. It never brings cookies, so nobody
    /// could ever be inside for it.
    Preflight,
    /// The room is off.
    Open,
    /// The visitor is inside; there is nothing new to tell.
    Inside,
    /// The visitor is inside, and gets a new ticket.
    Renewed(Box<VisitorResponse>),
    /// The visitor has just entered.
    Entered(Box<VisitorResponse>),
    /// The visitor waits.
    Waits(Box<VisitorResponse>),
    /// Nobody can tell for now; ask again after so many seconds.
    Busy(u32),
}

// === impl Decision ===

impl Decision {
    /// What it is called: in the header `Vestibule-Decision`, and in metrics.
    pub(crate) fn word(&self) -> &'static str {
        let Self::Covered(_, decided) = self else { return "uncovered" };
        match decided {
            RoomDecision::Bypassed(_) => "bypassed",
            RoomDecision::Preflight => "preflight",
            RoomDecision::Open => "open",
            RoomDecision::Inside | RoomDecision::Renewed(_) => "inside",
            RoomDecision::Entered(_) => "entered",
            RoomDecision::Waits(_) => "wait",
            RoomDecision::Busy(_) => "busy",
        }
    }
}

/// Decides about `original`, which came with `headers`. A visitor inside costs Redis nothing.
///
/// # Errors
/// What is wrong with the request; never that the store is away.
pub(crate) async fn decide(
    admission: &Arc<Admission>,
    original: &OriginalRequest,
    headers: &HeaderMap,
) -> Result<Decision, Problem> {
    let decision = match covering(admission, original)? {
        None => Decision::Uncovered,
        Some(context) => {
            let decided = decide_in(admission, &context, original, headers).await?;
            Decision::Covered(Box::new(context), decided)
        }
    };
    admission.decisions.count(&decision);
    Ok(decision)
}

/// The room that covers `original`, if any.
///
/// # Errors
/// When the room has gone in this very moment.
pub(crate) fn covering(
    admission: &Admission,
    original: &OriginalRequest,
) -> Result<Option<RoomContext>, Problem> {
    let coverage = admission.coverage.coverage();
    let Some((room, _)) = coverage.covering(original.host(), &original.path) else {
        return Ok(None);
    };
    Ok(Some(RoomContext {
        https: original.https,
        ..RoomContext::for_room(admission, room.as_str())?
    }))
}

async fn decide_in(
    admission: &Arc<Admission>,
    context: &RoomContext,
    original: &OriginalRequest,
    headers: &HeaderMap,
) -> Result<RoomDecision, Problem> {
    if let Some(rule) = bypassed(context, original, headers) {
        return Ok(RoomDecision::Bypassed(rule));
    }
    if is_preflight(original, headers) {
        return Ok(RoomDecision::Preflight);
    }
    if context.snapshot.settings.suspended {
        return Ok(RoomDecision::Open);
    }
    decide_about(
        admission,
        VisitorRequest::new(context.clone(), headers),
        page::wants_page_json(headers),
    )
    .await
}

/// The name of the rule by which the request passes.
fn bypassed(
    context: &RoomContext,
    original: &OriginalRequest,
    headers: &HeaderMap,
) -> Option<String> {
    if context.binding.bypass_rules.is_empty() {
        return None;
    }
    let headers = HeaderFacts(headers);
    let (_, rule) = context.binding.bypassed_by(&original.facts(&headers))?;
    Some(rule.name.clone())
}

/// The page only asks how things stand: entering is up to the visitor.
async fn decide_about(
    admission: &Arc<Admission>,
    caller: VisitorRequest,
    only_asks: bool,
) -> Result<RoomDecision, Problem> {
    let ticket = caller.ticket.as_ref().ok().map(|(ticket, _)| ticket);
    let seat = ticket.and_then(|ticket| Some((*ticket, ticket.seat?)));
    if seat.is_some_and(|(ticket, seat)| is_inside(admission, &caller.context, &ticket, &seat)) {
        return Ok(RoomDecision::Inside);
    }
    let arrived =
        if only_asks { tell(admission, caller).await } else { enter(admission, caller).await };
    match arrived {
        Ok(answer) if answer.body.status != Status::Admitted => {
            Ok(RoomDecision::Waits(answer.into()))
        }
        Ok(answer) if seat.is_some() => Ok(RoomDecision::Renewed(answer.into())),
        Ok(answer) => Ok(RoomDecision::Entered(answer.into())),
        // Later it may be possible.
        Err(problem) => problem.kind().default_retry_after().map(RoomDecision::Busy).ok_or(problem),
    }
}

/// Whether the ticket's session must still be alive, without asking Redis: it was seen there not
/// long ago, and has not been ended since.
fn is_inside(admission: &Admission, context: &RoomContext, ticket: &Ticket, seat: &Seat) -> bool {
    let (snapshot, now_ms) = (&context.snapshot, context.known.now_ms());
    let unseen_ms = now_ms.saturating_sub(ticket.waiter.checked_in_at);
    // While Redis is away, those inside stay inside.
    let fresh = unseen_ms < snapshot.settings.unseen_ms() || !admission.feed.is_connected();
    fresh
        && end_of(seat).is_none()
        && seat.generation == snapshot.generation
        && seat.expires_at * 1000 > now_ms
        && !context.known.has_ended(snapshot.reset_epoch, ticket.waiter.place.number)
}

fn is_preflight(original: &OriginalRequest, headers: &HeaderMap) -> bool {
    original.method == "OPTIONS"
        && headers.contains_key(ORIGIN)
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}
