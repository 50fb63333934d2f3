//! A Redis of several shards inside the process, for tests: a room is on the shard that its name says before the `-`, and a
//! shard is away when a test says so. Nobody subscribes.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use clap::Parser;
use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream};
use tokio::time::sleep;
use vestibule_issuance::Machine;
use vestibule_redis_model::{
    Engine, Options, Server,
    wire::{
        self,
        redis::{Cmd, ErrorKind, RedisError, RedisFuture, Value},
    },
};
use vestibule_runtime::metrics::Registry;
use vestibule_store::{Clock, Link, ManualClock, Messages, Store};

use crate::{cli::Cli, config::Config, state::Controller};

/// When its tests begin, unix ms.
pub(crate) const START_MS: u64 = 4_000_000_000_000;
/// After so long a call has failed that is not answered.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The link to it.
#[derive(Debug)]
pub(crate) struct Parted {
    server: Mutex<Server>,
    /// What the names of rooms begin with that do not answer.
    away: Mutex<Vec<String>>,
    /// How many calls there were that nobody answered.
    in_vain: Mutex<u32>,
}

// === impl Parted ===

impl Parted {
    /// One that holds nothing, and a store over it.
    pub(crate) fn new(clock: &ManualClock) -> (Arc<Self>, Store) {
        let server = Mutex::new(Server::new(Engine::new(), Options::default()));
        let parted = Arc::new(Self { server, away: Mutex::default(), in_vain: Mutex::default() });
        let store = Store::over(Arc::clone(&parted) as _, Clock::Manual(clock.clone()));
        (parted, store)
    }

    /// The same with a controller, whose loops do not run.
    pub(crate) fn with_controller(clock: &ManualClock) -> (Arc<Self>, Arc<Controller>) {
        let (parted, store) = Self::new(clock);
        let cli = Cli::parse_from([
            "test",
            "--secret=0123456789abcdef0123456789abcdef",
            "--api-token=0123456789abcdef",
        ]);
        let config = Config { store, ..Config::read(&cli).unwrap() };
        let address = ([127, 0, 0, 1], 8081).into();
        let metrics = &mut Registry::default();
        (parted, Arc::new(Controller::new(config, Machine::real(), address, metrics)))
    }

    /// What is of rooms whose names begin so does not answer; of all others it does.
    pub(crate) fn take_away(&self, begins: &[&str]) {
        *self.away.lock().unwrap() = begins.iter().map(|begin| format!("{{{begin}")).collect();
    }

    /// How many calls nobody has answered since this was asked last.
    pub(crate) fn calls_in_vain(&self) -> u32 {
        std::mem::take(&mut *self.in_vain.lock().unwrap())
    }

    /// Loses this key.
    pub(crate) fn lose(&self, key: &str) {
        let lost = self.server.lock().unwrap().call(START_MS * 1000, &[b"DEL", key.as_bytes()]);
        assert_eq!(wire::value(lost).unwrap(), Value::Int(1), "{key}");
    }

    /// From now on it is this server process.
    pub(crate) fn is_run(&self, run_id: &str) {
        run_id.clone_into(&mut self.server.lock().unwrap().options_mut().run_id);
    }

    /// Loses this field of a key.
    pub(crate) fn lose_field(&self, key: &str, field: &str) {
        let words = [&b"HDEL"[..], key.as_bytes(), field.as_bytes()];
        let lost = self.server.lock().unwrap().call(START_MS * 1000, &words);
        assert_eq!(wire::value(lost).unwrap(), Value::Int(1), "{key} {field}");
    }

    fn is_away(&self, words: &[&[u8]]) -> bool {
        let names = |tag: &String| words[1..].iter().any(|word| contains(word, tag.as_bytes()));
        words[0] != b"SCRIPT" && self.away.lock().unwrap().iter().any(names)
    }
}

impl Link for Parted {
    fn call<'a>(&'a self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        async {
            let words = wire::words(command);
            let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
            if self.is_away(&words) {
                *self.in_vain.lock().unwrap() += 1;
                sleep(TIMEOUT).await;
                return Err(RedisError::from((ErrorKind::Io, "it does not answer")));
            }
            let mut server = self.server.lock().unwrap();
            let answer = wire::value(server.call(START_MS * 1000, &words));
            server.take_messages();
            answer
        }
        .boxed()
    }

    fn subscribe<'a>(
        &'a self,
        _channels: &'a [&'a str],
    ) -> BoxFuture<'a, Result<Messages, RedisError>> {
        async { Ok(stream::pending().boxed()) }.boxed()
    }

    fn has_shards(&self) -> bool {
        true
    }

    fn shard_of(&self, channel: &str) -> String {
        let room = channel.split(['{', '}']).nth(1).unwrap_or_default();
        room.split('-').next().unwrap_or_default().to_owned()
    }
}

fn contains(word: &[u8], part: &[u8]) -> bool {
    word.windows(part.len()).any(|window| window == part)
}
