//! A visitor: joins, asks again when told to, enters when it is its turn, stays, and leaves. It never gives
//! up because of an answer that may be better the next time, or because there is none.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::Result;
use tokio::time::{Instant, sleep, sleep_until};
use vestibule_tests::{Carries, Fleet, Reply, Visitor};

use super::{Book, Person, inside::Stay, losses::Lost};
use crate::report::now_ms;

/// Pause after a call that came to nothing.
const AGAIN: Duration = Duration::from_millis(300);
/// The longest pause at the door.
const AT_DOOR: Duration = Duration::from_secs(1);

/// A visitor on its way.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) person: Person,
    pub(super) room: String,
    pub(super) admissions: Fleet,
    pub(super) book: Arc<Mutex<Book>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Join,
    Status,
    Claim,
    Leave,
}

/// How a wait ended: inside, if it is known since when; away; or it was told that its place is no more.
#[derive(Debug)]
enum Ended {
    Inside(Option<Stay>),
    Away,
    Lost(String),
}

/// What came of a call.
#[derive(Debug)]
enum Told {
    Waiting(Duration),
    YourTurn(Duration),
    Admitted,
    /// It is inside as far as anybody remembers while Redis is away: the session may have run out there.
    AdmittedFromMemory,
    /// The place, or the session, is no more: what was answered.
    Lost(String),
    Nothing,
}

// === impl Walk ===

impl Walk {
    /// From the door to the end of the visit.
    pub(super) async fn go(self, beginning: Instant) {
        sleep_until(beginning + self.person.arrives).await;
        self.note(|book| book.came += 1);
        let gives_up = self.person.patience.map(|patience| Instant::now() + patience);
        loop {
            let (mut visitor, came_ms) = (self.visitor(), now_ms());
            match self.wait(&mut visitor, gives_up).await {
                Ended::Inside(stay) => {
                    self.note(|book| book.entered += 1);
                    return self.stay(&mut visitor, stay).await;
                }
                Ended::Away => return self.note(|book| book.went += 1),
                Ended::Lost(told) => self.note(|book| book.losses.add(self.lost(came_ms, told))),
            }
            sleep(AGAIN).await;
        }
    }

    fn lost(&self, came_ms: u64, told: String) -> Lost {
        let Person { number, room, .. } = self.person;
        Lost { visitor: number, room, waited: came_ms..=now_ms(), told }
    }

    fn visitor(&self) -> Visitor {
        Visitor::new(self.admissions.clone(), &self.room, Carries::Header)
    }

    async fn wait(&self, visitor: &mut Visitor, gives_up: Option<Instant>) -> Ended {
        let (mut asked, mut epoch) = (Instant::now(), self.epoch());
        let (mut is_sure, mut may_be_inside) = (true, false);
        let mut told = self.call(visitor, Call::Join).await;
        loop {
            let pause = match told {
                Told::Admitted => {
                    let now = Instant::now();
                    return Ended::Inside(epoch.map(|epoch| Stay {
                        asked,
                        told: now,
                        until: now,
                        epoch,
                    }));
                }
                // It was inside, and its session is over.
                Told::Lost(_) if may_be_inside => return Ended::Inside(None),
                Told::Lost(what) => return Ended::Lost(what),
                Told::Waiting(pause) => pause,
                Told::YourTurn(pause) => pause.min(AT_DOOR),
                Told::AdmittedFromMemory | Told::Nothing => AGAIN,
            };
            let next = Instant::now() + pause;
            if let Some(end) = gives_up.filter(|end| *end < next) {
                sleep_until(end).await;
                if self.person.says_goodbye {
                    self.call(visitor, Call::Leave).await;
                }
                return Ended::Away;
            }
            sleep_until(next).await;
            let call = match told {
                _ if visitor.ticket().is_empty() => Call::Join,
                Told::YourTurn(_) => Call::Claim,
                _ => Call::Status,
            };
            // A call without an answer may have let it in, however late.
            is_sure &= !matches!(told, Told::AdmittedFromMemory | Told::Nothing);
            may_be_inside |= matches!(told, Told::AdmittedFromMemory);
            if is_sure {
                (asked, epoch) = (Instant::now(), self.epoch());
            }
            told = self.call(visitor, call).await;
        }
    }

    async fn stay(&self, visitor: &mut Visitor, mut stay: Option<Stay>) {
        let mut is_inside = true;
        for _ in 0..3 {
            sleep(self.person.stays / 3).await;
            let now = Instant::now();
            match self.call(visitor, Call::Status).await {
                Told::Admitted => stay = stay.map(|stay| Stay { until: now, ..stay }),
                Told::Lost(_) => {
                    is_inside = false;
                    break;
                }
                _ => {}
            }
        }
        self.note(|book| {
            if let Some(stay) = stay {
                book.inside.stayed(self.person.room, stay);
            }
        });
        if is_inside && self.person.says_goodbye {
            self.call(visitor, Call::Leave).await;
        }
    }

    /// How often the room has begun anew.
    fn epoch(&self) -> Option<u64> {
        let mut epoch = None;
        self.note(|book| epoch = book.epoch(self.person.room));
        epoch
    }

    async fn call(&self, visitor: &mut Visitor, call: Call) -> Told {
        let epoch = self.epoch();
        let reply = match call {
            Call::Join => visitor.join().await,
            Call::Status => visitor.status().await,
            Call::Claim => visitor.claim().await,
            Call::Leave => visitor.leave().await,
        };
        let number = self.person.number;
        let by = format!("visitor {number} of {}", self.room);
        self.note(|book| {
            book.answered(&by, &format!("{call:?}"), &reply);
            let had = reply.as_ref().ok().filter(|reply| call == Call::Join && reply.status == 200);
            if let Some(place) = had.and_then(|reply| reply.number("queue_number").ok()) {
                book.holds(number, self.person.room, epoch, place);
            }
        });
        told(reply)
    }

    fn note(&self, note: impl FnOnce(&mut Book)) {
        note(&mut self.book.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

fn told(reply: Result<Reply>) -> Told {
    let Ok(reply) = reply else { return Told::Nothing };
    match reply.status {
        200..=299 => {}
        status @ (400..=428 | 430..=499) => return Told::Lost(format!("{status} {}", reply.text)),
        _ => return Told::Nothing,
    }
    let seconds = reply.body["next_check_in_seconds"].as_f64().unwrap_or(1.0);
    let pause = Duration::from_secs_f64(seconds.clamp(0.2, 60.0));
    match reply.body["status"].as_str() {
        Some("admitted") if reply.body["stale"] == true => Told::AdmittedFromMemory,
        Some("admitted") => Told::Admitted,
        Some("your_turn") => Told::YourTurn(pause),
        Some("waiting") => Told::Waiting(pause),
        Some("expired" | "closed") => Told::Lost(reply.text),
        _ => Told::Nothing,
    }
}
