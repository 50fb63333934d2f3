//! The model and a real server side by side.

use vestibule_redis_model::{Dialect, Engine, Options, Reply, Server};
use vestibule_tests::{Flavor, Redis};

use crate::link::{Command, Link};

/// The two, and what keeps the real one alive.
pub(crate) struct Comparison {
    pub(crate) model: Server,
    pub(crate) link: Link,
    now: u64,
    _redis: Redis,
}

// === impl Comparison ===

impl Comparison {
    pub(crate) async fn with(flavor: Flavor) -> Self {
        let redis = Redis::start(flavor).await.unwrap();
        let dialect = match flavor {
            Flavor::Redis7 | Flavor::Installed => Dialect::Redis7,
            Flavor::Valkey9 => Dialect::Valkey9,
        };
        let model = Server::new(
            Engine::new(),
            Options { dialect, strict_keys: false, ..Options::default() },
        );
        let now = redis.now_seconds().await.unwrap() * 1_000_000;
        Self { model, link: Link::to(&redis.url()), now, _redis: redis }
    }

    /// Unix seconds, of the model and nearly of the real one.
    pub(crate) fn now_seconds(&self) -> i64 {
        (self.now / 1_000_000).cast_signed()
    }

    /// Runs a program on both, from empty to its end. `name` is for messages.
    pub(crate) fn run(&mut self, name: &str, program: &[Command]) {
        self.link.call(&["FLUSHALL"]);
        self.model.wipe();
        let real = self.link.call_all(program);
        for (step, (command, real)) in program.iter().zip(real).enumerate() {
            let found = self.on_model(command);
            let found = self.comparable(command, found);
            let real = self.comparable(command, real);
            assert!(
                alike(command, &found, &real),
                "{name}, step {step}: {}\n model: {}\n  real: {}\nbefore:\n{}",
                shown(command),
                show(&found),
                show(&real),
                program[step.saturating_sub(20)..step]
                    .iter()
                    .map(|c| shown(c) + "\n")
                    .collect::<String>(),
            );
        }
        self.compare_what_is_left(name);
    }

    fn comparable(&self, command: &Command, reply: Reply) -> Reply {
        let reply = comparable(command, reply);
        let is_script = name_of(command).starts_with("EVAL");
        if is_script && self.model.options().dialect == Dialect::Valkey9 {
            return without_order(reply);
        }
        reply
    }

    fn on_model(&mut self, command: &Command) -> Reply {
        let words: Vec<&[u8]> = command.iter().map(Vec::as_slice).collect();
        self.model.call(self.now, &words)
    }

    fn compare_what_is_left(&mut self, name: &str) {
        let Reply::Array(keys) = self.link.call(&["KEYS", "*"]) else { panic!("no keys") };
        let left = self.model.keyspace().len();
        assert_eq!(left, keys.len(), "{name}: not all keys are left of {}", show_all(&keys));
        let look = |key: &Reply| {
            let Reply::Bulk(key) = key else { panic!("a key") };
            let kind = self.model.call(self.now, &[b"TYPE", key]);
            let read: &[&[u8]] = match &kind {
                Reply::Status(kind) if kind == "hash" => &[b"HGETALL", key],
                Reply::Status(kind) if kind == "set" => &[b"SMEMBERS", key],
                Reply::Status(kind) if kind == "zset" => {
                    &[b"ZRANGE", key, b"0", b"-1", b"WITHSCORES"]
                }
                _ => &[b"GET", key],
            };
            let owned = |words: &[&[u8]]| words.iter().map(|word| word.to_vec()).collect();
            [owned(&[b"TYPE", key]), owned(read), owned(&[b"TTL", key])]
        };
        let looks: Vec<Command> = keys.iter().flat_map(look).collect();
        for (look, real) in looks.iter().zip(self.link.call_all(&looks)) {
            let found = self.on_model(look);
            let (found, real) = (self.comparable(look, found), self.comparable(look, real));
            assert!(
                alike(look, &found, &real),
                "{name}, at the end: {}\n model: {}\n  real: {}",
                shown(look),
                show(&found),
                show(&real),
            );
        }
    }
}

fn name_of(command: &Command) -> String {
    String::from_utf8_lossy(&command[0]).to_ascii_uppercase()
}

/// Answers whose order means nothing are put in order; errors of scripts are left without what names
/// the script and its line.
fn comparable(command: &Command, reply: Reply) -> Reply {
    match (name_of(command).as_str(), reply) {
        ("HGETALL", Reply::Array(items)) => {
            let mut pairs: Vec<_> = items.chunks(2).map(<[_]>::to_vec).collect();
            pairs.sort_by_key(|pair| show_all(pair));
            Reply::Array(pairs.concat())
        }
        ("HKEYS" | "HVALS" | "SMEMBERS" | "KEYS", Reply::Array(mut items)) => {
            items.sort_by_key(show);
            Reply::Array(items)
        }
        ("SCAN", Reply::Array(mut items)) => {
            if let Some(Reply::Array(keys)) = items.get_mut(1) {
                keys.sort_by_key(show);
            }
            Reply::Array(items)
        }
        (name, Reply::Error(text)) if name.starts_with("EVAL") => Reply::Error(essence(&text)),
        (_, reply) => reply,
    }
}

/// Tables of Valkey's Lua have another order than those of Lua: of the objects in a script's JSON,
/// only the letters are compared.
fn without_order(reply: Reply) -> Reply {
    match reply {
        // Which of two wrong things is met first.
        Reply::Bulk(text) if text.starts_with(b"Cannot serialise") => {
            Reply::bulk("Cannot serialise")
        }
        Reply::Error(text) if text.contains("Cannot serialise") => {
            Reply::Error("Cannot serialise".to_owned())
        }
        Reply::Bulk(text) if text.windows(2).any(|two| two == b"{\"") => {
            let mut letters = text.to_vec();
            letters.sort_unstable();
            Reply::bulk(letters)
        }
        Reply::Array(items) => Reply::Array(items.into_iter().map(without_order).collect()),
        other => other,
    }
}

/// Without `user_script:1: ` and ` script: <sha>, on @user_script:1.`.
fn essence(error: &str) -> String {
    let error = error.split(" script: ").next().unwrap_or_default();
    let Some((before, after)) = error.split_once("user_script:") else { return error.to_owned() };
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    format!("{before}{}", rest.strip_prefix(": ").unwrap_or(rest))
}

/// The clock of the real one goes on.
fn alike(command: &Command, found: &Reply, real: &Reply) -> bool {
    let tolerance = match name_of(command).as_str() {
        "TTL" | "EXPIRETIME" => 45,
        "PTTL" | "PEXPIRETIME" => 45_000,
        _ => 0,
    };
    match (found, real) {
        (Reply::Int(found), Reply::Int(real)) if *found >= 0 && *real >= 0 => {
            found.abs_diff(*real) <= tolerance
        }
        _ => found == real,
    }
}

fn shown(command: &Command) -> String {
    let words = command.iter().map(|word| format!("{:?}", String::from_utf8_lossy(word)));
    words.collect::<Vec<_>>().join(" ")
}

fn show(reply: &Reply) -> String {
    match reply {
        Reply::Bulk(text) => format!("{:?}", String::from_utf8_lossy(text)),
        Reply::Array(items) => format!("[{}]", show_all(items)),
        other => format!("{other:?}"),
    }
}

fn show_all(replies: &[Reply]) -> String {
    replies.iter().map(show).collect::<Vec<_>>().join(", ")
}
