//! Who calls, and about which room: the first thing that every visitor's call settles.

use std::sync::Arc;

use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::{HeaderMap, request::Parts},
};
use vestibule_domain::{RoomId, RoomSnapshot};
use vestibule_entry::SealsOf;
use vestibule_runtime::problem::{Problem, ProblemType};
use vestibule_store::KnownRoom;
use vestibule_token::{Ticket, TicketError};

use super::{Carrier, FrontOf, cloudflare};
use crate::state::Admission;

/// A room as it is at the time of a request.
#[derive(Debug, Clone)]
pub(crate) struct Visit {
    /// The room.
    pub(crate) known: Arc<KnownRoom>,
    /// Its last snapshot.
    pub(crate) snapshot: Arc<RoomSnapshot>,
    /// Its ciphers.
    pub(crate) seals: Arc<SealsOf>,
    /// Its place in front of a site.
    pub(crate) front: FrontOf,
    /// Whether the visitor came over https.
    pub(crate) https: bool,
}

/// Someone who calls about a room.
#[derive(Debug)]
pub(crate) struct Caller {
    /// The room.
    pub(crate) visit: Visit,
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

// === impl Visit ===

impl Visit {
    /// The room called `name`.
    ///
    /// # Errors
    /// A problem when there is no such room.
    pub(crate) fn of(admission: &Admission, name: &str) -> Result<Self, Problem> {
        let known = admission.feed.room(name).ok_or_else(|| unknown(name))?;
        let snapshot = known.snapshot();
        let seals = admission.seals.of(&snapshot.room, snapshot.reset_epoch);
        let https = admission.public_url.starts_with("https:");
        Ok(Self { front: FrontOf::room(&known), known, snapshot, seals, https })
    }

    /// Its ciphers of another reset epoch: Redis may be ahead of the snapshot.
    #[must_use]
    pub(crate) fn seals_of(&self, admission: &Admission, reset_epoch: u64) -> Arc<SealsOf> {
        admission.seals.of(&self.snapshot.room, reset_epoch)
    }
}

// === impl Caller ===

impl Caller {
    /// Who calls about `visit`'s room with these headers.
    #[must_use]
    pub(crate) fn new(visit: Visit, headers: &HeaderMap) -> Self {
        let (carrier, text) = Carrier::find(headers, &visit.front, &visit.snapshot.room);
        let ticket = match text {
            None => Err(NoTicket::Absent),
            Some(text) => match visit.seals.tickets.open(text) {
                Ok(ticket) => Ok((ticket, text.to_owned())),
                Err(error) => Err(NoTicket::Refused(error)),
            },
        };
        let in_cloudflares_form = cloudflare::is_asked_for(&visit.snapshot, headers);
        Self { visit, carrier, ticket, in_cloudflares_form }
    }

    /// The room, the ticket's way, and the ticket of a caller who must have one.
    ///
    /// # Errors
    /// A problem that says why the ticket does not do.
    pub(crate) fn with_ticket(self) -> Result<(Visit, Carrier, (Ticket, String)), Problem> {
        match self.ticket {
            Ok(ticket) => Ok((self.visit, self.carrier, ticket)),
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

impl FromRequestParts<Arc<Admission>> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(
        parts: &mut Parts,
        admission: &Arc<Admission>,
    ) -> Result<Self, Self::Rejection> {
        let params = RawPathParams::from_request_parts(parts, admission)
            .await
            .map_err(|error| Problem::internal(&error))?;
        let name = params.iter().find(|(name, _)| *name == "room").map_or("", |(_, room)| room);
        Ok(Self::new(Visit::of(admission, name)?, &parts.headers))
    }
}

fn unknown(name: &str) -> Problem {
    match RoomId::check(name) {
        Err(error) => Problem::new(ProblemType::InvalidRequest).field("room", error.to_string()),
        Ok(()) => Problem::new(ProblemType::RoomNotFound),
    }
}
