//! What is decided about a request for a site.

use vestibule_domain::request_rate::TooOften;

use crate::{
    challenges::Demand,
    extractors::PresentedTicket,
    flows::{FlowError, RoomContext, Unproven, VisitorResponse},
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
    /// A browser's CORS preflight: it passes uncounted. It never carries cookies, so it cannot show
    /// that its visitor is inside.
    Preflight,
    /// The room is off.
    Open,
    /// The visitor is inside and keeps its ticket.
    Inside,
    /// The visitor is inside, and gets a new ticket.
    Renewed(Box<Answered>),
    /// The visitor has just entered.
    Entered(Box<Answered>),
    /// The visitor waits.
    Waits(Box<Answered>),
    /// The visitor, who has no place, has to solve this first.
    Challenged(Box<Demand>),
    /// The session is bound to a key, of which there is no good proof.
    Unproven(Unproven),
    /// The session makes too many requests.
    Limited(TooOften),
    /// No decision is possible now, for this temporary reason.
    Busy(FlowError),
}

/// A visitor whom a flow has answered.
#[derive(Debug)]
pub(crate) struct Answered {
    /// The ticket that it presented.
    pub(crate) presented: PresentedTicket,
    /// The answer.
    pub(crate) response: VisitorResponse,
}

// === impl Decision ===

impl Decision {
    /// Its name: in the header `Vestibule-Decision`, and in metrics.
    pub(crate) fn name(&self) -> &'static str {
        let Self::Covered(_, decided) = self else { return "uncovered" };
        match decided {
            RoomDecision::Bypassed(_) => "bypassed",
            RoomDecision::Preflight => "preflight",
            RoomDecision::Open => "open",
            RoomDecision::Inside | RoomDecision::Renewed(_) => "inside",
            RoomDecision::Entered(_) => "entered",
            RoomDecision::Waits(_) => "wait",
            RoomDecision::Challenged(_) => "challenge",
            RoomDecision::Unproven(_) => "unproven",
            RoomDecision::Limited(_) => "limited",
            RoomDecision::Busy(_) => "busy",
        }
    }
}
