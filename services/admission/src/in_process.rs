//! The service without its sockets, for a program that runs it inside itself: the simulation. The same
//! loops, flows and batches as in [`crate::run()`]; only the way in is another. The calls of visitors
//! are functions, and their tickets travel opened, since sealing is the edge's.

use std::{
    net::IpAddr,
    sync::{Arc, OnceLock, atomic::Ordering},
};

use axum::{Router, http::HeaderValue};
use vestibule_domain::{Place, network_limits::NetworkLimit};
use vestibule_issuance::{RoomCiphers, Surroundings};
use vestibule_runtime::{
    ConnectionLimits, HttpMetrics, Lifecycle, Readiness, Shed, TraceSender, metrics,
};
use vestibule_store::{EndedAs, KnownRoom};
use vestibule_token::Ticket;
use vestibule_traces::Traces;

pub use crate::flows::{Status, VisitorStatus};
use crate::{
    challenges::Providers,
    config::Config,
    flows::{
        CookieChange, FlowError, NoRoom, RoomContext, Sealed, Solution, Turn, VisitorResponse,
    },
    loops,
    router::router,
    state::Admission,
};

/// A running admission. Dropping it stops nothing: see [`Self::lifecycle`].
#[derive(Debug, Clone)]
pub struct Instance {
    admission: Arc<Admission>,
    lifecycle: Lifecycle,
    /// Made when it is first needed, which takes a few milliseconds.
    router: Arc<OnceLock<Router>>,
    /// Who calls; `None`: somebody of whom nothing is known.
    client: Option<Client>,
}

/// Who calls, as the edge would know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Client {
    /// From where.
    pub address: IpAddr,
    /// Its number, of which its `User-Agent` is made.
    pub agent: u64,
}

/// A ticket as a visitor carries it. Copies are as good as the ticket itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Carried {
    /// The reset epoch under which it is sealed.
    pub reset_epoch: u64,
    /// What it says.
    pub ticket: Ticket,
}

/// Why a ticket does not open.
#[derive(Debug)]
struct NotOfThisReset;

/// What a visitor is answered.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Where it stands.
    pub status: VisitorStatus,
    /// The ticket that it carries from now on.
    pub ticket: NewTicket,
}

/// What becomes of a visitor's ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewTicket {
    /// It gets this one.
    Carry(Carried),
    /// It keeps what it has.
    Keep,
    /// A browser has none any more; an app gets the ticket, if there is one.
    Drop(Option<Carried>),
}

/// Where the slots of visitors who entered at once came from, since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotsTaken {
    /// From this region's own part.
    pub own: u64,
    /// From the part that is open to all regions.
    pub anywhere: u64,
    /// From what other regions had not used.
    pub lent: u64,
}

/// Why a call was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// 503: ask again a moment later.
    #[error("busy: {0}")]
    Busy(String),
    /// 429: the caller's network has reached a limit.
    #[error("the network has reached its limit, {}", limit.name())]
    OverLimit {
        /// Which.
        limit: NetworkLimit,
        /// When to ask again, seconds.
        wait_s: u32,
    },
    /// 404: there is no such room.
    #[error("no such room")]
    NoRoom,
    /// 400: there is no ticket, or it is not one of this room since its last reset.
    #[error("no ticket of this room")]
    InvalidTicket,
    /// 500: a mistake of ours.
    #[error("internal: {0}")]
    Internal(String),
}

// === impl Instance ===

impl Instance {
    /// Starts the instance and returns at once; its life tells when it is ready.
    #[must_use]
    pub fn start(surroundings: Surroundings) -> Self {
        let Surroundings { store, secret, region, public_url, machine } = surroundings;
        let nowhere = ([127, 0, 0, 1], 0).into();
        let config = Config {
            store,
            secret,
            providers: Arc::new(Providers::none()),
            region,
            public_url,
            connections: ConnectionLimits::few(),
            tls: None,
            listen: nowhere,
            grpc: None,
            admin_listen: nowhere,
            docs: false,
            network_prefixes: vestibule_site::NetworkPrefixes::default(),
            max_live_updates: 0,
            max_requests_in_flight: usize::MAX,
            shutdown_grace: std::time::Duration::from_secs(5),
            traces: Traces::off(),
            trace_sender: TraceSender::default(),
        };
        let lifecycle = Lifecycle::new(Readiness::new(), config.shutdown_grace);
        let admission = Arc::new(Admission::new(&config, machine));
        loops::spawn(&admission, &lifecycle);
        lifecycle.readiness().started();
        Self { admission, lifecycle, router: Arc::default(), client: None }
    }

    /// The same instance, whose calls are those of `client`.
    #[must_use]
    pub fn called_by(&self, client: Option<Client>) -> Self {
        Self { client, ..self.clone() }
    }

    /// Its life: whether it is ready, and how it ends.
    #[must_use]
    pub fn lifecycle(&self) -> &Lifecycle {
        &self.lifecycle
    }

    /// The room as this instance knows it.
    #[must_use]
    pub fn room(&self, room: &str) -> Option<Arc<KnownRoom>> {
        self.admission.feed.room(room)
    }

    /// Where the slots of visitors who entered at once came from.
    #[must_use]
    pub fn slots_taken(&self) -> SlotsTaken {
        let taken = self.admission.flows.joins.taken();
        SlotsTaken {
            own: taken.own.load(Ordering::Relaxed),
            anywhere: taken.anywhere.load(Ordering::Relaxed),
            lent: taken.lent.load(Ordering::Relaxed),
        }
    }

    /// All routes, for calls that need no speed.
    pub fn router(&self) -> Router {
        let make = || {
            let http = HttpMetrics::register(&mut metrics::registry("admission", "in-process"));
            router(Arc::clone(&self.admission), &http, Shed::default(), false)
        };
        self.router.get_or_init(make).clone()
    }

    /// `POST /v1/rooms/{room}/join`.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn join(&self, room: &str, carried: Option<Carried>) -> Result<Answer, CallError> {
        let mut room = self.context(room).await?;
        let ticket = self.open(&mut room, carried).await?;
        Ok(Box::pin(self.admission.flows.join(&room, ticket, Solution::default())).await?.into())
    }

    /// `GET /v1/rooms/{room}/status`.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn status(&self, room: &str, carried: Carried) -> Result<Answer, CallError> {
        let mut room = self.context(room).await?;
        let ticket = self.require(&mut room, carried).await?;
        Ok(Box::pin(self.admission.flows.check_in(&room, ticket)).await?.into())
    }

    /// `POST /v1/rooms/{room}/claim`.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn claim(&self, room: &str, carried: Carried) -> Result<Answer, CallError> {
        let mut room = self.context(room).await?;
        let ticket = self.require(&mut room, carried).await?;
        Ok(Box::pin(self.admission.flows.claim(&room, ticket, Turn::Enter)).await?.into())
    }

    /// What a waiting page asks that nobody looks at: a seat is held for its visitor, if one is free.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn hold(&self, room: &str, carried: Carried) -> Result<Answer, CallError> {
        let mut room = self.context(room).await?;
        let ticket = self.require(&mut room, carried).await?;
        Ok(Box::pin(self.admission.flows.claim(&room, ticket, Turn::Hold)).await?.into())
    }

    /// `POST /v1/rooms/{room}/leave`.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn leave(&self, room: &str, carried: Carried) -> Result<Answer, CallError> {
        let mut room = self.context(room).await?;
        let ticket = self.require(&mut room, carried).await?;
        Ok(Box::pin(self.admission.flows.leave(&room, ticket, EndedAs::Completed)).await?.into())
    }

    /// A request for the site: `None` if the visitor passes as someone inside, without an answer of
    /// ours; otherwise what the waiting page or its cookie says.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn authorize(
        &self,
        room: &str,
        carried: Option<Carried>,
    ) -> Result<Option<Answer>, CallError> {
        let mut room = self.context(room).await?;
        let ticket = self.open(&mut room, carried).await?;
        if ticket.is_some_and(|ticket| self.admission.flows.is_inside(&room, &ticket)) {
            return Ok(None);
        }
        Ok(Some(
            Box::pin(self.admission.flows.enter(&room, ticket, Solution::default())).await?.into(),
        ))
    }

    /// `POST /assign_queue_num`: the request id.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn assign_queue_num(&self, room: &str) -> Result<String, CallError> {
        let room = self.context(room).await?;
        Ok(self.admission.flows.assign_number(&room, Solution::default()).await?)
    }

    /// The place of a request id, as long as it is one of the room's.
    #[must_use]
    pub fn place(&self, room: &str, request_id: &str) -> Option<Place> {
        let room = self.admission.flows.room(room)?;
        room.ciphers.request_ids.open(request_id).ok()
    }

    async fn context(&self, room: &str) -> Result<RoomContext, CallError> {
        let found = self.admission.flows.find_room(room).await;
        let mut room = found.map_err(|none| match none {
            NoRoom::Exists => CallError::NoRoom,
            NoRoom::IsKnown => CallError::Busy("the room may be new".to_owned()),
        })?;
        if let Some(Client { address, agent }) = self.client {
            room.caller.network = Some(self.admission.clients.network(address));
            room.caller.agent = HeaderValue::try_from(format!("agent/{agent}")).ok();
        }
        Ok(room)
    }

    /// What the ticket says, if it is one of the room since its last reset, and its session is bound to nobody else. That
    /// is looked at where tickets are read, as at the edge (`extractors/visitor_request.rs`).
    async fn open(
        &self,
        room: &mut RoomContext,
        carried: Option<Carried>,
    ) -> Result<Option<Ticket>, CallError> {
        let Some(Carried { reset_epoch, ticket }) = carried else { return Ok(None) };
        let open = |ciphers: &RoomCiphers| {
            (ciphers.reset_epoch == reset_epoch).then_some(ticket).ok_or(NotOfThisReset)
        };
        let ticket = self.admission.flows.open(room, open).await?.ok();
        Ok(ticket.filter(|ticket| room.stranger_to(ticket).is_none()))
    }

    async fn require(&self, room: &mut RoomContext, carried: Carried) -> Result<Ticket, CallError> {
        self.open(room, Some(carried)).await?.ok_or(CallError::InvalidTicket)
    }
}

// === impl NotOfThisReset ===

impl Sealed for NotOfThisReset {
    fn is_foreign(&self) -> bool {
        true
    }
}

// === impl Answer ===

impl From<VisitorResponse> for Answer {
    fn from(response: VisitorResponse) -> Self {
        let reset_epoch = response.ciphers.reset_epoch;
        let carried = |ticket| Carried { reset_epoch, ticket };
        let ticket = match response.cookie {
            CookieChange::Set(ticket) | CookieChange::Keep(ticket) => {
                NewTicket::Carry(carried(ticket))
            }
            CookieChange::End(ticket) => NewTicket::Drop(Some(carried(ticket))),
            CookieChange::Remove => NewTicket::Drop(None),
            CookieChange::None => NewTicket::Keep,
        };
        Self { status: response.status, ticket }
    }
}

// === impl CallError ===

impl From<FlowError> for CallError {
    fn from(error: FlowError) -> Self {
        match error {
            FlowError::ForeignTicket | FlowError::Stranger => Self::InvalidTicket,
            FlowError::OverLimit { limit, wait_s } => Self::OverLimit { limit, wait_s },
            other if other.is_temporary() => Self::Busy(other.to_string()),
            other => Self::Internal(other.to_string()),
        }
    }
}
