//! How long each call of a script took, as Redis itself has measured it.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use redis::{Value, aio::MultiplexedConnection};

/// So many calls Redis remembers; they are read before there are more.
const REMEMBERED: usize = 10_000;

/// The times of all calls, in µs, by the names of the scripts.
#[derive(Debug)]
pub(super) struct ScriptTimes {
    connection: MultiplexedConnection,
    micros: BTreeMap<&'static str, Vec<u64>>,
}

/// What is told of one script.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Summary {
    pub(super) median: f64,
    pub(super) slowest: f64,
}

// === impl ScriptTimes ===

impl ScriptTimes {
    /// From now on every call is noted.
    pub(super) async fn note(mut connection: MultiplexedConnection) -> Result<Self> {
        for (setting, value) in [("slowlog-log-slower-than", 0), ("slowlog-max-len", REMEMBERED)] {
            let mut set = redis::cmd("CONFIG");
            set.arg("SET").arg(setting).arg(value);
            set.query_async::<()>(&mut connection).await?;
        }
        Ok(Self { connection, micros: BTreeMap::new() })
    }

    /// Takes in the calls since the last time.
    pub(super) async fn read(&mut self) -> Result<()> {
        let mut get = redis::cmd("SLOWLOG");
        get.arg("GET").arg(REMEMBERED);
        let entries: Vec<Value> = get.query_async(&mut self.connection).await?;
        redis::cmd("SLOWLOG").arg("RESET").query_async::<()>(&mut self.connection).await?;
        for entry in entries {
            let (_, _, micros, words): (u64, u64, u64, Vec<Vec<u8>>) = first_four(entry)?;
            let sha = words.get(1).map(|sha| String::from_utf8_lossy(sha).into_owned());
            if let Some(name) = sha.as_deref().and_then(vestibule_store::script_name) {
                self.micros.entry(name).or_default().push(micros);
            }
        }
        Ok(())
    }

    /// Each script that was called.
    pub(super) fn by_script(mut self) -> impl Iterator<Item = (&'static str, Summary)> {
        for micros in self.micros.values_mut() {
            micros.sort_unstable();
        }
        self.micros.into_iter().map(|(name, micros)| (name, summary(&micros)))
    }
}

/// Number, time, µs and words of an entry of the slow log; what follows differs by version.
fn first_four(entry: Value) -> Result<(u64, u64, u64, Vec<Vec<u8>>)> {
    let Value::Array(mut fields) = entry else { anyhow::bail!("not an entry: {entry:?}") };
    fields.truncate(4);
    redis::from_redis_value(Value::Array(fields)).context("an entry of the slow log")
}

#[expect(clippy::cast_precision_loss, reason = "microseconds")]
fn summary(sorted: &[u64]) -> Summary {
    let at = |nth: usize| sorted.get(nth).copied().unwrap_or(0) as f64;
    Summary { median: at(sorted.len() / 2), slowest: at(sorted.len().saturating_sub(1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_last_are_told() {
        assert_eq!(summary(&[1, 2, 90]), Summary { median: 2.0, slowest: 90.0 });
        assert_eq!(summary(&[]), Summary { median: 0.0, slowest: 0.0 });
    }
}
