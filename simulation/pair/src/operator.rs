//! An operator: creates the rooms, and changes things in the middle, over the controllers' API.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{Chance, Reply, Seed, door::Door, history::History};

/// How often an operator tries again, and after how long, ms.
const ATTEMPTS: usize = 40;
const AGAIN_MS: u64 = 250;

/// What an operator does in the middle.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// Its number, which also decides its generator.
    pub number: u64,
    /// When, ms.
    pub at_ms: u64,
    /// In which room, by its place in the scenario.
    pub room: usize,
    /// What.
    pub what: OperationKind,
}

/// What an operator may do.
#[derive(Debug, Clone, PartialEq)]
pub enum OperationKind {
    /// Changes settings.
    Patch(Value),
    /// Moves the serving counter.
    Increment(i64),
    /// Starts the room afresh.
    Reset,
    /// Makes a new signing key, which signs after so many seconds.
    RotateKeys(u64),
    /// Deletes the room and creates it again.
    Recreate(Value),
    /// Revokes the session or the place of this queue number.
    Revoke(u64),
}

/// An operator.
#[derive(Debug)]
pub(crate) struct Operator {
    door: Door,
    history: History,
    chance: Chance,
}

// === impl Operation ===

impl Operation {
    /// Up to `most` operations on so many rooms between these moments.
    #[must_use]
    pub fn draw(seed: Seed, most: u64, rooms: &[Value], (from_ms, to_ms): (u64, u64)) -> Vec<Self> {
        if most == 0 || rooms.is_empty() {
            return Vec::new();
        }
        let count = seed.chance("operations", 0).within(0..most + 1);
        let mut operations: Vec<_> = (0..count)
            .map(|number| {
                let mut chance = seed.chance("operation", number);
                let at_ms = chance.within(from_ms..to_ms);
                let room = usize::try_from(chance.within(0..rooms.len() as u64)).unwrap_or(0);
                let what = OperationKind::draw(&mut chance, &rooms[room]);
                Self { number, at_ms, room, what }
            })
            .collect();
        operations.extend(Self::revocations(seed, most, rooms.len() as u64, (from_ms, to_ms)));
        operations.sort_by_key(|operation| (operation.at_ms, operation.number));
        operations
    }
}

/// The first number of operations that revoke somebody.
const REVOCATIONS_FROM: u64 = 1_000;
/// Whom they revoke: of numbers up to this, most wait in a night of its usual size.
const MOST_REVOKED: u64 = 40;

impl Operation {
    /// Up to twice as many revocations. They have generators of their own, so that all else stays as it is drawn without
    /// them.
    fn revocations(seed: Seed, most: u64, rooms: u64, (from_ms, to_ms): (u64, u64)) -> Vec<Self> {
        let count = seed.chance("revocations", 0).within(0..2 * most + 1);
        let one = |nth| {
            let mut chance = seed.chance("revocation", nth);
            let at_ms = chance.within(from_ms..to_ms);
            let room = usize::try_from(chance.within(0..rooms)).unwrap_or(0);
            let what = OperationKind::Revoke(chance.within(1..MOST_REVOKED));
            Self { number: REVOCATIONS_FROM + nth, at_ms, room, what }
        };
        (0..count).map(one).collect()
    }
}

// === impl OperationKind ===

impl OperationKind {
    fn draw(chance: &mut Chance, room: &Value) -> Self {
        match chance.within(0..10) {
            0 | 1 => {
                let ceiling = chance.within(1..30);
                Self::Patch(json!({ "total_active_users": ceiling, "new_users_per_minute": null }))
            }
            2 => {
                let rate = chance.within(30..600);
                Self::Patch(json!({ "total_active_users": 600, "new_users_per_minute": rate }))
            }
            3 => Self::Patch(json!({ "queue_all": chance.happens(0.5) })),
            4 => {
                let method = *chance.one_of(&["fifo", "random", "fifo", "passthrough", "reject"]);
                Self::Patch(json!({ "queueing_method": method }))
            }
            5 => Self::Patch(json!({ "poll_budget_per_second": chance.within(100..2_000) })),
            6 => Self::Increment(i64::try_from(chance.within(0..8)).unwrap_or(0) - 2),
            7 => Self::Reset,
            8 => Self::RotateKeys(chance.within(0..6)),
            _ => Self::Recreate(room.clone()),
        }
    }
}

// === impl Operator ===

impl Operator {
    pub(crate) fn new(door: Door, history: History, chance: Chance) -> Self {
        Self { door, history, chance }
    }

    /// Creates a room, which answers AWS-style calls; tries until it is there.
    pub(crate) async fn create(&mut self, room: &str, settings: &Value) -> bool {
        let mut settings = settings.clone();
        if let Some(settings) = settings.as_object_mut() {
            settings.entry("aws_style_api").or_insert(true.into());
        }
        self.insist("PUT", &format!("/v1/rooms/{room}"), &settings).await
    }

    /// Carries an operation out in `room`.
    pub(crate) async fn operate(&mut self, room: &str, what: &OperationKind) {
        let path = format!("/v1/rooms/{room}");
        match what {
            OperationKind::Patch(settings) => {
                self.insist("PATCH", &path, settings).await;
            }
            OperationKind::Increment(by) => {
                // Not idempotent: once, whatever is answered.
                let body = json!({ "event_id": room, "increment_by": by });
                self.call("POST", "/api/increment_serving_counter", &body).await;
            }
            OperationKind::Reset => {
                self.history.begins_anew(room);
                self.insist("POST", &format!("{path}/reset"), &Value::Null).await;
                self.history.begins_anew(room);
            }
            OperationKind::RotateKeys(seconds) => {
                let path = format!("/v1/keys/rotate?signs_in_seconds={seconds}&force=true");
                self.insist("POST", &path, &Value::Null).await;
            }
            OperationKind::Recreate(settings) => {
                self.insist("DELETE", &format!("{path}?people=1000000"), &Value::Null).await;
                self.history.begins_anew(room);
                sleep(Duration::from_millis(self.chance.within(0..3_000))).await;
                self.create(room, settings).await;
            }
            OperationKind::Revoke(number) => {
                self.insist("DELETE", &format!("{path}/sessions/{number}"), &Value::Null).await;
            }
        }
    }

    /// Calls until it is carried out, or refused for good.
    async fn insist(&mut self, method: &str, path: &str, body: &Value) -> bool {
        for _ in 0..ATTEMPTS {
            match self.call(method, path, body).await {
                Some(Reply { status: 200..=299, .. }) => return true,
                Some(Reply { status: 404, .. }) => return false,
                Some(Reply { status: 400..=408 | 410..=499, body }) => {
                    self.history
                        .mistake("operator", &format!("{method} {path} is refused: {body}"));
                    return false;
                }
                Some(_) | None => sleep(Duration::from_millis(AGAIN_MS)).await,
            }
        }
        false
    }

    async fn call(&mut self, method: &str, path: &str, body: &Value) -> Option<Reply> {
        let reply = self.door.command(&mut self.chance, (method, path), body).await.ok();
        let status = reply.as_ref().map_or(0, |reply| reply.status);
        self.history.operated(method, path, body, status);
        if let Some(Reply { status: 500, body }) = &reply {
            self.history.mistake("operator", &format!("{method} {path}: {body}"));
        }
        reply
    }
}
