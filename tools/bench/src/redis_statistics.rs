//! What a Redis says of itself: its version, script calls, and the memory of keys.

use anyhow::Result;
use redis::aio::MultiplexedConnection;

/// Commands that run a script.
const SCRIPTS: [&str; 5] = ["evalsha", "eval", "evalsha_ro", "eval_ro", "fcall"];

/// A connection over which it is asked.
#[derive(Debug)]
pub(crate) struct RedisStatistics(MultiplexedConnection);

// === impl RedisStatistics ===

impl RedisStatistics {
    /// Asks over `connection`.
    pub(crate) fn new(connection: MultiplexedConnection) -> Self {
        Self(connection)
    }

    /// The number of script calls answered so far, from all clients. The services use Redis only by
    /// scripts; commands inside a script are not counted.
    pub(crate) async fn script_calls(&self) -> Result<u64> {
        Ok(script_calls(&self.info("commandstats").await?))
    }

    /// Its version.
    pub(crate) async fn version(&self) -> Result<String> {
        let about = self.info("server").await?;
        let valkey = field(&about, "valkey_version:").map(|version| format!("Valkey {version}"));
        let version = || format!("Redis {}", field(&about, "redis_version:").unwrap_or("?"));
        Ok(valkey.unwrap_or_else(version))
    }

    /// The bytes that all keys matching `pattern` take, and the number of these keys.
    pub(crate) async fn memory(&self, pattern: &str) -> Result<(u64, usize)> {
        let mut connection = self.0.clone();
        // A few keys among a few thousand, on a Redis that nobody else waits for.
        let keys: Vec<String> =
            redis::cmd("KEYS").arg(pattern).query_async(&mut connection).await?;
        let mut bytes = 0;
        for key in &keys {
            let mut usage = redis::cmd("MEMORY");
            // 0 samples means all of them.
            usage.arg("USAGE").arg(key).arg("SAMPLES").arg(0);
            let of_key: Option<u64> = usage.query_async(&mut connection).await?;
            bytes += of_key.unwrap_or(0);
        }
        Ok((bytes, keys.len()))
    }

    async fn info(&self, section: &str) -> Result<String> {
        Ok(redis::cmd("INFO").arg(section).query_async(&mut self.0.clone()).await?)
    }
}

fn field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// The sum of the calls in lines such as `cmdstat_evalsha:calls=7,usec=…`.
fn script_calls(commandstats: &str) -> u64 {
    let calls = |name: &&str| {
        let stats = field(commandstats, &format!("cmdstat_{name}:calls="))?;
        stats.split(',').next()?.parse::<u64>().ok()
    };
    SCRIPTS.iter().filter_map(calls).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_counted_whichever_way_they_were_called() {
        let stats = "# Commandstats\r\ncmdstat_evalsha:calls=7,usec=1\r\n\
            cmdstat_evalsha_ro:calls=20,usec=1\r\ncmdstat_get:calls=100,usec=5\r\n\
            cmdstat_eval:calls=300,usec=2,usec_per_call=0.1\r\n";
        assert_eq!(script_calls(stats), 327);
        assert_eq!(script_calls(""), 0);
    }

    #[test]
    fn a_field_ends_with_its_line() {
        assert_eq!(field("a:1\r\nredis_version:7.0.15\r\nb:2", "redis_version:"), Some("7.0.15"));
        assert_eq!(field("a:1", "b:"), None);
    }
}
