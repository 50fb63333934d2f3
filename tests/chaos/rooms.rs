//! The rooms of a run, and what operators do to them in the middle, drawn under the seed.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, sleep_until};
use vestibule_tests::{Operator, Reply};

use crate::{
    chance::{Chance, Seed},
    crowd::Book,
    report::now_ms,
};

/// How often an operator tries again, and after how long: for longer than Redis is away in any run.
const ATTEMPTS: usize = 600;
const AGAIN: Duration = Duration::from_millis(300);

/// What an operator does, and when.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Operation {
    after: Duration,
    room: usize,
    what: OperationKind,
}

#[derive(Debug, Clone, PartialEq)]
enum OperationKind {
    Patch(Value),
    Increment(i64),
    Reset,
    RotateKeys,
}

/// An operator at work.
#[derive(Debug)]
pub(crate) struct Desk {
    operator: Operator,
    rooms: Vec<String>,
    book: Arc<Mutex<Book>>,
}

/// The names and settings of the rooms: one with a ceiling, one with a rate, and one by chance.
pub(crate) fn draw(seed: Seed) -> Vec<(String, Value)> {
    let mut chance = seed.chance("rooms", 0);
    let session = chance.within(8..30);
    let room = |method: &str, ceiling: u64, rate: Option<u64>| {
        json!({
            "queueing_method": method,
            "total_active_users": ceiling,
            "new_users_per_minute": rate,
            "session_duration_seconds": session,
            "position_expiry_seconds": 120,
        })
    };
    vec![
        ("ceiling".to_owned(), room("fifo", chance.within(10..40), None)),
        ("rate".to_owned(), room("fifo", 1_200, Some(chance.within(120..1_200)))),
        ("chance".to_owned(), room("random", chance.within(10..40), None)),
    ]
}

// === impl Operation ===

impl Operation {
    /// So many operations within this time, on so many rooms.
    pub(crate) fn draw(seed: Seed, count: u64, rooms: usize, within: Duration) -> Vec<Self> {
        let ms = u64::try_from(within.as_millis()).unwrap_or(1);
        let draw = |number| {
            let mut chance = seed.chance("operation", number);
            let after = Duration::from_millis(chance.within(0..ms));
            let room = usize::try_from(chance.within(0..rooms as u64)).unwrap_or(0);
            Self { after, room, what: OperationKind::draw(&mut chance, room) }
        };
        let mut operations: Vec<_> = (0..count).map(draw).collect();
        operations.sort_by_key(|operation| operation.after);
        operations
    }
}

// === impl OperationKind ===

impl OperationKind {
    fn draw(chance: &mut Chance, room: usize) -> Self {
        match chance.within(0..8) {
            0..4 if room == 1 => {
                Self::Patch(json!({ "new_users_per_minute": chance.within(120..1_200) }))
            }
            0..4 => Self::Patch(json!({ "total_active_users": chance.within(8..50) })),
            4 => Self::Patch(json!({ "poll_budget_per_second": chance.within(100..2_000) })),
            5 => Self::Increment(i64::try_from(chance.within(1..6)).unwrap_or(1)),
            6 => Self::Reset,
            _ => Self::RotateKeys,
        }
    }
}

// === impl Desk ===

impl Desk {
    /// An operator of these rooms.
    pub(crate) fn new(operator: Operator, rooms: Vec<String>, book: Arc<Mutex<Book>>) -> Self {
        Self { operator, rooms, book }
    }

    /// Creates the room of this number.
    pub(crate) async fn create(&self, room: usize, settings: &Value) -> Result<()> {
        let path = format!("/v1/rooms/{}", self.rooms[room]);
        let reply = self.change(&Method::PUT, &path, room, settings).await?;
        ensure!(reply.status < 300, "PUT {path}: {} {}", reply.status, reply.text);
        Ok(())
    }

    /// Carries out all operations, each at its time.
    pub(crate) async fn work(self, operations: Vec<Operation>) {
        let beginning = Instant::now();
        for operation in operations {
            sleep_until(beginning + operation.after).await;
            if let Err(error) = self.operate(&operation).await {
                self.note(|book| book.mistakes.push(format!("operator: {operation:?}: {error:#}")));
            }
        }
    }

    async fn operate(&self, operation: &Operation) -> Result<()> {
        let path = format!("/v1/rooms/{}", self.rooms[operation.room]);
        match &operation.what {
            OperationKind::Patch(settings) => {
                let reply = self.change(&Method::PATCH, &path, operation.room, settings).await?;
                ensure!(reply.status == 200, "{} {}", reply.status, reply.text);
            }
            OperationKind::Increment(by) => {
                // Not idempotent: once, whatever is answered.
                let body = json!({ "event_id": self.rooms[operation.room], "increment_by": by });
                let _ =
                    self.call(&Method::POST, "/api/increment_serving_counter", Some(&body)).await;
            }
            OperationKind::Reset => {
                let (room, begun_ms) = (operation.room, now_ms());
                self.note(|book| book.begins_anew(room));
                let reply = self.insist(&Method::POST, &format!("{path}/reset"), None).await;
                self.note(|book| {
                    book.begins_anew(room);
                    book.losses.add_reset(room, begun_ms..=now_ms());
                });
                let reply = reply?;
                ensure!(reply.status == 200, "{} {}", reply.status, reply.text);
            }
            OperationKind::RotateKeys => {
                let path = "/v1/keys/rotate?signs_in_seconds=2&force=true";
                let reply = self.insist(&Method::POST, path, None).await?;
                ensure!(reply.status < 300, "{} {}", reply.status, reply.text);
            }
        }
        Ok(())
    }

    /// Changes settings of a room, and writes down what its ceiling may be from when on.
    async fn change(
        &self,
        method: &Method,
        path: &str,
        room: usize,
        settings: &Value,
    ) -> Result<Reply> {
        let seats = settings["total_active_users"].as_u64();
        if let Some(seats) = seats {
            self.note(|book| book.inside.may_have(room, seats, Instant::now()));
        }
        let reply = self.insist(method, path, Some(settings)).await?;
        if seats.is_some() && reply.status < 300 {
            self.note(|book| book.inside.has(room, Instant::now()));
        }
        Ok(reply)
    }

    /// Calls until it is carried out, or refused for good.
    async fn insist(&self, method: &Method, path: &str, body: Option<&Value>) -> Result<Reply> {
        let mut last = None;
        for _ in 0..ATTEMPTS {
            match self.call(method, path, body).await {
                Ok(reply) if reply.status < 500 && reply.status != 409 => return Ok(reply),
                other => last = Some(other),
            }
            sleep(AGAIN).await;
        }
        last.context("not tried")?
            .with_context(|| format!("{method} {path}: not in {ATTEMPTS} times"))
    }

    async fn call(&self, method: &Method, path: &str, body: Option<&Value>) -> Result<Reply> {
        let reply = self.operator.call(method.clone(), path, body).await;
        self.note(|book| book.answered("operator", &format!("{method} {path}"), &reply));
        reply
    }

    fn note(&self, note: impl FnOnce(&mut Book)) {
        note(&mut self.book.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
