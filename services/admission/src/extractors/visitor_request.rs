//! Which room a request is about, and the ticket that it presents.

use std::sync::Arc;

use axum::{
    extract::{FromRequestParts, RawPathParams},
    http::{HeaderMap, HeaderValue, request::Parts},
};
use vestibule_domain::RoomId;
use vestibule_issuance::RoomCiphers;
use vestibule_runtime::{
    extract::Path,
    extract::unreadable,
    problem::{Problem, ProblemType},
};
use vestibule_store::StoreError;
use vestibule_token::{Ticket, TicketError};
use vestibule_traces::note;

use super::{
    Asked, Cookies, Initiator, RoomPath, TicketTransport, is_form_of_another_site, solution,
    wants_cloudflares_form,
};
use crate::{
    flows::{FlowError, Flows, NoRoom, RoomContext, Sender, Solution, Stranger},
    state::Admission,
};

/// A visitor's call about a room.
#[derive(Debug)]
pub(crate) struct VisitorRequest {
    /// The room.
    pub(crate) room: RoomContext,
    /// The ticket.
    pub(crate) ticket: PresentedTicket,
    /// What a newcomer shows for a place.
    solution: Option<String>,
    /// Whether the answer is to have the form of Cloudflare's waiting rooms.
    pub(crate) in_cloudflares_form: bool,
}

/// The ticket that a request carries, opened.
#[derive(Debug)]
pub(crate) struct PresentedTicket {
    /// How it travels.
    pub(crate) transport: TicketTransport,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// The request carries none.
    Absent,
    /// It carries something else.
    Refused(TicketError),
    /// It carries the ticket of somebody else's session.
    OfAnother,
    /// It carries what does not open, and Redis cannot be asked whether it is of after a reset.
    Unopened(StoreError),
    /// What the ticket says, and the ticket as it was sent.
    Valid(Ticket, Option<HeaderValue>),
}

/// The room called `name`.
///
/// # Errors
/// A problem when there is no such room, or `name` cannot be a room's; or when it may be a room that
/// this instance has not heard of yet.
pub(crate) async fn room(flows: &Flows, name: &str) -> Result<RoomContext, Problem> {
    RoomId::check(name).map_err(|error| {
        Problem::new(ProblemType::InvalidRequest).field("room", error.to_string())
    })?;
    let room = flows.find_room(name).await.map_err(|none| match none {
        NoRoom::Exists => Problem::new(ProblemType::RoomNotFound),
        NoRoom::IsKnown => Problem::new(ProblemType::RedisUnavailable),
    })?;
    note(|span| span.set("vestibule.room", name.to_owned()));
    Ok(room)
}

/// The room that the path of a call names.
///
/// # Errors
/// As [`room`], and what is wrong with the path.
pub(crate) async fn room_at(
    flows: &Flows,
    path: Result<Path<RoomPath>, Problem>,
) -> Result<RoomContext, Problem> {
    let Path(path) = path?;
    room(flows, path.room.as_str()).await
}

// === impl VisitorRequest ===

impl VisitorRequest {
    /// A call about `room` with these headers, which `initiator` has made.
    ///
    /// # Errors
    /// See [`PresentedTicket::read`] and [`Asked::prove`]; and a cookie does not speak for a foreign page.
    pub(crate) async fn read(
        flows: &Flows,
        mut room: RoomContext,
        headers: &HeaderMap,
        asked: &Asked,
        initiator: Initiator,
    ) -> Result<Self, Problem> {
        let ticket = PresentedTicket::read(flows, &mut room, headers).await?;
        Self::by(flows, (room, ticket), headers, asked, initiator)
    }

    /// The same of somebody whose ticket was read already.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub(crate) fn by(
        flows: &Flows,
        (mut room, mut ticket): (RoomContext, PresentedTicket),
        headers: &HeaderMap,
        asked: &Asked,
        initiator: Initiator,
    ) -> Result<Self, Problem> {
        if let Err(unproven) = asked.prove(flows, &mut room, headers, ticket.value().as_ref()) {
            flows.strangers.count(Stranger::key);
            return Err(unproven.into());
        }
        if initiator == Initiator::Foreign {
            ticket.travels_by_header()?;
        }
        let in_cloudflares_form = wants_cloudflares_form(&room.snapshot.settings, headers);
        let solution = solution(headers).shown.map(str::to_owned);
        Ok(Self { room, ticket, solution, in_cloudflares_form })
    }

    /// What a newcomer shows for a place, as that of an app.
    #[must_use]
    pub(crate) fn solution(&self) -> Solution<'_> {
        Solution { shown: self.solution.as_deref(), sender: Sender::App }
    }
}

// === impl PresentedTicket ===

impl PresentedTicket {
    /// The ticket for `room` among `headers`. `room` is read again if the ticket may be of after a
    /// reset that this instance has not heard of. If Redis does not answer then, its holder is taken for a newcomer
    /// where the room lets those in.
    ///
    /// # Errors
    /// If Redis does not answer then, and the room does not.
    pub(crate) async fn read(
        flows: &Flows,
        room: &mut RoomContext,
        headers: &HeaderMap,
    ) -> Result<Self, FlowError> {
        let RoomContext { snapshot, binding, caller, .. } = &*room;
        let cookies = Cookies { room: &snapshot.room, binding, https: caller.https };
        let found = TicketTransport::find(headers, cookies);
        let Some((transport, _)) = found.first().copied() else {
            return Ok(Self { transport: TicketTransport::Unknown, content: Content::Absent });
        };
        let opened = match flows.open(room, |ciphers| first_ticket(&found, ciphers)).await {
            Err(FlowError::Store(error)) if room.fails_open(&error) => {
                room.caller.may_have_place = true;
                return Ok(Self { transport, content: Content::Unopened(error) });
            }
            opened => opened?,
        };
        let (ticket, transport, text) = match opened {
            Ok(opened) => opened,
            // What does not open may be another room's, which is called so now: it stays.
            Err(error) => {
                let transport = transport.as_it_is_called_now();
                return Ok(Self { transport, content: Content::Refused(error) });
            }
        };
        if let Some(stranger) = room.stranger_to(&ticket) {
            flows.strangers.count(stranger);
            return Ok(Self { transport, content: Content::OfAnother });
        }
        let content = Content::Valid(ticket, transport.sent(headers, text));
        Ok(Self { transport, content })
    }

    /// Whether the visitor may have a ticket that has stayed behind: then it must not be given another one.
    #[must_use]
    pub(crate) fn may_have_stayed_behind(&self, headers: &HeaderMap) -> bool {
        matches!(self.content, Content::Absent) && is_form_of_another_site(headers)
    }

    /// Sees to it that no cookie is read or set: a form of another site, with which cookies do not travel, would
    /// take the visitor's place by setting another one.
    fn travels_by_header(&mut self) -> Result<(), Problem> {
        if self.transport.is_cookie() {
            return Err(Problem::new(ProblemType::CrossOrigin).detail(
                "send the ticket in Vestibule-Ticket, without cookies, or name the page's origin in the room's \
                 cors_origins",
            ));
        }
        self.transport = TicketTransport::Header;
        Ok(())
    }

    /// What it says, if there is one that is known to be of this room.
    #[must_use]
    pub(crate) fn value(&self) -> Option<Ticket> {
        match self.content {
            Content::Valid(ticket, _) => Some(ticket),
            Content::Absent | Content::Refused(_) | Content::OfAnother | Content::Unopened(_) => {
                None
            }
        }
    }

    /// The same for whoever has nothing for newcomers.
    ///
    /// # Errors
    /// If it is not known whether there is one.
    pub(crate) fn known(&self) -> Result<Option<Ticket>, FlowError> {
        match &self.content {
            Content::Unopened(error) => Err(error.clone().into()),
            _ => Ok(self.value()),
        }
    }

    /// The ticket as it was sent, if it is one of this room. Cloning it copies no text.
    #[must_use]
    pub(crate) fn sent(&self) -> Option<&HeaderValue> {
        match &self.content {
            Content::Valid(_, sent) => sent.as_ref(),
            Content::Absent | Content::Refused(_) | Content::OfAnother | Content::Unopened(_) => {
                None
            }
        }
    }

    /// What it says, where there must be one.
    ///
    /// # Errors
    /// A problem that says why the ticket does not do.
    pub(crate) fn require(&self) -> Result<Ticket, Problem> {
        let reason = match &self.content {
            Content::Valid(ticket, _) => return Ok(*ticket),
            Content::Unopened(error) => return Err(FlowError::from(error.clone()).into()),
            Content::Absent => "there is none; join the room first",
            Content::OfAnother => return Err(FlowError::Stranger.into()),
            Content::Refused(TicketError::Malformed) => "this is not a ticket",
            Content::Refused(TicketError::Foreign) => {
                "it is of another room or of before a reset, or it was altered; join again"
            }
        };
        Err(Problem::new(ProblemType::InvalidTicket).field("Vestibule-Ticket", reason))
    }
}

/// The first of what was `found` that is a ticket of this room.
fn first_ticket<'a>(
    found: &[(TicketTransport, &'a str)],
    ciphers: &RoomCiphers,
) -> Result<(Ticket, TicketTransport, &'a str), TicketError> {
    let mut refused = TicketError::Malformed;
    for (transport, text) in found {
        match ciphers.tickets.open(text) {
            Ok(ticket) => return Ok((ticket, *transport, text)),
            Err(TicketError::Foreign) => refused = TicketError::Foreign,
            Err(TicketError::Malformed) => {}
        }
    }
    Err(refused)
}

impl FromRequestParts<Arc<Admission>> for VisitorRequest {
    type Rejection = Problem;

    async fn from_request_parts(
        parts: &mut Parts,
        admission: &Arc<Admission>,
    ) -> Result<Self, Self::Rejection> {
        let params = RawPathParams::from_request_parts(parts, admission)
            .await
            .map_err(|error| unreadable(&error))?;
        let name = params.iter().find(|(name, _)| *name == "room").map_or("", |(_, room)| room);
        let (flows, headers) = (&admission.flows, &parts.headers);
        let mut room = room(flows, name).await?;
        admission.clients.identify(&mut room, &parts.extensions, headers);
        let initiator = Initiator::of(headers, &flows.public_url, &room.binding);
        let asked = Asked::of_us(flows, &parts.method, parts.uri.path());
        Self::read(flows, room, headers, &asked, initiator).await
    }
}
