//! A visitor's journey: from a ticket and the room as it stands to an answer.
//!
//! Everything that visitors' calls share is here; what each call does first is in its endpoint.

use std::sync::Arc;

use vestibule_domain::{Lease, OnRedisFailure, Place, check_in, wait};
use vestibule_entry::{SignerError, TokenFor, problem_of};
use vestibule_runtime::problem::{Problem, ProblemType};
use vestibule_store::{StoreError, TokenRecord};
use vestibule_token::{Seat, Ticket, TokenUse};

use super::{Answer, Carrier, Status, Visit, VisitorStatus};
use crate::state::Admission;

/// How long a visitor at the door, or one inside, waits before asking again, ms.
const AT_DOOR_MS: u32 = check_in::SHORTEST_MS;
/// When someone who was held at the door and found no seat comes back, ms: at once, or others
/// would be first.
const BACK_AT_DOOR_MS: u32 = 100;
/// The longest that a token of a room that fails open is valid, in seconds.
const EMERGENCY_SECONDS: u64 = 60;

/// One visitor's call under way.
#[derive(Debug)]
pub(crate) struct Journey<'a> {
    admission: &'a Arc<Admission>,
    visit: &'a Visit,
    carrier: Carrier,
    now_ms: u64,
}

/// A ticket and its text, if it is still the one that the visitor sent.
type Kept = (Ticket, Option<String>);

// === impl Journey ===

impl<'a> Journey<'a> {
    /// Begins at the time that the room's last news suggest.
    #[must_use]
    pub(crate) fn new(admission: &'a Arc<Admission>, visit: &'a Visit, carrier: Carrier) -> Self {
        Self { admission, visit, carrier, now_ms: visit.known.now_ms() }
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

    /// Where `place` stands in the line.
    #[must_use]
    pub(crate) fn position(&self, place: &Place) -> u64 {
        self.visit.snapshot.position(place.number)
    }

    /// Whether the serving counter has reached `place`, as far as this instance knows.
    #[must_use]
    pub(crate) fn is_served(&self, place: &Place) -> bool {
        self.position(place) <= self.visit.snapshot.serving()
    }

    /// Answers someone who waits, in line or at the door; counts the check-in if it was due.
    ///
    /// # Errors
    /// When the request id cannot be made.
    pub(crate) fn waits(&self, ticket: Kept, status: Status) -> Result<Answer, Problem> {
        let (mut ticket, mut text) = ticket;
        let next_ms = if self.is_due(&ticket) {
            self.check_in(&mut ticket, status);
            text = None;
            ticket.interval_ms
        } else {
            let next = ticket.checked_in_at + u64::from(ticket.interval_ms);
            u32::try_from(next.saturating_sub(self.now_ms)).unwrap_or(ticket.interval_ms)
        };
        let body = self.body(&ticket.place, status, next_ms)?;
        Ok(self.answer(body, &ticket, text))
    }

    /// Answers someone who was held at the door and found no seat.
    ///
    /// # Errors
    /// When the request id cannot be made.
    pub(crate) fn held(&self, ticket: Kept) -> Result<Answer, Problem> {
        let mut answer = self.waits(ticket, Status::YourTurn)?;
        answer.body.next_check_in_seconds = f64::from(BACK_AT_DOOR_MS) / 1000.0;
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
    ) -> Result<Answer, Problem> {
        self.give_back(&mut ticket);
        ticket.seat =
            Some(Seat { issued_at: record.issued_at, expires_at: record.expires_at, generation });
        ticket.checked_in_at = self.now_ms;
        let half = (record.expires_at - record.issued_at) / 2;
        let next_ms = u32::try_from(half * 1000).unwrap_or(u32::MAX).max(AT_DOOR_MS);
        let mut body = self.body(&ticket.place, Status::Admitted, next_ms)?;
        (body.people_ahead, body.wait_seconds) = (0, Some(0));
        body.expires_in = Some(record.expires_at.saturating_sub(self.now_ms / 1000));
        body.access_token = Some(self.token(&ticket.place, &body.request_id, record).await?);
        Ok(self.answer(body, &ticket, None))
    }

    /// Answers someone whose time is over. The ticket says so from now on, so that joining again
    /// gives a new place; from a browser it is taken when it was the visitor who left.
    ///
    /// # Errors
    /// When the request id cannot be made.
    pub(crate) fn over(&self, mut ticket: Ticket, status: Status) -> Result<Answer, Problem> {
        self.give_back(&mut ticket);
        ticket.seat = Some(spent(status));
        let mut body = self.body(&ticket.place, status, 0)?;
        (body.people_ahead, body.wait_seconds) = (0, None);
        let mut answer = self.answer(body, &ticket, None);
        if status == Status::Closed && self.carrier != Carrier::Header {
            answer.ticket = None;
        }
        Ok(answer)
    }

    /// Lets someone in although the store is away, if the room says so: with a short token and
    /// without a number.
    ///
    /// # Errors
    /// The problem of `error`, in a room that fails closed.
    pub(crate) async fn without_store(&self, error: &StoreError) -> Result<Answer, Problem> {
        let settings = &self.visit.snapshot.settings;
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
        let mut answer = self.answer(body, &Self::new_ticket(place, None), None);
        answer.ticket = None;
        Ok(answer)
    }

    /// A record of a token from what a ticket remembers, signed by the current key.
    ///
    /// # Errors
    /// While there is no key.
    pub(crate) fn record(&self, issued_at: u64, expires_at: u64) -> Result<TokenRecord, Problem> {
        let key = self.admission.keys.current();
        let key = key.map_err(|_| Problem::new(ProblemType::RedisUnavailable))?;
        let issuer = self.visit.snapshot.settings.issuer.clone();
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
            (self.now_ms / 1000, self.visit.snapshot.settings.session_duration_seconds);
        if seat.expires_at > now + session / 2 {
            return self.record(seat.issued_at, seat.expires_at);
        }
        self.record(now, now + session)
    }

    /// The ticket of a newcomer who has not checked in yet. Its `lease` is what the join script
    /// counted it under.
    pub(crate) fn new_ticket(place: Place, lease: Option<Lease>) -> Ticket {
        Ticket { place, checked_in_at: 0, interval_ms: 0, lease, seat: None }
    }

    fn is_due(&self, ticket: &Ticket) -> bool {
        ticket.checked_in_at == 0
            || check_in::is_due(self.now_ms, ticket.checked_in_at, ticket.interval_ms)
    }

    fn check_in(&self, ticket: &mut Ticket, status: Status) {
        let snapshot = &self.visit.snapshot;
        let interval_ms = match status {
            Status::YourTurn => AT_DOOR_MS,
            _ => self.interval_ms(self.position(&ticket.place)),
        };
        let position = self.position(&ticket.place);
        let lease = Lease::granted(position, snapshot.serving(), self.now_ms, interval_ms);
        self.exchange(ticket, Some(lease));
        (ticket.checked_in_at, ticket.interval_ms) = (self.now_ms, interval_ms);
    }

    fn interval_ms(&self, position: u64) -> u32 {
        let snapshot = &self.visit.snapshot;
        let standing = check_in::Standing {
            people_ahead: snapshot.people_ahead(position),
            waiting: snapshot.figures.waiting,
            admissions_per_second: snapshot.figures.admissions_per_second,
            poll_budget: snapshot.settings.poll_budget_per_second,
        };
        check_in::interval_ms(&standing, rand::random())
    }

    fn give_back(&self, ticket: &mut Ticket) {
        self.exchange(ticket, None);
    }

    /// A lapsed lease is gone already: it cannot be given back.
    fn exchange(&self, ticket: &mut Ticket, new: Option<Lease>) {
        let old = ticket.lease.filter(|lease| !lease.has_lapsed(self.now_ms));
        let snapshot = &self.visit.snapshot;
        self.admission.check_ins.exchange(&snapshot.room, snapshot.reset_epoch, old, new);
        ticket.lease = new;
    }

    async fn token(
        &self,
        place: &Place,
        request_id: &str,
        record: &TokenRecord,
    ) -> Result<String, Problem> {
        let key = self.admission.keys.get(&record.key_id);
        let key = key.map_err(|_| Problem::new(ProblemType::RedisUnavailable))?;
        let whom = TokenFor { room: &self.visit.snapshot.room, request_id, place: *place };
        let signed = self.admission.signer.sign(key, whom, record, &[TokenUse::Access]).await;
        signed.map(|mut tokens| tokens.pop().unwrap_or_default()).map_err(|error| match error {
            SignerError::Overloaded => Problem::new(ProblemType::Overloaded),
            SignerError::Failed(_) => Problem::internal(&error),
        })
    }

    fn body(&self, place: &Place, status: Status, next_ms: u32) -> Result<VisitorStatus, Problem> {
        let snapshot = &self.visit.snapshot;
        let request_id = self.visit.seals.request_ids.seal(*place);
        let position = self.position(place);
        let people_ahead = snapshot.people_ahead(position);
        Ok(VisitorStatus {
            room: snapshot.room.clone(),
            status,
            request_id: request_id.map_err(|error| Problem::internal(&error))?,
            queue_number: place.number,
            position,
            people_ahead,
            wait_seconds: self.wait_seconds(people_ahead),
            next_check_in_seconds: f64::from(next_ms.div_ceil(100)) / 10.0,
            access_token: None,
            expires_in: None,
            stale: self.admission.feed.is_stale(snapshot, self.now_ms),
        })
    }

    fn wait_seconds(&self, people_ahead: u64) -> Option<u64> {
        let snapshot = &self.visit.snapshot;
        if snapshot.settings.queue_all {
            return None;
        }
        let seconds = wait::fifo_seconds(people_ahead, snapshot.figures.admissions_per_second)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a wait")]
        let whole = seconds.ceil() as u64;
        Some(whole)
    }

    fn answer(&self, body: VisitorStatus, ticket: &Ticket, text: Option<String>) -> Answer {
        Answer {
            body,
            ticket: Some(text.unwrap_or_else(|| self.visit.seals.tickets.seal(ticket))),
            carrier: self.carrier,
            secure: self.admission.public_url.starts_with("https:"),
        }
    }
}

/// A seat that is over, as a ticket notes it: it has no life left, and is of no generation that
/// could be restored.
fn spent(status: Status) -> Seat {
    let issued_at = u64::from(status == Status::Closed);
    Seat { issued_at, expires_at: 0, generation: u32::MAX }
}

/// How a seat ended, if the ticket says that it did.
pub(crate) fn ended_as(seat: &Seat) -> Option<Status> {
    let status = if seat.issued_at == 1 { Status::Closed } else { Status::Expired };
    (seat.expires_at == 0).then_some(status)
}

/// What to tell a visitor inside when the store is away: nothing, if its session must still be
/// alive by its ticket (those inside stay inside); else the problem.
///
/// # Errors
/// The problem of `error`, when the ticket does not help.
pub(crate) fn problem_or_stale(
    error: &StoreError,
    seat: &Seat,
    now_ms: u64,
) -> Result<(), Problem> {
    let away = matches!(
        error,
        StoreError::Unavailable(_) | StoreError::RoomMissing | StoreError::Overloaded
    );
    if away && seat.expires_at > now_ms / 1000 { Ok(()) } else { Err(problem_of(error)) }
}
