//! What a flow answers: where the visitor stands, and what becomes of its ticket. Sealing the ticket
//! and sending it are the edge's (`responses`).

use std::sync::Arc;

use vestibule_domain::Waiter;
use vestibule_issuance::RoomCiphers;
use vestibule_token::{Ticket, TicketState};

use super::{RoomContext, VisitorStatus};

/// A flow's answer to a visitor.
#[derive(Debug)]
pub(crate) struct VisitorResponse {
    /// Where the visitor stands.
    pub(crate) status: VisitorStatus,
    /// What becomes of its ticket.
    pub(crate) cookie: CookieChange,
    /// What the ticket is sealed with. Redis may be a reset ahead of the room's snapshot.
    pub(crate) ciphers: Arc<RoomCiphers>,
}

/// What becomes of a visitor's ticket, and so of its cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CookieChange {
    /// It gets this new ticket.
    Set(Ticket),
    /// It is sent its own ticket again, which contains this. Nothing is sealed.
    Keep(Ticket),
    /// The visitor has left: an app gets this ticket, which records that; a browser's cookie is removed.
    End(Ticket),
    /// A browser's cookie is removed.
    Remove,
    /// The visitor keeps what it has, if anything.
    None,
}

/// A ticket on its way through a flow.
#[derive(Debug, Clone, Copy)]
pub(super) struct CurrentTicket {
    /// What it contains.
    pub(super) ticket: Ticket,
    /// Whether the visitor holds exactly this ticket; then it need not be sealed again.
    pub(super) is_presented: bool,
}

/// The ticket of somebody with a place in line: there is no other way to a claim. So nobody claims with a number of the
/// endless line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claimant(CurrentTicket);

// === impl CookieChange ===

impl CookieChange {
    /// The ticket that the visitor has from now on, if it has a place.
    pub(crate) fn ticket(&self) -> Option<&Ticket> {
        match self {
            Self::Set(ticket) | Self::Keep(ticket) => Some(ticket),
            Self::End(_) | Self::Remove | Self::None => None,
        }
    }
}

// === impl CurrentTicket ===

impl CurrentTicket {
    /// A ticket that the visitor has sent, as it counts in `room` now: whoever the room has let in uncounted while it was
    /// suspended is in line again once it is so no more.
    pub(super) fn presented(ticket: Ticket, room: &RoomContext) -> Self {
        let is_suspended = room.snapshot.settings.suspended;
        match ticket.back_in_line(room.known.now_ms()).filter(|_| !is_suspended) {
            Some(back) => Self::new(back),
            None => Self { ticket, is_presented: true },
        }
    }

    /// A ticket that the visitor does not hold yet.
    pub(super) fn new(ticket: Ticket) -> Self {
        Self { ticket, is_presented: false }
    }

    /// The change that gives it to the visitor.
    pub(super) fn into_change(self) -> CookieChange {
        if self.is_presented {
            CookieChange::Keep(self.ticket)
        } else {
            CookieChange::Set(self.ticket)
        }
    }

    /// Its holder as one who may claim; `None`: it has no place in line.
    pub(super) fn claimant(self) -> Option<Claimant> {
        match self.ticket.state {
            TicketState::Waiting => Some(Claimant(self)),
            TicketState::Held(_) | TicketState::Ended(_) | TicketState::Endless(_) => None,
        }
    }

    /// What it records about the wait.
    pub(super) fn waiter(&self) -> &Waiter {
        &self.ticket.waiter
    }
}

// === impl Claimant ===

impl Claimant {
    /// Its ticket.
    pub(super) fn current(self) -> CurrentTicket {
        self.0
    }

    /// What its ticket records about the wait.
    pub(super) fn waiter(&self) -> &Waiter {
        self.0.waiter()
    }
}
