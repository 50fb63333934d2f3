//! Two stores that are called alike, and what a caller remembers of their rooms.

use std::{fmt::Debug, sync::Arc, time::Duration};

use futures_util::StreamExt;
use redis::{Cmd, aio::MultiplexedConnection};
use tokio::time::Instant;
use vestibule_domain::{RoomId, RoomSnapshot, roll::Roll, schedule::RoomConfig, tick::TickState};
use vestibule_redis_model::{Dialect, Engine};
use vestibule_store::{Clock, Link, ManualClock, Message, Store, StoreError, TickReport};
use vestibule_tests::Redis;

use super::{keyspace, pushes};
use crate::{model::Model, world::START_MS};

/// What snapshots are pushed on, whole and as differences.
pub(super) const SNAPSHOTS: [&str; 2] = ["vestibule:snapshots", "vestibule:differences"];
/// Everything that scripts publish on.
const CHANNELS: [&str; 6] = [
    SNAPSHOTS[0],
    SNAPSHOTS[1],
    "vestibule:deletions",
    "vestibule:endings",
    "vestibule:changes",
    "vestibule:wakes",
];
/// Says that nothing more comes.
const END: &str = "end";

/// What differs, as text.
#[derive(Debug)]
pub(super) struct Mismatch(pub(super) String);

/// A store, and the reports of its rooms' last ticks.
pub(super) struct Side {
    pub(super) store: Store,
    pub(super) reports: [Option<TickReport>; 2],
}

/// What a caller remembers of a room.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) snapshot: Option<RoomSnapshot>,
    pub(super) config: RoomConfig,
    pub(super) roll: Roll,
    pub(super) ticks: TickState,
    pub(super) leader: u64,
}

/// The two stores.
pub(super) struct Pair {
    begun: Instant,
    pub(super) clock: ManualClock,
    pub(super) rooms: [RoomId; 2],
    pub(super) memory: [Memory; 2],
    /// Of the model, and of the server.
    pub(super) sides: [Side; 2],
    /// The rooms as they were after each call.
    pub(super) looks: Vec<RoomSnapshot>,
    /// The calls so far, with their answers.
    pub(super) log: Vec<String>,
    model: Arc<Model>,
    connection: MultiplexedConnection,
    published: [vestibule_store::Messages; 2],
}

// === impl Pair ===

impl Pair {
    /// Both empty.
    pub(super) async fn on(
        redis: &Redis,
        mut connection: MultiplexedConnection,
        engine: Engine,
        dialect: Dialect,
    ) -> Self {
        redis::cmd("FLUSHALL").exec_async(&mut connection).await.unwrap();
        let clock = ManualClock::at(START_MS);
        let manual = || Clock::Manual(clock.clone());
        let model = Arc::new(Model::new(engine, dialect));
        // What scripts keep of it must be alike.
        model.is_run(&run_id(&mut connection).await);
        let real = Store::open(&redis.url(), manual(), Duration::from_mins(1)).unwrap();
        let channels = [&CHANNELS[..], &[END]].concat();
        let published = [model.subscribe(&channels).await.unwrap(), listen(redis, &channels).await];
        let side = |store| Side { store, reports: [None, None] };
        Self {
            begun: Instant::now(),
            rooms: ["sale", "other"].map(|name| RoomId::new(name).unwrap()),
            memory: Default::default(),
            sides: [side(Store::over(model.clone(), manual())), side(real)],
            looks: Vec::new(),
            log: Vec::new(),
            clock,
            model,
            connection,
            published,
        }
    }

    /// Calls both stores; their answers must be alike. `name` is for messages.
    pub(super) async fn both<T: Debug>(
        &mut self,
        name: String,
        call: impl AsyncFn(&Side) -> Result<T, StoreError>,
    ) -> Result<[Option<T>; 2], Mismatch> {
        let [model, real] = [call(&self.sides[0]).await, call(&self.sides[1]).await];
        let [found, expected] = [text(&model), text(&real)];
        let at_ms = self.clock.now_ms() - START_MS;
        self.log.push(format!("{at_ms} {name}: {expected}"));
        if found != expected {
            return Err(Mismatch(format!(" model: {found}\n  real: {expected}")));
        }
        Ok([model.ok(), real.ok()])
    }

    /// The model's answer, when both were alike.
    pub(super) async fn one<T: Debug>(
        &mut self,
        name: String,
        call: impl AsyncFn(&Side) -> Result<T, StoreError>,
    ) -> Result<Option<T>, Mismatch> {
        let [model, _] = self.both(name, call).await?;
        Ok(model)
    }

    /// One command on both servers, whose answers do not matter.
    pub(super) async fn command(&mut self, name: String, command: &Cmd) {
        self.log.push(name);
        self.model.ask(command).unwrap();
        command.exec_async(&mut self.connection).await.unwrap();
    }

    /// Compares what is left, and what was published.
    pub(super) async fn compare_the_end(&mut self) -> Result<(), Mismatch> {
        let model = self.model.dump();
        let real = keyspace::read(&mut self.connection).await;
        // Both servers' clocks went on in the meantime, and not by the same.
        let tolerance = self.begun.elapsed() + Duration::from_secs(1);
        keyspace::compare(model, real, tolerance)?;
        self.command(END.to_owned(), redis::cmd("PUBLISH").arg(END).arg("")).await;
        let [model, real] = &mut self.published;
        let (model, real) = (until_the_end(model).await, until_the_end(real).await);
        let same = model.len() == real.len();
        match model.iter().zip(&real).find(|(model, real)| model != real) {
            None if same => pushes::compare(&model, &self.looks),
            None => Err(Mismatch(format!("{} published, real: {}", model.len(), real.len()))),
            Some((model, real)) => {
                Err(Mismatch(format!("published, model: {model:?}\n  real: {real:?}")))
            }
        }
    }
}

/// Subscribes at a real server.
async fn listen(redis: &Redis, channels: &[&str]) -> vestibule_store::Messages {
    let client = redis::Client::open(redis.url()).unwrap();
    let mut connection = client.get_async_pubsub().await.unwrap();
    connection.subscribe(channels).await.unwrap();
    let message = |message: redis::Msg| Message {
        channel: message.get_channel_name().to_owned(),
        payload: message.get_payload().unwrap(),
    };
    connection.into_on_message().map(message).boxed()
}

/// A channel, and what was published there: JSON, or another text.
pub(super) type Published = (String, Result<serde_json::Value, String>);

/// Everything published, with its JSON as a value: the order of its fields means nothing.
async fn until_the_end(messages: &mut vestibule_store::Messages) -> Vec<Published> {
    let mut all = Vec::new();
    while let Some(Message { channel, payload }) = messages.next().await {
        if channel == END {
            break;
        }
        let value = serde_json::from_str(&payload).map_err(|_| payload);
        all.push((channel, value));
    }
    all
}

/// An answer; of an error of the store, what its caller sees.
fn text<T: Debug>(answer: &Result<T, StoreError>) -> String {
    match answer {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("{error}"),
    }
}

async fn run_id(connection: &mut MultiplexedConnection) -> String {
    let info: String = redis::cmd("INFO").arg("server").query_async(connection).await.unwrap();
    let id = info.lines().find_map(|line| line.strip_prefix("run_id:"));
    id.unwrap().to_owned()
}
