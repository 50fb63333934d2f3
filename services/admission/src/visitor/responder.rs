//! A visitor's journey: from a ticket and the room as it stands to an answer.
//!
//! Everything that visitors' calls share is here; what each call does first is in its endpoint, and
//! the rules are in `vestibule_domain::poll`.

use std::sync::Arc;

use vestibule_domain::{
    Lease, OnRedisFailure, Place, Waiter,
    poll::{self, PollContext, WaiterState},
};
use vestibule_issuance::{SignerError, TokenSubject, problem_of};
use vestibule_runtime::problem::{Problem, ProblemType};
use vestibule_store::{Claim, SessionKind, StoreError, TokenRecord};
use vestibule_token::{Seat, Ticket, TokenUse};

use super::{
    Carrier, CookieChange, RoomContext, Status, VisitorResponse, VisitorStatus, seat::spent,
};
use crate::state::Admission;

/// When someone who was held at the door and found no seat comes back, ms: at once, or others
/// would be first.
const BACK_AT_DOOR_MS: u32 = 100;
/// The longest that a token of a room that fails open is valid, in seconds.
const EMERGENCY_SECONDS: u64 = 60;

/// One visitor's call under way.
#[derive(Debug)]
pub(crate) struct VisitorResponder<'a> {
    admission: &'a Arc<Admission>,
    context: &'a RoomContext,
    carrier: Carrier,
    now_ms: u64,
}

/// A ticket and its text, if it is still the one that the visitor sent.
pub(crate) type PresentedTicket = (Ticket, Option<String>);

// === impl VisitorResponder ===

impl<'a> VisitorResponder<'a> {
    /// Begins at the time that the room's last news suggest.
    #[must_use]
    pub(crate) fn new(
        admission: &'a Arc<Admission>,
        context: &'a RoomContext,
        carrier: Carrier,
    ) -> Self {
        Self { admission, context, carrier, now_ms: context.known.now_ms() }
    }

    /// The same, at the time that Redis just told.
    #[must_use]
    pub(crate) fn at(self, now_ms: u64) -> Self {
        Self { now_ms, ..self }
    }

    /// Redis's time in ms, as far as known.
    #[must_use]
    pub(crate) fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// Whether `waiter` may enter, as far as this instance knows.
    #[must_use]
    pub(crate) fn may_enter(&self, waiter: &Waiter) -> bool {
        poll::may_enter(&self.context.snapshot, waiter, self.win_threshold(waiter))
    }

    /// The claim of `waiter`, by what this instance knows.
    #[must_use]
    pub(crate) fn claim_of(&self, waiter: &Waiter) -> Claim {
        let snapshot = &self.context.snapshot;
        let issuer = snapshot.settings.issuer.as_ref().unwrap_or(&self.admission.public_url);
        Claim {
            reset_epoch: snapshot.reset_epoch,
            place: waiter.place,
            position: snapshot.position(waiter.place.number),
            draws: snapshot.draws.len(),
            won: poll::has_won(snapshot, waiter, self.win_threshold(waiter)),
            kind: SessionKind::Visitor,
            request_id: String::new(),
            issuer: issuer.clone(),
            validity_seconds: None,
        }
    }

    /// In which order those at the door get seats, lowest first.
    #[must_use]
    pub(crate) fn rank(&self, waiter: &Waiter) -> u64 {
        poll::rank(&self.context.snapshot, waiter, self.win_threshold(waiter))
    }

    /// Answers someone who has no seat, as the room stands; counts the check-in if it was due.
    ///
    /// # Errors
    /// When the request id cannot be made.
    pub(crate) fn looks(&self, kept: PresentedTicket) -> Result<VisitorResponse, Problem> {
        self.answers(kept, None)
    }

    /// The same, when Redis has just said `status`.
    ///
    /// # Errors
    /// When the request id cannot be made.
    pub(crate) fn waits(
        &self,
        kept: PresentedTicket,
        status: Status,
    ) -> Result<VisitorResponse, Problem> {
        self.answers(kept, Some(status))
    }

    /// Answers someone who was held at the door and found no seat.
    ///
    /// # Errors
    /// When the request id cannot be made.
    pub(crate) fn held(&self, kept: PresentedTicket) -> Result<VisitorResponse, Problem> {
        let mut answer = self.answers(kept, Some(Status::YourTurn))?;
        answer.body.next_check_in_seconds = f64::from(BACK_AT_DOOR_MS) / 1000.0;
        Ok(answer)
    }

    /// Tells someone who has no seat how it stands at this moment, for those who only watch: no
    /// check-in is counted, nobody is given up, and the ticket stays as it is.
    ///
    /// # Errors
    /// When the request id cannot be made.
    pub(crate) fn glances(
        &self,
        (ticket, text): &(Ticket, String),
    ) -> Result<VisitorResponse, Problem> {
        let status = if self.context.snapshot.rejects() {
            Status::Closed
        } else if self.may_enter(&ticket.waiter) {
            Status::YourTurn
        } else {
            Status::Waiting
        };
        let next_ms = ticket.waiter.interval_ms.max(poll::AT_DOOR_MS);
        let mut body = self.body(&ticket.waiter.place, status, next_ms)?;
        if status == Status::YourTurn {
            body.says_now();
        }
        Ok(self.answer(body, ticket, Some(text.clone())))
    }

    fn answers(
        &self,
        (mut ticket, text): PresentedTicket,
        told: Option<Status>,
    ) -> Result<VisitorResponse, Problem> {
        let call = PollContext {
            now_ms: self.now_ms,
            win_threshold: self.win_threshold(&ticket.waiter),
            chance: rand::random(),
            excused_until_ms: self.admission.started_ms(self.now_ms),
        };
        let look = poll::evaluate(&self.context.snapshot, &ticket.waiter, &call);
        let status = match look.standing {
            WaiterState::Rejected => return self.rejected(ticket),
            WaiterState::Expired => return self.over(ticket, Status::Expired),
            WaiterState::Waiting => told.unwrap_or(Status::Waiting),
            WaiterState::YourTurn => told.unwrap_or(Status::YourTurn),
        };
        if look.counted {
            self.exchange(&ticket.waiter, look.waiter.lease);
            ticket.waiter = look.waiter;
        }
        let mut body = self.body(&ticket.waiter.place, status, look.next_ms)?;
        if status == Status::YourTurn {
            body.says_now();
        }
        Ok(self.answer(body, &ticket, text.filter(|_| !look.counted)))
    }

    /// Answers someone who has a place in a room that turns everyone away: it is kept.
    fn rejected(&self, ticket: Ticket) -> Result<VisitorResponse, Problem> {
        let mut body = self.body(&ticket.waiter.place, Status::Closed, 0)?;
        body.wait_seconds = None;
        let mut answer = self.answer(body, &ticket, Some(String::new()));
        answer.ticket = CookieChange::Untouched;
        Ok(answer)
    }

    /// Answers a newcomer in a room that turns everyone away: without a place.
    ///
    /// # Errors
    /// When the request id cannot be made.
    pub(crate) fn turned_away(&self) -> Result<VisitorResponse, Problem> {
        let place = Place { number: 0, entered_at: 0, region: 0 };
        let mut answer = self.rejected(Self::new_ticket(place, None, 0))?;
        let body = &mut answer.body;
        body.request_id = String::new();
        (body.position, body.people_ahead) = (None, None);
        Ok(answer)
    }

    /// Answers someone who is inside, with a token for `record`.
    ///
    /// # Errors
    /// When too much waits to be signed.
    pub(crate) async fn inside(
        &self,
        mut ticket: Ticket,
        record: &TokenRecord,
        generation: u32,
    ) -> Result<VisitorResponse, Problem> {
        self.give_back(&mut ticket);
        ticket.seat =
            Some(Seat { issued_at: record.issued_at, expires_at: record.expires_at, generation });
        ticket.waiter.checked_in_at = self.now_ms;
        let place = ticket.waiter.place;
        let mut body = self.body(&place, Status::Admitted, self.next_inside_ms(record))?;
        (body.people_ahead, body.wait_seconds) = (Some(0), Some(0));
        body.expires_in = Some(record.expires_at.saturating_sub(self.now_ms / 1000));
        body.access_token = Some(self.token(&place, &body.request_id, record).await?);
        Ok(self.answer(body, &ticket, None))
    }

    /// Answers someone whose time is over. The ticket says so from now on, so that joining again
    /// gives a new place; from a browser it is taken when it was the visitor who left.
    ///
    /// # Errors
    /// When the request id cannot be made.
    pub(crate) fn over(
        &self,
        mut ticket: Ticket,
        status: Status,
    ) -> Result<VisitorResponse, Problem> {
        self.give_back(&mut ticket);
        ticket.seat = Some(spent(status));
        let mut body = self.body(&ticket.waiter.place, status, 0)?;
        (body.people_ahead, body.wait_seconds) = (Some(0), None);
        let mut answer = self.answer(body, &ticket, None);
        if status == Status::Closed && self.carrier != Carrier::Header {
            answer.ticket = CookieChange::Taken;
        }
        Ok(answer)
    }

    /// Lets someone in although the store is away, if the room says so: with a short token and
    /// without a number.
    ///
    /// # Errors
    /// The problem of `error`, in a room that fails closed.
    pub(crate) async fn without_store(
        &self,
        error: &StoreError,
    ) -> Result<VisitorResponse, Problem> {
        let settings = &self.context.snapshot.settings;
        let open = settings.on_redis_failure == OnRedisFailure::Open;
        if !open || !matches!(error, StoreError::Unavailable(_)) {
            return Err(problem_of(error));
        }
        let now = self.now_ms / 1000;
        let entered_at = u32::try_from(now).unwrap_or(u32::MAX);
        let place = Place { number: 0, entered_at, region: self.admission.region.index() };
        let valid = EMERGENCY_SECONDS.min(settings.session_duration_seconds);
        let record = self.record(now, now + valid)?;
        let next_ms = u32::try_from(valid * 1000).unwrap_or(u32::MAX);
        let mut body = self.body(&place, Status::Admitted, next_ms)?;
        body.access_token = Some(self.token(&place, &body.request_id, &record).await?);
        (body.expires_in, body.wait_seconds) = (Some(valid), Some(0));
        let mut answer = self.answer(body, &Self::new_ticket(place, None, 0), None);
        answer.ticket = CookieChange::Taken;
        Ok(answer)
    }

    /// A record of a token from what a ticket remembers, signed by the current key.
    ///
    /// # Errors
    /// While there is no key.
    pub(crate) fn record(&self, issued_at: u64, expires_at: u64) -> Result<TokenRecord, Problem> {
        let key = self.admission.keys.current();
        let key = key.map_err(|_| Problem::new(ProblemType::RedisUnavailable))?;
        let issuer = self.context.snapshot.settings.issuer.clone();
        Ok(TokenRecord {
            issued_at,
            expires_at,
            key_id: key.kid().to_owned(),
            issuer: issuer.unwrap_or_else(|| self.admission.public_url.clone()),
        })
    }

    /// The token of someone inside a suspended room, where nobody is counted: as the ticket has it,
    /// or a new one in the second half of its life.
    ///
    /// # Errors
    /// While there is no key.
    pub(crate) fn uncounted(&self, seat: &Seat) -> Result<TokenRecord, Problem> {
        let (now, session) =
            (self.now_ms / 1000, self.context.snapshot.settings.session_duration_seconds);
        if seat.expires_at > now + session / 2 {
            return self.record(seat.issued_at, seat.expires_at);
        }
        self.record(now, now + session)
    }

    /// The ticket of a newcomer who has not checked in yet. Its `lease` is what the join script
    /// counted it under, `hazard` the room's.
    pub(crate) fn new_ticket(place: Place, lease: Option<Lease>, hazard: u64) -> Ticket {
        Ticket { waiter: Waiter::new(place, lease, hazard), seat: None }
    }

    /// Only where chance decides; elsewhere nobody wins.
    fn win_threshold(&self, waiter: &Waiter) -> f64 {
        if self.context.snapshot.settings.queueing_method.rules().is_ordered() {
            return f64::INFINITY;
        }
        self.context.ciphers.win_thresholds.threshold(waiter.place.number)
    }

    /// When someone inside should be seen again: in time to renew the session, or, where sessions
    /// are not renewed, at its end.
    fn next_inside_ms(&self, record: &TokenRecord) -> u32 {
        let seconds = if self.context.snapshot.settings.disable_session_renewal {
            record.expires_at.saturating_sub(self.now_ms / 1000)
        } else {
            (record.expires_at - record.issued_at) / 2
        };
        u32::try_from(seconds * 1000).unwrap_or(u32::MAX).max(poll::AT_DOOR_MS)
    }

    fn give_back(&self, ticket: &mut Ticket) {
        self.exchange(&ticket.waiter, None);
        ticket.waiter.lease = None;
    }

    /// A lease whose holder was gone has been cleared away: it cannot be given back.
    fn exchange(&self, before: &Waiter, new: Option<Lease>) {
        let old = before.lease.filter(|lease| !lease.is_gone(self.now_ms));
        let snapshot = &self.context.snapshot;
        self.admission.check_ins.exchange(&snapshot.room, snapshot.reset_epoch, old, new);
    }

    async fn token(
        &self,
        place: &Place,
        request_id: &str,
        record: &TokenRecord,
    ) -> Result<String, Problem> {
        let key = self.admission.keys.get(&record.key_id);
        let key = key.map_err(|_| Problem::new(ProblemType::RedisUnavailable))?;
        let whom = TokenSubject { room: &self.context.snapshot.room, request_id, place: *place };
        let signed = self.admission.signer.sign(key, whom, record, &[TokenUse::Access]).await;
        signed.map(|mut tokens| tokens.pop().unwrap_or_default()).map_err(|error| match error {
            SignerError::Overloaded => Problem::new(ProblemType::Overloaded),
            SignerError::Failed(_) => Problem::internal(&error),
        })
    }

    fn body(&self, place: &Place, status: Status, next_ms: u32) -> Result<VisitorStatus, Problem> {
        let snapshot = &self.context.snapshot;
        let request_id = self.context.ciphers.request_ids.seal(*place);
        let outlook = snapshot.outlook(place.number, self.now_ms, self.context.progress());
        let [p25, p50, p75] = match outlook.wait.quartiles {
            Some(quartiles) => quartiles.map(|seconds| Some(whole(seconds))),
            None => [None; 3],
        };
        let early = snapshot.event.as_ref().filter(|event| event.prequeueing);
        Ok(VisitorStatus {
            room: snapshot.room.clone(),
            status,
            request_id: request_id.map_err(|error| Problem::internal(&error))?,
            queue_number: place.number,
            position: outlook.position,
            people_ahead: outlook.people_ahead,
            wait_seconds: outlook.wait.seconds.map(whole),
            wait_seconds_p25: p25,
            wait_seconds_p50: p50,
            wait_seconds_p75: p75,
            queueing_method: snapshot.settings.queueing_method.name(),
            event_starts_in_seconds: early
                .map(|event| event.start.saturating_sub(self.now_ms / 1000)),
            next_check_in_seconds: f64::from(next_ms.div_ceil(100)) / 10.0,
            access_token: None,
            expires_in: None,
            stale: self.admission.feed.is_stale(snapshot, self.now_ms),
        })
    }

    fn answer(
        &self,
        body: VisitorStatus,
        ticket: &Ticket,
        text: Option<String>,
    ) -> VisitorResponse {
        VisitorResponse {
            body,
            ticket: CookieChange::Newest(
                text.unwrap_or_else(|| self.context.ciphers.tickets.seal(ticket)),
            ),
            checked_in_at: ticket.waiter.checked_in_at,
            interval_ms: ticket.waiter.interval_ms,
            carrier: self.carrier,
            binding: self.context.binding.clone(),
            https: self.context.https,
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a wait")]
fn whole(seconds: f64) -> u64 {
    seconds.ceil() as u64
}
