//! From an answer to a visitor to what the page shows of it.

use std::sync::Arc;

use axum::http::HeaderMap;
use vestibule_domain::RoomSnapshot;
use vestibule_page::{Frame, Notices, State, View};
use vestibule_store::PositionExpiry;
use vestibule_token::Ticket;

use super::{Address, RoomBranding};
use crate::{
    state::Admission,
    visitor::{CookieChange, RoomContext, Status, VisitorRequest, VisitorResponse},
};

/// What the page already shows, as its script tells.
const SHOWN: &str = "vestibule-shown";

/// One visitor, as the page is to show it.
pub(super) struct Shows<'a> {
    pub(super) context: &'a RoomContext,
    pub(super) answer: &'a VisitorResponse,
    pub(super) headers: &'a HeaderMap,
    pub(super) address: &'a Address,
    pub(super) looks: &'a RoomBranding,
    pub(super) hold: Hold,
    /// Whether the visitor asked to enter in this very request.
    pub(super) has_claimed: bool,
}

/// For how long the place of someone whose turn it is is held.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hold {
    /// Seconds; `None`: as long as is needed, or not asked for.
    seconds: Option<u64>,
    /// It was held for long enough; who enters now may still get a seat.
    is_over: bool,
}

/// How often someone at the door tells Redis that it is there, about, in seconds.
const KNOCK_SECONDS: u64 = 15;

/// Someone who is late is looked after less often, ms: each time costs a question to Redis.
const LATE_MS: u32 = 10_000;

// === impl Shows ===

impl Shows<'_> {
    pub(super) fn view(&self) -> View {
        let (answer, snapshot) = (self.answer, &*self.context.snapshot);
        let body = &answer.body;
        let before = ticket_before(self.context, self.headers);
        let state = state(snapshot, answer, before.as_ref());
        let is_at_door = body.status == Status::YourTurn && state == State::Waiting;
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
            wait_seconds: if is_at_door { self.wait_at_door() } else { body.wait_seconds },
            quartiles: quartiles.map(|((p25, p50), p75)| [p25, p50, p75]),
            waited_seconds: self.waited_seconds(),
            now_ms: self.context.known.now_ms(),
            updated_ms: snapshot.now_ms,
            checked_in_ms: answer.checked_in_at,
            interval_ms: if waits { answer.interval_ms } else { 0 },
            refresh_ms: match millis(body.next_check_in_seconds) {
                _ if !waits => 0,
                ms if self.hold.is_over => ms.max(LATE_MS),
                ms => ms,
            },
            hold_seconds: self.hold.seconds,
            grace_seconds: snapshot.settings.presence_grace_seconds,
            notices: Notices {
                is_at_door,
                is_new_place: before.is_some_and(|before| is_another(&before, answer)),
                no_seat: self.address.no_seat || self.has_claimed,
                is_late: self.hold.is_over,
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
            is_framed_anywhere: self.context.binding.cookie.partitioned,
        }
    }

    /// The wait of someone who may enter while no seat is free: until one comes free.
    fn wait_at_door(&self) -> Option<u64> {
        let number = self.answer.body.queue_number;
        let outlook = self.context.snapshot.outlook(
            number,
            self.context.known.now_ms(),
            self.context.progress(),
        );
        outlook.wait.seconds.map(whole)
    }

    /// Since the visitor came, or since the start for which it came early.
    fn waited_seconds(&self) -> Option<u64> {
        let entered_at = u64::from(ticket_of(self.context, self.answer)?.waiter.place.entered_at);
        let start = self.context.snapshot.event.as_ref().map_or(0, |event| event.start);
        let since = entered_at.max(start.min(self.context.snapshot.now_seconds()));
        Some((self.context.known.now_ms() / 1000).saturating_sub(since))
    }
}

/// How long the place of someone whose turn it is is still held. Asked of Redis once per turn: the
/// page counts down from there, and says that it does.
pub(super) async fn hold(
    admission: &Arc<Admission>,
    context: &RoomContext,
    answer: &VisitorResponse,
    headers: &HeaderMap,
) -> Hold {
    let counts_already = headers.get(SHOWN).is_some_and(|shown| shown == State::YourTurn.name());
    let snapshot = &context.snapshot;
    if answer.body.status != Status::YourTurn || snapshot.settings.position_expiry_seconds.is_none()
    {
        return Hold::default();
    }
    let Some((ticket, position)) = ticket_of(context, answer).zip(answer.body.position) else {
        return Hold::default();
    };
    let (room, epoch) = (&snapshot.room, snapshot.reset_epoch);
    if !has_seats(snapshot) {
        if knocks(context, headers, answer.body.queue_number) {
            // If it does not get through, the next one will.
            let _ = admission.store.extend_claim_window(room, epoch, position).await;
        }
        return Hold::default();
    }
    if counts_already {
        return Hold::default();
    }
    match admission.store.position_expiry(room, epoch, &ticket.waiter.place, position).await {
        Ok(PositionExpiry::Claimable { seconds_left }) => {
            Hold { seconds: Some(seconds_left), is_over: false }
        }
        Ok(PositionExpiry::Expired) => Hold { seconds: None, is_over: true },
        Ok(_) | Err(_) => Hold::default(),
    }
}

/// Whether it is time for someone at the door to tell Redis that it is still there, so that its
/// time to claim does not run while there is no seat to claim: once in a while, spread over all.
fn knocks(context: &RoomContext, headers: &HeaderMap, number: u64) -> bool {
    let now_ms = context.known.now_ms();
    let before = ticket_before(context, headers).map_or(0, |ticket| ticket.waiter.checked_in_at);
    let unseen = now_ms.saturating_sub(before) / 1000;
    (now_ms / 1000 + number) % KNOCK_SECONDS <= unseen
}

fn state(room: &RoomSnapshot, answer: &VisitorResponse, before: Option<&Ticket>) -> State {
    let body = &answer.body;
    let had_seat = before.is_some_and(|ticket| ticket.seat.is_some());
    match body.status {
        Status::Admitted => State::Inside,
        // The line is served a little ahead of the seats: a turn is told when one is free.
        Status::YourTurn if has_seats(room) => State::YourTurn,
        Status::Waiting if room.settings.queue_all => State::Paused,
        Status::Waiting if room.is_prequeueing() || room.awaits_draw(body.queue_number) => {
            State::Early
        }
        Status::Waiting | Status::YourTurn => State::Waiting,
        Status::Closed if room.rejects() => {
            State::TurnedAway { keeps_place: body.queue_number > 0 }
        }
        Status::Expired if !had_seat => State::Missed,
        Status::Closed | Status::Expired => State::SessionOver,
    }
}

/// The ticket that the visitor brought.
fn ticket_before(context: &RoomContext, headers: &HeaderMap) -> Option<Ticket> {
    VisitorRequest::new(context.clone(), headers).ticket.ok().map(|(ticket, _)| ticket)
}

/// The ticket that it is handed.
fn ticket_of(context: &RoomContext, answer: &VisitorResponse) -> Option<Ticket> {
    let CookieChange::Newest(text) = &answer.ticket else { return None };
    context.ciphers.tickets.open(text).ok()
}

fn is_another(before: &Ticket, answer: &VisitorResponse) -> bool {
    before.waiter.place.number != answer.body.queue_number
}

/// Whether somebody could enter now, as far as this instance knows.
fn has_seats(room: &RoomSnapshot) -> bool {
    let settings = &room.settings;
    let seats =
        settings.total_active_users.is_none_or(|most| room.active + room.unconfirmed < most);
    let rate = settings.new_users_per_minute.is_none_or(|most| room.admitted_last_minute < most);
    room.is_open() || (seats && rate)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a wait")]
fn whole(seconds: f64) -> u64 {
    seconds.ceil() as u64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an interval")]
fn millis(seconds: f64) -> u32 {
    (seconds * 1000.0).ceil() as u32
}
