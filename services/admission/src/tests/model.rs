//! A Redis inside the process that loses answers, refuses, or goes away in part, when a test says so. Nobody subscribes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream};
use tokio::time::{Duration, sleep};
use vestibule_redis_model::{
    Engine, Options, Server,
    wire::{
        self,
        redis::{self, Cmd, ErrorKind, RedisError, RedisFuture, Value},
    },
};
use vestibule_store::{Link, Messages};

/// After so long a call has failed that is not answered.
pub(super) const TIMEOUT: Duration = Duration::from_secs(1);
/// By its own clock, µs since 1970: keys expire by it, and no test is long.
const NOW: u64 = super::START_MS * 1000;

/// The link to such a server.
#[derive(Debug)]
pub(super) struct Model(Mutex<State>);

#[derive(Debug)]
struct State {
    server: Server,
    /// So many of the next scripts run, and nobody is told.
    loses: usize,
    /// Whether scripts after those are refused, as if the room had gone back.
    refuses: bool,
    /// Scripts that are given this word are refused so, if any.
    refused: Option<&'static str>,
    /// After so long a script is answered.
    slow: Duration,
    /// The tags of keys that do not answer.
    away: Vec<String>,
}

// === impl Model ===

impl Model {
    /// An empty server.
    pub(super) fn new() -> Self {
        let server = Server::new(Engine::new(), Options::default());
        let (refused, slow, away) = (None, Duration::ZERO, Vec::new());
        Self(Mutex::new(State { server, loses: 0, refuses: false, refused, slow, away }))
    }

    /// The answer to the next script is lost, and those after it are refused.
    pub(super) fn lose_one_and_refuse(&self) {
        let mut state = self.lock();
        (state.loses, state.refuses) = (1, true);
    }

    /// The answer to the next script is lost.
    pub(super) fn lose_one(&self) {
        self.lock().loses = 1;
    }

    /// Scripts that are given this word, or one with it, are refused, as if the room had gone back.
    pub(super) fn refuse(&self, word: &'static str) {
        self.lock().refused = Some(word);
    }

    /// Scripts are answered after so long.
    pub(super) fn slow_down(&self, slow: Duration) {
        self.lock().slow = slow;
    }

    /// The line of this room is gone.
    pub(super) fn lose_line(&self, room: &str) {
        let key = format!("vestibule:room:{{{room}}}:line");
        let answer = wire::value(self.lock().server.call(NOW, &[b"DEL", key.as_bytes()]));
        assert!(matches!(answer, Ok(Value::Int(1))), "{answer:?}");
    }

    /// Nothing is left.
    pub(super) fn lose_all(&self) {
        let answer = wire::value(self.lock().server.call(NOW, &[b"FLUSHALL"]));
        assert!(matches!(answer, Ok(Value::Okay)), "{answer:?}");
    }

    /// A stranger writes a text where something else of this room is to be.
    pub(super) fn write_foreign(&self, room: &str, name: &str) {
        let key = format!("vestibule:room:{{{room}}}:{name}");
        let answer = wire::value(self.lock().server.call(NOW, &[b"SET", key.as_bytes(), b"x"]));
        assert!(matches!(answer, Ok(Value::Okay)), "{answer:?}");
    }

    /// The server that has the keys of these rooms does not answer.
    pub(super) fn take_away(&self, rooms: &[&str]) {
        self.lock().away = rooms.iter().map(|room| format!("{{{room}}}")).collect();
    }

    /// All is as it was.
    pub(super) fn mend(&self) {
        let mut state = self.lock();
        (state.loses, state.refuses, state.refused) = (0, false, None);
        (state.slow, state.away) = (Duration::ZERO, Vec::new());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl State ===

impl State {
    /// `None`: there is no answer, ever.
    fn ask(&mut self, words: &[&[u8]]) -> Option<Result<Value, RedisError>> {
        let is_script = words[0] == b"EVALSHA";
        let names = |tag: &str| words[1..].iter().any(|word| contains(word, tag.as_bytes()));
        if words[0] != b"SCRIPT" && self.away.iter().any(|tag| names(tag)) {
            return None;
        }
        let is_refused = self.refuses || self.refused.is_some_and(names);
        if is_script && self.loses == 0 && is_refused {
            return Some(redis::parse_redis_value(b"-REWOUND says the test\r\n"));
        }
        let answer = wire::value(self.server.call(NOW, words));
        self.server.take_messages();
        let is_told = !matches!(answer, Ok(Value::ServerError(_)));
        if is_script && is_told && self.loses > 0 {
            self.loses -= 1;
            return None;
        }
        Some(answer)
    }
}

impl Link for Model {
    fn call<'a>(&'a self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        async {
            let words = wire::words(command);
            let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
            let (answer, slow) = {
                let mut state = self.lock();
                (state.ask(&words), state.slow)
            };
            if let Some(answer) = answer {
                if !slow.is_zero() {
                    sleep(slow).await;
                }
                return answer;
            }
            sleep(TIMEOUT).await;
            Err(RedisError::from((ErrorKind::Io, "it does not answer")))
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

    /// Rooms are on one server whose names are the same up to a hyphen.
    fn shard_of(&self, channel: &str) -> String {
        let room = channel.split(['{', '}']).nth(1).unwrap_or_default();
        room.split('-').next().unwrap_or_default().to_owned()
    }
}

fn contains(word: &[u8], part: &[u8]) -> bool {
    word.windows(part.len()).any(|window| window == part)
}
