//! A Redis for this run: nothing is stored on disk, and it ends with the run. Its statistics count
//! script calls and memory.

use std::{net::SocketAddr, path::Path, process::Command};

use anyhow::{Context, Result};
use redis::aio::MultiplexedConnection;

use super::{eventually, process::Process, programs};

/// Commands that run a script.
const SCRIPTS: [&str; 5] = ["evalsha", "eval", "evalsha_ro", "eval_ro", "fcall"];

/// A Redis or Valkey.
#[derive(Debug)]
pub(crate) struct Redis {
    process: Process,
    address: SocketAddr,
    connection: Option<MultiplexedConnection>,
}

// === impl Redis ===

impl Redis {
    /// Starts a server and waits until it answers.
    pub(super) async fn start(directory: &Path) -> Result<Self> {
        let address = programs::free_address()?;
        let mut command = Command::new(programs::redis_server()?);
        command.args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir"]);
        command.arg(directory).arg("--port").arg(address.port().to_string());
        let process = Process::start(&mut command, directory.join("redis.log"))?;
        let mut redis = Self { process, address, connection: None };
        let url = redis.url();
        let connect = async || connect(&url).await;
        redis.connection = Some(eventually("Redis", &mut redis.process, connect).await?);
        Ok(redis)
    }

    /// Its address, in the form of `VESTIBULE_REDIS_URL`.
    pub(super) fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// Its process.
    pub(crate) fn process(&self) -> &Process {
        &self.process
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
        let mut keys = Vec::new();
        let mut cursor = 0_u64;
        loop {
            let mut scan = redis::cmd("SCAN");
            scan.arg(cursor).arg("MATCH").arg(pattern).arg("COUNT").arg(1_000);
            let (next, found): (u64, Vec<String>) = scan.query_async(&mut self.open()?).await?;
            keys.extend(found);
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
        keys.sort_unstable();
        keys.dedup();
        let mut bytes = 0;
        for key in &keys {
            bytes += self.memory_usage(key).await?;
        }
        Ok((bytes, keys.len()))
    }

    async fn memory_usage(&self, key: &str) -> Result<u64> {
        let mut usage = redis::cmd("MEMORY");
        // 0 samples means all of them.
        usage.arg("USAGE").arg(key).arg("SAMPLES").arg(0);
        let bytes: Option<u64> = usage.query_async(&mut self.open()?).await?;
        Ok(bytes.unwrap_or(0))
    }

    async fn info(&self, section: &str) -> Result<String> {
        Ok(redis::cmd("INFO").arg(section).query_async(&mut self.open()?).await?)
    }

    fn open(&self) -> Result<MultiplexedConnection> {
        self.connection.clone().context("Redis is not connected")
    }
}

async fn connect(url: &str) -> Result<MultiplexedConnection> {
    Ok(redis::Client::open(url)?.get_multiplexed_async_connection().await?)
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
