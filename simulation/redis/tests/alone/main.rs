//! What the model alone can do: time that stands still or jumps, earlier states, refusals, scripts
//! that are held to their keys.

mod refusals;
mod scripts;
mod states;
mod time;

use vestibule_redis_model::{Engine, Options, Reply, Server};

/// Microseconds since 1970.
const NOW: u64 = 1_800_000_000_000_000;

fn server() -> Server {
    Server::new(Engine::new(), Options::default())
}

/// Calls a command whose words have no spaces.
fn call(server: &mut Server, command: &str) -> Reply {
    call_at(server, NOW, command)
}

fn call_at(server: &mut Server, now: u64, command: &str) -> Reply {
    let words: Vec<&[u8]> = command.split(' ').map(str::as_bytes).collect();
    server.call(now, &words)
}

/// Runs a script on these keys.
fn eval(server: &mut Server, script: &str, keys: &[&str]) -> Reply {
    let count = keys.len().to_string();
    let mut words = vec![&b"EVAL"[..], script.as_bytes(), count.as_bytes()];
    words.extend(keys.iter().map(|key| key.as_bytes()));
    server.call(NOW, &words)
}

/// The text of an error.
fn error(reply: &Reply) -> &str {
    match reply {
        Reply::Error(text) => text,
        other => panic!("no error: {other:?}"),
    }
}
