//! From an answer to a visitor to what the page shows of it.

use std::sync::Arc;

use axum::http::HeaderMap;
use vestibule_domain::RoomSnapshot;
use vestibule_page::{Frame, Notices, State, View};
use vestibule_store::PositionExpiry;
use vestibule_token::Ticket;

use super::{Address, Looks};
use crate::{
    state::Admission,
    visit::{Answer, Caller, Handed, Status, Visit},
};

/// What the page already shows, as its script tells.
const SHOWN: &str = "vestibule-shown";

/// One visitor, as the page is to show it.
pub(super) struct Shows<'a> {
    pub(super) visit: &'a Visit,
    pub(super) answer: &'a Answer,
    pub(super) headers: &'a HeaderMap,
    pub(super) address: &'a Address,
    pub(super) looks: &'a Looks,
    pub(super) hold_seconds: Option<u64>,
    /// Whether the visitor asked to enter in this very request.
    pub(super) has_claimed: bool,
}

// === impl Shows ===

impl Shows<'_> {
    pub(super) fn view(&self) -> View {
        let (answer, snapshot) = (self.answer, &*self.visit.snapshot);
        let body = &answer.body;
        let before = ticket_before(self.visit, self.headers);
        let state = state(snapshot, answer, before.as_ref());
        let waits = body.next_check_in_seconds > 0.0 && state != State::Inside;
        let quartiles = body.wait_seconds_p25.zip(body.wait_seconds_p50).zip(body.wait_seconds_p75);
        View {
            room: snapshot.room.to_string(),
            state,
            method: snapshot.settings.queueing_method,
            queue_all: snapshot.settings.queue_all,
            event: snapshot.event.clone(),
            position: body.position,
            people_ahead: body.people_ahead,
            wait_seconds: body.wait_seconds,
            quartiles: quartiles.map(|((p25, p50), p75)| [p25, p50, p75]),
            waited_seconds: self.waited_seconds(),
            now_ms: self.visit.known.now_ms(),
            updated_ms: snapshot.now_ms,
            checked_in_ms: answer.checked_in_at,
            interval_ms: if waits { answer.interval_ms } else { 0 },
            refresh_ms: if waits { millis(body.next_check_in_seconds) } else { 0 },
            hold_seconds: self.hold_seconds,
            grace_seconds: snapshot.settings.presence_grace_seconds,
            notices: Notices {
                is_new_place: before.is_some_and(|before| is_another(&before, answer)),
                no_seat: self.address.no_seat || self.has_claimed,
                stale: body.stale,
            },
            frame: self.frame(),
        }
    }

    fn frame(&self) -> Frame {
        let address = self.address.clone();
        Frame {
            language: address.language,
            wanted: address.wanted,
            enter: address.enter,
            is_in_place: address.is_in_place,
            here: address.here,
            chooser: address.chooser,
            live: address.live,
            logo: self.looks.logo.clone(),
            is_framed_anywhere: self.visit.front.cookie.partitioned,
        }
    }

    /// Since the visitor came, or since the start for which it came early.
    fn waited_seconds(&self) -> Option<u64> {
        let entered_at = u64::from(ticket_of(self.visit, self.answer)?.waiter.place.entered_at);
        let start = self.visit.snapshot.event.as_ref().map_or(0, |event| event.start);
        let since = entered_at.max(start.min(self.visit.snapshot.now_seconds()));
        Some((self.visit.known.now_ms() / 1000).saturating_sub(since))
    }
}

/// How long the place of someone whose turn it is is still held. Asked of Redis once per turn: the
/// page counts down from there, and says that it does.
pub(super) async fn hold_seconds(
    admission: &Arc<Admission>,
    visit: &Visit,
    answer: &Answer,
    headers: &HeaderMap,
) -> Option<u64> {
    let counts_already = headers.get(SHOWN).is_some_and(|shown| shown == State::YourTurn.name());
    let snapshot = &visit.snapshot;
    if answer.body.status != Status::YourTurn
        || counts_already
        || snapshot.settings.position_expiry_seconds.is_none()
    {
        return None;
    }
    let (ticket, position) = (ticket_of(visit, answer)?, answer.body.position?);
    let (room, epoch) = (&snapshot.room, snapshot.reset_epoch);
    match admission.store.position_expiry(room, epoch, &ticket.waiter.place, position).await {
        Ok(PositionExpiry::Claimable { seconds_left }) => Some(seconds_left),
        Ok(_) | Err(_) => None,
    }
}

fn state(room: &RoomSnapshot, answer: &Answer, before: Option<&Ticket>) -> State {
    let body = &answer.body;
    let had_seat = before.is_some_and(|ticket| ticket.seat.is_some());
    match body.status {
        Status::Admitted => State::Inside,
        Status::YourTurn => State::YourTurn,
        Status::Waiting if room.settings.queue_all => State::Paused,
        Status::Waiting if room.is_prequeueing() || room.awaits_draw(body.queue_number) => {
            State::Early
        }
        Status::Waiting => State::Waiting,
        Status::Closed if room.rejects() => {
            State::TurnedAway { keeps_place: body.queue_number > 0 }
        }
        Status::Expired if !had_seat => State::Missed,
        Status::Closed | Status::Expired => State::SessionOver,
    }
}

/// The ticket that the visitor brought.
fn ticket_before(visit: &Visit, headers: &HeaderMap) -> Option<Ticket> {
    Caller::new(visit.clone(), headers).ticket.ok().map(|(ticket, _)| ticket)
}

/// The ticket that it is handed.
fn ticket_of(visit: &Visit, answer: &Answer) -> Option<Ticket> {
    let Handed::Newest(text) = &answer.ticket else { return None };
    visit.seals.tickets.open(text).ok()
}

fn is_another(before: &Ticket, answer: &Answer) -> bool {
    before.waiter.place.number != answer.body.queue_number
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an interval")]
fn millis(seconds: f64) -> u32 {
    (seconds * 1000.0).ceil() as u32
}
