//! Who calls, and about which room: the first thing that every visitor's call settles.

use std::sync::Arc;

use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::{HeaderMap, request::Parts},
};
use vestibule_domain::{Progress, RoomId, RoomSnapshot};
use vestibule_issuance::RoomCiphers;
use vestibule_runtime::problem::{Problem, ProblemType};
use vestibule_store::KnownRoom;
use vestibule_token::{Ticket, TicketError};

use super::{BindingHandle, Carrier, cloudflare};
use crate::state::Admission;

/// A room as it is at the time of a request.
#[derive(Debug, Clone)]
pub(crate) struct RoomContext {
    /// The room.
    pub(crate) known: Arc<KnownRoom>,
    /// Its last snapshot.
    pub(crate) snapshot: Arc<RoomSnapshot>,
    /// Its ciphers.
    pub(crate) ciphers: Arc<RoomCiphers>,
    /// Its place in front of a site.
    pub(crate) binding: BindingHandle,
    /// Whether the visitor came over https.
    pub(crate) https: bool,
}

/// Someone who calls about a room.
#[derive(Debug)]
pub(crate) struct VisitorRequest {
    /// The room.
    pub(crate) context: RoomContext,
    /// How the ticket travels.
    pub(crate) carrier: Carrier,
    /// The ticket: opened, with its text.
    pub(crate) ticket: Result<(Ticket, String), NoTicket>,
    /// Whether the answer is to have the form of Cloudflare's waiting rooms.
    pub(crate) in_cloudflares_form: bool,
}

/// Why there is no ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoTicket {
    /// The request carries none.
    Absent,
    /// It carries something else.
    Refused(TicketError),
}

// === impl RoomContext ===

impl RoomContext {
    /// The room called `name`.
    ///
    /// # Errors
    /// A problem when there is no such room.
    pub(crate) fn for_room(admission: &Admission, name: &str) -> Result<Self, Problem> {
        let known = admission.feed.room(name).ok_or_else(|| unknown(name))?;
        let snapshot = known.snapshot();
        let ciphers = admission.ciphers.get(&snapshot.room, snapshot.reset_epoch);
        let https = admission.public_url.starts_with("https:");
        Ok(Self { binding: BindingHandle::room(&known), known, snapshot, ciphers, https })
    }

    /// How far the room has come, as far as this instance has seen: further than the snapshot by
    /// those whom it has numbered and let in itself since.
    pub(crate) fn progress(&self) -> Progress {
        self.known.progress(&self.snapshot)
    }

    /// Its ciphers of another reset epoch: Redis may be ahead of the snapshot.
    #[must_use]
    pub(crate) fn ciphers_for(&self, admission: &Admission, reset_epoch: u64) -> Arc<RoomCiphers> {
        admission.ciphers.get(&self.snapshot.room, reset_epoch)
    }
}

// === impl VisitorRequest ===

impl VisitorRequest {
    /// Who calls about `context`'s room with these headers.
    #[must_use]
    pub(crate) fn new(context: RoomContext, headers: &HeaderMap) -> Self {
        let (carrier, text) = Carrier::find(headers, &context.binding, &context.snapshot.room);
        let ticket = match text {
            None => Err(NoTicket::Absent),
            Some(text) => match context.ciphers.tickets.open(text) {
                Ok(ticket) => Ok((ticket, text.to_owned())),
                Err(error) => Err(NoTicket::Refused(error)),
            },
        };
        let in_cloudflares_form = cloudflare::is_asked_for(&context.snapshot, headers);
        Self { context, carrier, ticket, in_cloudflares_form }
    }

    /// The room, the ticket's way, and the ticket of a caller who must have one.
    ///
    /// # Errors
    /// A problem that says why the ticket does not do.
    pub(crate) fn with_ticket(self) -> Result<(RoomContext, Carrier, (Ticket, String)), Problem> {
        match self.ticket {
            Ok(ticket) => Ok((self.context, self.carrier, ticket)),
            Err(none) => Err(none.problem()),
        }
    }
}

// === impl NoTicket ===

impl NoTicket {
    fn problem(self) -> Problem {
        let reason = match self {
            Self::Absent => "there is none; join the room first",
            Self::Refused(TicketError::Malformed) => "this is not a ticket",
            Self::Refused(TicketError::Foreign) => {
                "it is of another room or of before a reset, or it was altered; join again"
            }
        };
        Problem::new(ProblemType::InvalidTicket).field("Vestibule-Ticket", reason)
    }
}

impl FromRequestParts<Arc<Admission>> for VisitorRequest {
    type Rejection = Problem;

    async fn from_request_parts(
        parts: &mut Parts,
        admission: &Arc<Admission>,
    ) -> Result<Self, Self::Rejection> {
        let params = RawPathParams::from_request_parts(parts, admission)
            .await
            .map_err(|error| Problem::internal(&error))?;
        let name = params.iter().find(|(name, _)| *name == "room").map_or("", |(_, room)| room);
        Ok(Self::new(RoomContext::for_room(admission, name)?, &parts.headers))
    }
}

fn unknown(name: &str) -> Problem {
    match RoomId::check(name) {
        Err(error) => Problem::new(ProblemType::InvalidRequest).field("room", error.to_string()),
        Ok(()) => Problem::new(ProblemType::RoomNotFound),
    }
}
