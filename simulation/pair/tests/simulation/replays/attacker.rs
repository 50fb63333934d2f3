//! An attacker: somebody with one place, who does with it what anybody may do, and ends it. In the other of
//! the two nights it also sends each of its requests again: at once, later, after others, and long after its
//! place is over.
//!
//! What is *not* an attack here: joining again without a place, which takes another one; and ceasing to ask,
//! which everybody may do once.

use std::sync::{Arc, Mutex, PoisonError};

use vestibule_simulation::{Carried, Chance, Status};

use super::request::{Came, Request};
use crate::guests::{Hall, Rhythm, ticket_of};

/// An attacker's life.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Attacker {
    pub(crate) number: u64,
    pub(crate) comes_ms: u64,
    /// About how often it asks, ms.
    pub(crate) asks_every_ms: u64,
    pub(crate) way: Way,
    /// For how long it stays inside, ms.
    pub(crate) stays_ms: u64,
    /// How many of its requests in line are others than a status.
    pub(crate) mixes: f64,
    /// How it sends again what it sent; `None`: it sends everything once.
    pub(crate) repeats: Option<Repeats>,
}

/// What an attacker does with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Enters by the visitor's calls, and leaves.
    Enters,
    /// Has its place from the visitor's calls, and enters by its request id, as AWS-style clients do.
    EntersByToken,
    /// Gives its place back at this time, ms, or its seat.
    GivesUp(u64),
    /// Uses the AWS-style calls only; its seat is its tokens'.
    Aws,
}

/// How requests are sent again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Repeats {
    /// How often each, at most.
    pub(crate) times: u64,
    /// How many of these at the same moment; the others at any moment later.
    pub(crate) at_once: f64,
    /// When the last is sent, ms.
    pub(crate) until_ms: u64,
}

/// An attacker at work.
#[derive(Debug, Clone)]
struct AtWork {
    attacker: Attacker,
    hall: Hall,
    chance: Chance,
    sent: u64,
    /// The ticket of its seat, from whichever answer it came, and whether its life is over.
    seated: Arc<Mutex<(Option<Carried>, bool)>>,
}

// === impl Attacker ===

impl Attacker {
    /// Lives.
    pub(crate) async fn live(self, hall: Hall) {
        hall.until(self.comes_ms).await;
        let chance = hall.seed.chance("attacker", self.number);
        let mut at_work = AtWork { attacker: self, hall, chance, sent: 0, seated: Arc::default() };
        match self.way {
            Way::Aws => at_work.live_by_number().await,
            _ => Box::pin(at_work.live_by_ticket()).await,
        }
    }
}

// === impl AtWork ===

impl AtWork {
    /// With a ticket: waits, and enters or gives up.
    async fn live_by_ticket(&mut self) {
        let (number, room) = (self.attacker.number, self.hall.room.clone());
        let room = room.as_str();
        let joined = self.hall.visit(number, async |admission| admission.join(room, None).await);
        let Some(answer) = joined.await else { return };
        let came_ms = self.attacker.comes_ms;
        self.hall.diary.write(number, |page| page.came_ms = Some(came_ms));
        let Some(mut carried) = ticket_of(&answer) else { return };
        let request_id = answer.status.request_id.clone().unwrap_or_default();
        self.once(Request::Join(carried)).await;
        let gives_up_ms = match self.attacker.way {
            Way::GivesUp(at_ms) => at_ms,
            _ => u64::MAX,
        };
        let mut rhythm = Rhythm::new(self.hall.seed, number, came_ms, self.attacker.asks_every_ms);
        let (mut told, mut has_turn) = (answer.status.status, false);
        while told != Status::Admitted && self.hall.now_ms() < gives_up_ms {
            match (told, has_turn) {
                (Status::YourTurn, false) => has_turn = true,
                (Status::YourTurn, true) => self.hall.wait(100).await,
                _ => {
                    let next_ms = rhythm.after(self.hall.now_ms()).min(gives_up_ms);
                    self.hall.until(next_ms).await;
                }
            }
            let came = Box::pin(self.ask(carried, &request_id, has_turn)).await;
            if let Some(answer) = &came.answer {
                told = answer.status.status;
                carried = ticket_of(answer).unwrap_or(carried);
            } else if came.status == 200 && has_turn {
                told = self.after_tokens(&mut carried).await;
            }
            if !matches!(told, Status::Waiting | Status::YourTurn) {
                break;
            }
        }
        if told == Status::Admitted {
            self.stay(carried, gives_up_ms).await;
        }
        self.end(carried).await;
    }

    /// Asks where it stands, in some way; claims when its turn has come.
    async fn ask(&mut self, carried: Carried, request_id: &str, has_turn: bool) -> Came {
        let by_token = self.attacker.way == Way::EntersByToken;
        if has_turn && by_token {
            return self.once(Request::tokens(&self.hall, request_id)).await;
        }
        if has_turn {
            return self.once(Request::Claim(carried)).await;
        }
        if self.chance.happens(self.attacker.mixes) {
            let look = |call| Request::look(&self.hall, call, request_id);
            let others = [
                look("queue_num"),
                look("queue_pos_expiry"),
                Request::Join(carried),
                Request::Claim(carried),
                Request::Page(carried),
                Request::tokens(&self.hall, request_id),
            ];
            // A claim that is sent again may enter; one of another kind would have another seat.
            let allowed = if by_token { [0, 1, 2, 5] } else { [0, 1, 3, 4] };
            let other = others[*self.chance.one_of(&allowed)].clone();
            let came = self.once(other).await;
            if came.answer.is_some() {
                return came;
            }
        }
        self.once(Request::Status(carried)).await
    }

    /// It entered by its request id; its claim is then answered by the ticket of that seat.
    async fn after_tokens(&mut self, carried: &mut Carried) -> Status {
        let came = self.once(Request::Claim(*carried)).await;
        let Some(answer) = came.answer else { return Status::YourTurn };
        *carried = ticket_of(&answer).unwrap_or(*carried);
        answer.status.status
    }

    async fn stay(&mut self, carried: Carried, gives_up_ms: u64) {
        let entered_ms = self.hall.now_ms();
        self.hall.diary.write(self.attacker.number, |page| page.entered_ms = Some(entered_ms));
        let leaves_ms = (entered_ms + self.attacker.stays_ms).min(gives_up_ms.max(entered_ms));
        let seed = self.hall.seed;
        let mut rhythm = Rhythm::new(seed, self.attacker.number, entered_ms, 2_000);
        loop {
            let next_ms = rhythm.after(self.hall.now_ms()).min(leaves_ms);
            self.hall.until(next_ms).await;
            if next_ms >= leaves_ms {
                return;
            }
            self.once(Request::Status(carried)).await;
        }
    }

    /// Gives back what it has: also a seat of which it heard by an answer to a repeated request.
    async fn end(&mut self, carried: Carried) {
        self.once(Request::Leave(carried)).await;
        let left_ms = self.hall.now_ms();
        self.hall.diary.write(self.attacker.number, |page| page.left_ms = Some(left_ms));
        let seated = {
            let mut seated = self.seated.lock().unwrap_or_else(PoisonError::into_inner);
            seated.1 = true;
            seated.0
        };
        if let Some(seated) = seated {
            self.once(Request::Leave(seated)).await;
        }
    }

    /// With a number of the AWS-style API: waits, looks, and asks for its tokens.
    async fn live_by_number(&mut self) {
        let (number, room) = (self.attacker.number, self.hall.room.clone());
        let room = room.as_str();
        let assigned =
            self.hall.visit(number, async |admission| admission.assign_queue_num(room).await);
        let Some(request_id) = assigned.await else { return };
        let came_ms = self.attacker.comes_ms;
        self.hall.diary.write(number, |page| page.came_ms = Some(came_ms));
        let mut rhythm = Rhythm::new(self.hall.seed, number, came_ms, self.attacker.asks_every_ms);
        loop {
            self.hall.until(rhythm.after(self.hall.now_ms())).await;
            if self.chance.happens(self.attacker.mixes) {
                self.once(Request::look(&self.hall, "queue_pos_expiry", &request_id)).await;
            }
            self.once(Request::look(&self.hall, "queue_num", &request_id)).await;
            if self.once(Request::tokens(&self.hall, &request_id)).await.status == 200 {
                break;
            }
        }
        let entered_ms = self.hall.now_ms();
        self.hall.diary.write(number, |page| {
            page.entered_ms = Some(entered_ms);
            page.left_ms = Some(entered_ms + self.attacker.stays_ms);
        });
    }

    /// Sends a request; and again, if it is that night.
    async fn once(&mut self, request: Request) -> Came {
        self.sent += 1;
        if let Some(repeats) = self.attacker.repeats.filter(|_| request.is_ever_the_same()) {
            let part = (self.attacker.number << 32) | self.sent;
            let mut chance = self.hall.seed.chance("repeats", part);
            for _ in 0..chance.within(0..repeats.times + 1) {
                let left_ms = repeats.until_ms.saturating_sub(self.hall.now_ms());
                let is_at_once = chance.happens(repeats.at_once);
                let after_ms = if is_at_once { 0 } else { chance.within(0..left_ms.max(1)) };
                tokio::spawn(self.clone().again(request.clone(), after_ms));
            }
        }
        let came = request.send(&self.hall, self.attacker.number).await;
        self.note(&came);
        came
    }

    /// Sends a request once more, after so long.
    async fn again(self, request: Request, after_ms: u64) {
        self.hall.wait(after_ms).await;
        let came = request.send(&self.hall, self.attacker.number).await;
        if let (Some(seated), true) = (came.seated(), self.note(&came)) {
            // Its life was over; an answer to a request of before it brings a seat.
            Request::Leave(seated).send(&self.hall, self.attacker.number).await;
        }
    }

    /// Keeps the ticket of a seat; returns whether its life is over.
    fn note(&self, came: &Came) -> bool {
        let mut seated = self.seated.lock().unwrap_or_else(PoisonError::into_inner);
        seated.0 = came.seated().or(seated.0);
        seated.1
    }
}
