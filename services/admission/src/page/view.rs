//! From a flow's response to what the page shows of it.

use vestibule_domain::Enter;
use vestibule_page::{Notices, PageFrame, PageLogo, PageState, PageView};
use vestibule_token::{Ticket, TicketState};

use super::Address;
use crate::flows::{ClaimWindow, RoomContext, Status, Turn, VisitorResponse};

/// What the view of one visitor is made of.
pub(super) struct PageViewBuilder<'a> {
    pub(super) room: &'a RoomContext,
    pub(super) response: &'a VisitorResponse,
    /// The ticket that the visitor brought.
    pub(super) before: Option<Ticket>,
    pub(super) address: &'a Address,
    /// The operator's logo.
    pub(super) logo: Option<&'a PageLogo>,
    pub(super) window: ClaimWindow,
    /// Whether the visitor asked to enter in this very request.
    pub(super) has_claimed: bool,
    /// How the page takes the turn.
    pub(super) turn: Turn,
}

/// How often the page asks after the claim window is over, ms. Each time makes a call to Redis.
const LATE_MS: u32 = 10_000;

// === impl PageViewBuilder ===

impl PageViewBuilder<'_> {
    pub(super) fn build(&self) -> PageView {
        let (response, snapshot) = (self.response, &*self.room.snapshot);
        let body = &response.status;
        let state = self.state();
        let is_at_door = body.status == Status::YourTurn && state == PageState::Waiting;
        let waits = body.next_check_in_seconds > 0.0 && state != PageState::Inside;
        let quartiles = body.wait_seconds_p25.zip(body.wait_seconds_p50).zip(body.wait_seconds_p75);
        PageView {
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
            now_ms: self.room.known.now_ms(),
            updated_ms: snapshot.now_ms,
            interval_ms: if waits { body.next_check_in_ms() } else { 0 },
            refresh_ms: match body.next_check_in_ms() {
                _ if matches!(state, PageState::TurnedAway { .. }) => {
                    PageView::reopen_check_ms(self.room.known.now_ms())
                }
                _ if !waits => 0,
                ms if self.window.is_over => ms.max(LATE_MS),
                ms => ms,
            },
            hold_seconds: body.seat_held_seconds.or(self.window.seconds),
            is_automatic: snapshot.settings.enter == Enter::Automatic,
            grace_seconds: snapshot.settings.presence_grace_seconds,
            notices: Notices {
                is_served: is_at_door,
                is_new_place: self.has_new_place(),
                no_seat: self.address.no_seat || self.has_claimed,
                is_late: self.window.is_over,
                has_held_seat: body.seat_held_seconds.is_some(),
                stale: body.stale,
            },
            challenge: None,
            message: None,
            frame: frame(self.room, self.address, self.logo),
        }
        .with_words(&snapshot.settings, &self.room.binding)
    }

    /// The wait of someone who may enter while no seat is free: until one comes free.
    fn wait_at_door(&self) -> Option<u64> {
        let number = self.response.status.queue_number;
        let outlook =
            self.room.snapshot.outlook(number, self.room.known.now_ms(), self.room.progress());
        outlook.wait.seconds.map(whole)
    }

    /// Seconds since the visitor came, or since the start of the event that it came early for.
    fn waited_seconds(&self) -> Option<u64> {
        let place = self.response.cookie.ticket()?.waiter.place;
        let entered_at = u64::from(place.entered_at);
        let start = self.room.snapshot.event.as_ref().map_or(0, |event| event.start);
        let since = entered_at.max(start.min(self.room.snapshot.now_seconds()));
        Some((self.room.known.now_ms() / 1000).saturating_sub(since))
    }

    fn state(&self) -> PageState {
        let (room, status) = (&self.room.snapshot, &self.response.status);
        match status.status {
            Status::Admitted => PageState::Inside,
            Status::YourTurn if self.is_shown_its_turn() => PageState::YourTurn,
            Status::Waiting if room.settings.queue_all => PageState::Paused,
            Status::Waiting if room.is_prequeueing() || room.awaits_draw(status.queue_number) => {
                PageState::Early
            }
            Status::Waiting | Status::YourTurn => PageState::Waiting,
            Status::Closed if room.rejects() => {
                let keeps_place = status.queue_number > 0;
                PageState::TurnedAway { keeps_place, sold_out: room.is_sold_out() }
            }
            Status::Expired if !self.had_seat() => PageState::Missed,
            Status::Closed | Status::Expired => PageState::SessionOver,
        }
    }

    /// The line is served a little ahead of the seats. The page shows the turn once a seat is held, or free
    /// for whoever presses the button; one that enters by itself has just asked for it in vain.
    fn is_shown_its_turn(&self) -> bool {
        let is_held = self.response.status.seat_held_seconds.is_some();
        is_held || self.turn != Turn::Enter && self.room.has_free_seats()
    }

    /// Whether the visitor was inside before, as far as its ticket knows.
    fn had_seat(&self) -> bool {
        self.before.is_some_and(|ticket| {
            ticket.seat().is_some() || matches!(ticket.state, TicketState::Ended(_))
        })
    }

    /// Whether the visitor came with a place and has another one now.
    fn has_new_place(&self) -> bool {
        let number = self.response.status.queue_number;
        let before = self.before.filter(|before| before.endless().is_none());
        before.is_some_and(|before| before.waiter.place.number != number)
    }
}

/// What is around the content of a page of `room` at `address`.
pub(super) fn frame(room: &RoomContext, address: &Address, logo: Option<&PageLogo>) -> PageFrame {
    let address = address.clone();
    PageFrame {
        language: address.language,
        wanted: address.wanted,
        enter: address.enter,
        is_in_place: address.is_in_place,
        here: address.here,
        language_form: address.language_form,
        live: address.live,
        logo: logo.map(|logo| logo.source(address.logos.as_deref())),
        logo_alt: None,
        title: None,
        accent: None,
        is_framed_anywhere: room.binding.cookie.partitioned,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a wait")]
fn whole(seconds: f64) -> u64 {
    seconds.ceil() as u64
}
