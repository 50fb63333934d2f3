//! What a visitor's call does: from a room and a ticket to a [`VisitorResponse`], without HTTP.
//!
//! The edge (`endpoints`, `authorizer`, `page`) opens the ticket, calls one flow, and seals the
//! ticket that the flow returns. A flow asks the rules (`vestibule_domain::poll`), goes to Redis
//! through `batching` if it must, and lets [`responder::VisitorResponder`] make the answer. Time
//! comes from the room ([`vestibule_store::KnownRoom::now_ms`]) and from Redis's replies; nothing is
//! left to chance but what is shown in the endless line.
//!
//! | flow | what it does |
//! |---|---|
//! | [`Flows::open`] | opens a ticket or a request id, even of after a reset that is news |
//! | [`Flows::join`] | gives a newcomer a place, or lets it enter at once |
//! | [`Flows::assign_number`] | gives a newcomer a number for later, as AWS-style clients join |
//! | [`Flows::check_in`] | the status poll: tells where a visitor stands, and counts it as present |
//! | [`Flows::claim`] | lets a visitor enter whose turn it is |
//! | [`Flows::enter`] | joins and claims in one call |
//! | [`Flows::take_turn`] | lets whoever asked take its turn: it enters, or a seat is held for it |
//! | [`Flows::is_inside`] | whether a session must still be alive, without asking Redis |
//! | [`Flows::renew`] | keeps a session alive |
//! | [`Flows::leave`] | gives a seat or a place back |
//! | [`Flows::redeem`] | exchanges a session's token, once |
//! | [`Flows::grant`], [`Flows::exchange`] | log a visitor who is inside in at a site: a code, and what a code is exchanged for, once |
//! | [`Flows::peek`] | tells where a visitor stands and changes nothing |

mod bound;
mod challenge;
mod check_in;
mod claim;
mod claim_window;
mod endless_line;
mod enter;
mod error;
mod join;
mod leave;
mod logins;
mod open;
mod proofs;
mod redeem;
mod redemptions;
mod renew;
mod responder;
mod room_context;
mod tally;
mod turn;
mod visitor_response;
mod visitor_status;
mod words;

use std::sync::Arc;

use tokio::time::Instant;
use vestibule_issuance::{CipherCache, Keystore, Signer};
use vestibule_store::{Feed, KnownRoom, Store};

pub(crate) use self::visitor_status::Reason;
pub use self::visitor_status::{Status, VisitorStatus};
pub(crate) use self::{
    bound::{Stranger, StrangerCounter},
    challenge::{Sender, Solution},
    claim_window::ClaimWindow,
    error::FlowError,
    logins::LoginTokens,
    open::Sealed,
    proofs::{Proofs, Unproven},
    redeem::Redeemer,
    redemptions::Redemptions,
    room_context::{BindingHandle, Caller, RoomContext},
    tally::Tally,
    turn::{HELD_MS, Turn},
    visitor_response::{CookieChange, VisitorResponse},
};
use crate::{
    batching::{
        CheckInBatcher, ClaimWindows, GiveUpBatcher, HeldClaims, JoinBatcher, LeaveBatcher,
        SpendBatcher, TouchBatcher,
    },
    challenges::Challenges,
    limit_counter::LimitCounter,
    region::Region,
};

/// The flows and the parts that they need.
#[derive(Debug)]
pub(crate) struct Flows {
    /// Redis, for calls that are not batched.
    pub(crate) store: Store,
    /// The rooms, as far as this instance knows them.
    pub(crate) feed: Feed,
    /// How often a session was asked for by somebody else.
    pub(crate) strangers: StrangerCounter,
    /// The proofs of keys that have come.
    pub(crate) proofs: Proofs,
    /// The ciphers of request ids and tickets.
    pub(crate) ciphers: CipherCache,
    /// The keys that sign tokens.
    pub(crate) keys: Keystore,
    /// The signing threads.
    pub(crate) signer: Signer,
    /// Gives out numbers.
    pub(crate) joins: JoinBatcher,
    /// Counts visitors whose network had reached a limit.
    pub(crate) limits: LimitCounter,
    /// What is counted for the history.
    pub(crate) tally: Tally,
    /// Claims that wait for a seat.
    pub(crate) held_claims: HeldClaims,
    /// Keeps sessions alive.
    pub(crate) touches: TouchBatcher,
    /// Ends sessions.
    pub(crate) leaves: LeaveBatcher,
    /// Gives places in line back.
    pub(crate) places: GiveUpBatcher,
    /// Counts who is there.
    pub(crate) check_ins: CheckInBatcher,
    /// How long those who were served may still claim.
    pub(crate) claim_windows: ClaimWindows,
    /// Uses solutions and passes.
    pub(crate) spends: SpendBatcher,
    /// The sessions that were redeemed.
    pub(crate) redemptions: Redemptions,
    /// Challenges of newcomers.
    pub(crate) challenges: Challenges,
    /// Where this instance runs.
    pub(crate) region: Arc<Region>,
    /// The address visitors see: the issuer of tokens, unless a room names another.
    pub(crate) public_url: String,
    /// When this instance started.
    pub(crate) started: Instant,
}

/// Why a room was not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// There is none.
    Exists,
    /// It may be one that this instance has not heard of yet.
    IsKnown,
}

// === impl Flows ===

impl Flows {
    /// The room called `name`, as this instance knows it now.
    pub(crate) fn room(&self, name: &str) -> Option<RoomContext> {
        self.feed.room(name).map(|known| self.context(known))
    }

    /// The room called `name`: one that this instance does not know it looks for.
    ///
    /// # Errors
    /// See [`NoRoom`].
    pub(crate) async fn find_room(&self, name: &str) -> Result<RoomContext, NoRoom> {
        self.find(|| self.room(name)).await
    }

    /// The room that AWS-style clients call `event_id`, as [`Self::find_room`].
    ///
    /// # Errors
    /// See [`NoRoom`].
    pub(crate) async fn find_event(&self, event_id: &str) -> Result<RoomContext, NoRoom> {
        self.find(|| self.feed.event(event_id).map(|known| self.context(known))).await
    }

    async fn find(&self, known: impl Fn() -> Option<RoomContext>) -> Result<RoomContext, NoRoom> {
        if let Some(room) = known() {
            return Ok(room);
        }
        let is_sure = self.feed.reads_every_room().await;
        known().ok_or(if is_sure { NoRoom::Exists } else { NoRoom::IsKnown })
    }

    fn context(&self, known: Arc<KnownRoom>) -> RoomContext {
        let snapshot = known.snapshot();
        let ciphers = self.ciphers.get(&snapshot.room, snapshot.reset_epoch);
        let https = self.public_url.starts_with("https:");
        let caller = Caller {
            https,
            network: None,
            agent: None,
            languages: None,
            key: None,
            may_have_place: false,
        };
        let binding = BindingHandle::for_room(&known);
        RoomContext { known, snapshot, ciphers, binding, caller }
    }

    /// Since when visitors have been able to check in with this instance, in unix ms on the clock that now shows `now_ms`:
    /// since it started, or since it runs again and is heard again.
    fn able_since_ms(&self, now_ms: u64) -> u64 {
        let running = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        now_ms.saturating_sub(self.store.able_ms().unwrap_or(running).min(running))
    }
}
