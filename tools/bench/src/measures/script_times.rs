//! How long each call of a script took, as Redis itself has measured it.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result};
use redis::{Value, aio::MultiplexedConnection};

use crate::report::{Figures, Target, Unit};

/// While a script runs, nobody else is answered: 5 ms.
const SLOWEST: Target = Target::Below(5_000.0);
/// So many calls Redis remembers; they are read before there are more.
const REMEMBERED: usize = 20_000;
/// Telling of so many takes long on a busy machine.
const ANSWER: Duration = Duration::from_mins(1);
/// Touches nothing and takes a millisecond or so: what its slowest call takes beyond its median, the machine has
/// taken from Redis, and takes from every script.
const IDLE_LOOP: &str = "local sum = 0 for i = 1, 100000 do sum = sum + i % 7 end return sum";
const IDLE_LOOP_NAME: &str = "a loop that touches nothing";
const IDLE_LOOP_CALLS: usize = 2_000;

/// The times of all calls, in µs, by the names of the scripts.
#[derive(Debug)]
pub(super) struct ScriptTimes {
    connection: MultiplexedConnection,
    micros: BTreeMap<&'static str, Vec<u64>>,
}

/// What is told of one script.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Summary {
    pub(super) calls: u32,
    pub(super) median: f64,
    pub(super) slowest: f64,
}

// === impl ScriptTimes ===

impl ScriptTimes {
    /// From now on every call is noted that takes so long, µs. Calls of commands inside scripts are, too: of many rooms
    /// they are too many.
    pub(super) async fn note(mut connection: MultiplexedConnection, micros: usize) -> Result<Self> {
        let settings = [("slowlog-log-slower-than", micros), ("slowlog-max-len", REMEMBERED)];
        connection.set_response_timeout(ANSWER);
        for (setting, value) in settings {
            let mut set = redis::cmd("CONFIG");
            set.arg("SET").arg(setting).arg(value);
            set.query_async::<()>(&mut connection).await?;
        }
        Ok(Self { connection, micros: BTreeMap::new() })
    }

    /// Takes in the calls since the last time.
    pub(super) async fn read(&mut self) -> Result<()> {
        for entry in self.take_entries().await? {
            let (micros, sha) = micros_and_sha(entry)?;
            if let Some(name) = sha.as_deref().and_then(vestibule_store::script_name) {
                self.micros.entry(name).or_default().push(micros);
            }
        }
        Ok(())
    }

    async fn take_entries(&mut self) -> Result<Vec<Value>> {
        let mut get = redis::cmd("SLOWLOG");
        get.arg("GET").arg(REMEMBERED);
        let entries = get.query_async(&mut self.connection).await?;
        self.skip().await?;
        Ok(entries)
    }

    /// Forgets the calls since the last time.
    pub(super) async fn skip(&mut self) -> Result<()> {
        Ok(redis::cmd("SLOWLOG").arg("RESET").query_async(&mut self.connection).await?)
    }

    /// How long the same work takes each time on this machine: one entry more among the scripts.
    pub(super) async fn read_idle_loop(&mut self) -> Result<()> {
        let script = redis::Script::new(IDLE_LOOP);
        for _ in 0..IDLE_LOOP_CALLS {
            script.invoke_async::<_, i64>(&mut self.connection).await?;
        }
        for entry in self.take_entries().await? {
            let (micros, sha) = micros_and_sha(entry)?;
            if sha.as_deref() == Some(script.get_hash()) {
                self.micros.entry(IDLE_LOOP_NAME).or_default().push(micros);
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

    /// `figures` with those of each script that was called.
    pub(super) fn add_to(self, mut figures: Figures) -> Figures {
        for (script, times) in self.by_script() {
            figures = figures
                .add(format!("{script}, median"), Unit::Micros, [times.median])
                .add(format!("{script}, slowest"), Unit::Micros, [times.slowest])
                .with_target(SLOWEST);
        }
        figures
    }
}

/// The time of an entry of the slow log, µs, and the hash of the script that was called, if one was.
fn micros_and_sha(entry: Value) -> Result<(u64, Option<String>)> {
    let Value::Array(mut fields) = entry else { anyhow::bail!("not an entry: {entry:?}") };
    // Number, time, µs and words; what follows differs by version.
    fields.truncate(4);
    let (_, _, micros, words): (u64, u64, u64, Vec<Vec<u8>>) =
        redis::from_redis_value(Value::Array(fields)).context("an entry of the slow log")?;
    Ok((micros, words.get(1).map(|sha| String::from_utf8_lossy(sha).into_owned())))
}

#[expect(clippy::cast_precision_loss, reason = "microseconds")]
fn summary(sorted: &[u64]) -> Summary {
    let at = |nth: usize| sorted.get(nth).copied().unwrap_or(0) as f64;
    Summary {
        calls: u32::try_from(sorted.len()).unwrap_or(u32::MAX),
        median: at(sorted.len() / 2),
        slowest: at(sorted.len().saturating_sub(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_last_are_told() {
        assert_eq!(summary(&[1, 2, 90]), Summary { calls: 3, median: 2.0, slowest: 90.0 });
        assert_eq!(summary(&[]), Summary { calls: 0, median: 0.0, slowest: 0.0 });
    }
}
