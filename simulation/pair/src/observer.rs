//! What watches a run: the digest that tells two runs apart, the trace of the last moments, and the
//! invariants that hold after every script.

use std::{
    collections::VecDeque,
    fmt::{self, Write},
    hash::Hasher,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rustc_hash::FxHasher;
use vestibule_redis_model::{Keyspace, Reply};
use vestibule_store::script_name;

use crate::{broken::Broken, invariants::Invariants};

/// Lines of the trace that are kept.
const LINES: usize = 4_000;
/// Characters of an argument or an answer that a line shows.
const SHOWN: usize = 160;

/// Watches a run. Cloning is cheap.
#[derive(Clone)]
pub struct Observer(Arc<Mutex<Inner>>);

struct Inner {
    digest: FxHasher,
    commands: u64,
    trace: Option<VecDeque<String>>,
    invariants: Invariants,
    broken: Vec<Broken>,
}

// === impl Observer ===

impl Observer {
    /// Watches a run; `traced`: and keeps its last moments, which takes time.
    #[must_use]
    pub(crate) fn new(traced: bool) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            digest: FxHasher::default(),
            commands: 0,
            trace: traced.then(VecDeque::new),
            invariants: Invariants::default(),
            broken: Vec::new(),
        })))
    }

    /// A server carried a command out, and has this now, if it is the first one. Returns the script that it was, if
    /// any.
    pub(crate) fn executed(
        &self,
        (now_ms, clock_ms): (u64, u64),
        who: &str,
        words: &[Vec<u8>],
        reply: &Reply,
        keyspace: Option<&Keyspace>,
    ) -> Option<&'static str> {
        let mut inner = self.lock();
        inner.commands += 1;
        inner.digest.write_u64(now_ms);
        inner.digest.write(who.as_bytes());
        for word in words {
            inner.digest.write(word);
        }
        let script = script_of(words);
        if let Some(lines) = &mut inner.trace {
            push(lines, || command_line(now_ms, who, script, words, reply));
        }
        if let (Some(script), Some(keyspace)) = (script, keyspace) {
            let broken = {
                let refused = matches!(reply, Reply::Error(_));
                let call = (who, script);
                inner.invariants.after(call, words, refused, keyspace, (now_ms, clock_ms))
            };
            inner.broken.extend(broken);
        }
        script
    }

    /// Something happened that a reader of the trace wants to know; it also counts for the digest.
    pub(crate) fn note(&self, now_ms: u64, who: &str, what: impl fmt::Display) {
        let mut inner = self.lock();
        let line = format!("{} {who}: {what}", time(now_ms));
        inner.digest.write(line.as_bytes());
        if let Some(lines) = &mut inner.trace {
            push(lines, || line);
        }
    }

    /// An invariant does not hold.
    pub(crate) fn report(&self, broken: Broken) {
        let (at_ms, line) = (broken.at_ms, broken.to_string());
        self.lock().broken.push(broken);
        self.note(at_ms, "JUDGE", line);
    }

    /// The data went back, or over to another server: nothing follows from what was before.
    pub(crate) fn forget(&self) {
        self.lock().invariants = Invariants::default();
    }

    /// The invariants that did not hold, in order of time.
    #[must_use]
    pub fn broken(&self) -> Vec<Broken> {
        self.lock().broken.clone()
    }

    /// The same for two runs in which the same happened.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.lock().digest.finish()
    }

    /// How many commands the servers carried out.
    #[must_use]
    pub fn commands(&self) -> u64 {
        self.lock().commands
    }

    /// The last moments, if they were kept.
    #[must_use]
    pub fn trace(&self) -> Vec<String> {
        self.lock().trace.iter().flatten().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}

fn push(lines: &mut VecDeque<String>, line: impl FnOnce() -> String) {
    if lines.len() == LINES {
        lines.pop_front();
    }
    lines.push_back(line());
}

/// The script that a command calls.
fn script_of(words: &[Vec<u8>]) -> Option<&'static str> {
    let (command, sha) = (words.first()?, words.get(1)?);
    if !command.eq_ignore_ascii_case(b"EVALSHA") {
        return None;
    }
    script_name(std::str::from_utf8(sha).ok()?)
}

fn command_line(
    now_ms: u64,
    who: &str,
    script: Option<&str>,
    words: &[Vec<u8>],
    reply: &Reply,
) -> String {
    let mut line = format!("{} {who} > ", time(now_ms));
    // The first key tells the room; the other keys and the time follow from the script.
    let shown = match script {
        Some(script) => {
            line.push_str(script);
            let keys = words.get(2).and_then(|n| std::str::from_utf8(n).ok()?.parse().ok());
            let keys: usize = keys.unwrap_or(0);
            [words.get(3..=3), words.get(3 + keys + 1..)].into_iter().flatten().flatten()
        }
        None => [Some(words), None].into_iter().flatten().flatten(),
    };
    for word in shown {
        let _ = write!(line, " {}", cut(&String::from_utf8_lossy(word)));
    }
    let _ = write!(line, " < {}", cut(&rendered(reply)));
    line
}

fn rendered(reply: &Reply) -> String {
    match reply {
        Reply::Nil => "nil".to_owned(),
        Reply::Ok => "OK".to_owned(),
        Reply::Status(text) | Reply::Error(text) => text.clone(),
        Reply::Int(number) => number.to_string(),
        Reply::Bulk(text) => String::from_utf8_lossy(text).into_owned(),
        Reply::Array(items) => {
            let items: Vec<_> = items.iter().map(rendered).collect();
            format!("[{}]", items.join(" "))
        }
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// A moment, as traces show it: minutes, seconds, ms.
pub(crate) fn time(ms: u64) -> String {
    format!("{:02}:{:02}.{:03}", ms / 60_000, ms / 1000 % 60, ms % 1000)
}
