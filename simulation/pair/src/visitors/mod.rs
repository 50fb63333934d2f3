//! Visitors, polite and hostile: each a script that sees what a browser sees, and no more.

mod aws;
mod cast;
mod habit;
mod hoarders;
mod hostile;
mod origin;
mod origins;
mod person;
mod polite;
mod sharers;

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;
use vestibule_admission::in_process::{Answer, CallError, Carried, NewTicket, Status};
use vestibule_domain::{BoundTo, RoomId, network_limits::NetworkLimit};
use vestibule_history::{Act, Asked, ToldStatus};

pub use self::{
    cast::{Cast, CastShape, Part, Role},
    habit::{Habit, Habits},
    hostile::Hostility,
    origin::Origin,
    origins::{Origins, RegionMix},
    person::Person,
};
use crate::{
    Chance, Network,
    door::{Door, Failure},
    history::History,
};

/// What all visitors of a room share.
#[derive(Debug, Clone)]
pub struct Stage {
    /// The way in.
    pub door: Door,
    /// Time.
    pub network: Network,
    /// Where what they do is written down.
    pub history: History,
    /// The room that they come to.
    pub room: RoomId,
}

/// One visitor.
#[derive(Debug)]
pub struct Visitor {
    stage: Stage,
    name: Arc<str>,
    chance: Chance,
    /// The ticket that its browser has.
    carried: Option<Carried>,
    /// Whether it does what it is told.
    honest: bool,
    /// From where it calls; `None`: nobody knows.
    origin: Option<Origin>,
}

/// A call of a visitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Join,
    Status,
    Claim,
    /// A claim of a page that nobody looks at.
    Hold,
    Leave,
    /// Asking for a page of the site.
    Page,
}

/// What a visitor gets out of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Told {
    /// An answer: where it stands, and after how long to ask again, ms.
    Stands(Status, u64),
    /// It passes to the site as someone inside.
    Passes,
    /// What it carries is worth nothing.
    Worthless,
    /// No answer; whether the call was carried out is not known.
    Nothing,
}

// === impl Visitor ===

impl Visitor {
    fn new(stage: Stage, name: &str, chance: Chance, honest: bool) -> Self {
        Self { stage, name: name.into(), chance, carried: None, honest, origin: None }
    }

    fn coming_from(self, origin: Option<Origin>) -> Self {
        Self { origin, ..self }
    }

    async fn wait_ms(&self, ms: u64) {
        sleep(Duration::from_millis(ms)).await;
    }

    /// Makes a call, keeps the ticket of the answer, and writes down what it was told.
    async fn call(&mut self, call: Call) -> Told {
        let carried = self.carried;
        let (told, ticket) = self.call_with(call, carried).await;
        match ticket {
            NewTicket::Carry(ticket) => self.carried = Some(ticket),
            NewTicket::Drop(_) => self.carried = None,
            NewTicket::Keep => {}
        }
        told
    }

    /// Makes a call with some ticket, and keeps nothing of the answer.
    async fn call_with(&mut self, call: Call, carried: Option<Carried>) -> (Told, NewTicket) {
        let began_ms = self.stage.history.now_ms();
        let room = self.stage.room.as_str();
        let had_place = carried.is_some();
        let client = self.origin.map(Origin::client);
        let answered = self
            .stage
            .door
            .visit(&mut self.chance, async |admission| {
                let admission = admission.called_by(client);
                match (call, carried) {
                    (Call::Join, _) => admission.join(room, carried).await.map(Some),
                    (Call::Page, _) => admission.authorize(room, carried).await,
                    (_, None) => Err(CallError::InvalidTicket),
                    (Call::Status, Some(ticket)) => admission.status(room, ticket).await.map(Some),
                    (Call::Claim, Some(ticket)) => admission.claim(room, ticket).await.map(Some),
                    (Call::Hold, Some(ticket)) => admission.hold(room, ticket).await.map(Some),
                    (Call::Leave, Some(ticket)) => admission.leave(room, ticket).await.map(Some),
                }
            })
            .await;
        match answered {
            Ok(Some(answer)) => {
                if answer.status.status == Status::Admitted {
                    self.write_inside(carried_by(&answer).or(carried), began_ms);
                }
                self.write_answer(call, had_place, carried, &answer, began_ms);
                let next_ms = as_ms(answer.status.next_check_in_seconds);
                (Told::Stands(answer.status.status, next_ms), answer.ticket)
            }
            Ok(None) => {
                self.write_inside(carried, began_ms);
                (Told::Passes, NewTicket::Keep)
            }
            Err(Failure::Refused(CallError::InvalidTicket | CallError::NoRoom)) => {
                self.write_status(call, ToldStatus::Unknown, began_ms);
                (Told::Worthless, NewTicket::Drop(None))
            }
            Err(Failure::Refused(CallError::Internal(error))) => {
                self.stage.history.mistake(&self.name, &format!("{call:?}: {error}"));
                (Told::Nothing, NewTicket::Keep)
            }
            Err(failure) => {
                if is_kept_out(&failure)
                    && let Some(own) = carried.filter(|_| self.honest)
                {
                    let position = own.ticket.waiter.place.number;
                    self.stage.history.census(&self.stage.room).is_kept_out(position);
                }
                self.act(began_ms, Act::Unanswered);
                (Told::Nothing, NewTicket::Keep)
            }
        }
    }

    fn write_answer(
        &self,
        call: Call,
        had_place: bool,
        carried: Option<Carried>,
        answer: &Answer,
        began_ms: u64,
    ) {
        let status = &answer.status;
        let new = carried_by(answer);
        let number = |carried: &Carried| carried.ticket.waiter.place.number;
        let is_new = new.is_some_and(|new| {
            carried.is_none_or(|old| {
                (old.reset_epoch, number(&old)) != (new.reset_epoch, number(&new))
            })
        });
        if let Some(new) = new.filter(|_| is_new || !had_place) {
            let (number, reset_epoch) = (number(&new), new.reset_epoch);
            self.act(began_ms, Act::Arrived { number, reset_epoch, honest: self.honest });
        }
        self.act(
            began_ms,
            Act::Asked(Asked {
                claimed: matches!(call, Call::Claim | Call::Page),
                status: told_status(status.status),
                position: status.position,
                ahead: status.people_ahead,
                wait_seconds: status.wait_seconds,
                next_ms: as_ms(status.next_check_in_seconds),
            }),
        );
        if let (true, Some(position)) = (self.honest, status.position) {
            // Whoever asks for a hold does not want to enter yet.
            if call == Call::Hold && status.status == Status::YourTurn {
                self.stage.history.census(&self.stage.room).gone(position);
                return;
            }
            let next_ms = as_ms(status.next_check_in_seconds);
            self.stage.history.counts(&self.stage.room, status.status, position, next_ms);
        }
        if let Some((carried, seat)) = new.and_then(|new| Some((new, new.ticket.seat()?))) {
            let (number, reset_epoch) = (number(&carried), carried.reset_epoch);
            let token = vestibule_history::Token {
                issued_at: seat.issued_at,
                expires_at: seat.expires_at,
                kid: String::new(),
            };
            self.act(began_ms, Act::Entered { number, reset_epoch, token });
        }
    }

    /// It is inside with this ticket: written down where its session is bound to somebody.
    fn write_inside(&self, carried: Option<Carried>, began_ms: u64) {
        let Some((carried, origin)) = carried.zip(self.origin) else { return };
        let Some(seat) = carried.ticket.seat() else { return };
        let (generation, Some(binding)) = (seat.generation, seat.binding) else { return };
        let (number, reset_epoch) = (carried.ticket.waiter.place.number, carried.reset_epoch);
        let client = origin.number(binding.to == BoundTo::NetworkAndAgent);
        let bound_to = binding.digest.get();
        self.act(began_ms, Act::Inside { number, reset_epoch, generation, bound_to, client });
    }

    fn write_status(&self, call: Call, status: ToldStatus, began_ms: u64) {
        let claimed = matches!(call, Call::Claim | Call::Page);
        let (position, ahead, wait_seconds, next_ms) = (None, None, None, 0);
        let asked = Asked { claimed, status, position, ahead, wait_seconds, next_ms };
        self.act(began_ms, Act::Asked(asked));
    }

    fn act(&self, began_ms: u64, act: Act) {
        self.stage.history.act(&self.name, &self.stage.room, began_ms, act);
    }

    /// The same at this moment.
    fn act_now(&self, act: Act) {
        if let (Act::ClosedTab, Some(carried)) = (&act, self.carried) {
            let position = carried.ticket.waiter.place.number;
            self.stage.history.census(&self.stage.room).gone(position);
        }
        self.act(self.stage.history.now_ms(), act);
    }
}

/// Whether somebody's network has its seats.
fn is_kept_out(failure: &Failure) -> bool {
    let Failure::Refused(CallError::OverLimit { limit, .. }) = failure else { return false };
    *limit == NetworkLimit::Seats
}

/// The ticket that comes with an answer.
fn carried_by(answer: &Answer) -> Option<Carried> {
    match answer.ticket {
        NewTicket::Carry(ticket) => Some(ticket),
        NewTicket::Keep | NewTicket::Drop(_) => None,
    }
}

fn told_status(status: Status) -> ToldStatus {
    match status {
        Status::Waiting => ToldStatus::Waiting,
        Status::YourTurn => ToldStatus::YourTurn,
        Status::Admitted => ToldStatus::Admitted,
        Status::Expired => ToldStatus::Expired,
        Status::Closed => ToldStatus::Closed,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some seconds")]
fn as_ms(seconds: f64) -> u64 {
    (seconds * 1000.0).round() as u64
}
