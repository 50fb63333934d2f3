//! A Redis or Valkey of a test's own: empty at the start, nothing kept on disk, gone at the end.
//!
//! In a container where a Docker engine answers, otherwise the program on this machine. It always
//! sits on the same port, so that it can die and come back empty under the services' feet.

use std::{env, path::PathBuf, process::Command, time::Duration};

use anyhow::{Context, Result};
use redis::{AsyncConnectionConfig, aio::MultiplexedConnection};
use tempfile::TempDir;
use testcontainers::{
    ContainerAsync, GenericImage, ImageExt, core::IntoContainerPort, runners::AsyncRunner,
};

use crate::{docker, ports, process::Process, programs, wait::eventually};

const START: Duration = Duration::from_secs(20);
/// How long an answer to the test itself may take: the client's own half a second is too short for a
/// machine that is busy with other tests.
const ANSWER: Duration = Duration::from_secs(15);
const PORTS_TRIED: usize = 5;

/// Which server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavor {
    /// Redis 7, as Debian has it.
    Redis7,
    /// Valkey 9.
    Valkey9,
    /// Whichever of the two this machine has, as a program of its own: for measurements.
    Installed,
}

/// A server of its own.
#[derive(Debug)]
pub struct Redis {
    flavor: Flavor,
    port: u16,
    dir: TempDir,
    engine: Option<Engine>,
}

#[derive(Debug)]
enum Engine {
    Local(Process),
    Container(Box<ContainerAsync<GenericImage>>),
}

// === impl Flavor ===

impl Flavor {
    /// Says loudly that the operator of the tests chose to leave this flavor out.
    #[must_use]
    pub fn is_left_out(self) -> bool {
        let left_out = self == Self::Valkey9
            && env::var_os("VESTIBULE_TEST_SKIP_VALKEY").is_some_and(|value| value == "1");
        if left_out {
            // Not `eprintln`, which the test runner swallows.
            let warning = "WARNING: VESTIBULE_TEST_SKIP_VALKEY=1: NOT tested on Valkey\n";
            let _ = std::io::Write::write_all(&mut std::io::stderr(), warning.as_bytes());
        }
        left_out
    }

    pub(crate) fn program(self) -> Result<PathBuf> {
        match self {
            Self::Redis7 => programs::redis_server(),
            Self::Valkey9 => programs::valkey_server(),
            Self::Installed => programs::redis_server().or_else(|_| programs::valkey_server()),
        }
    }

    fn image(self) -> Option<GenericImage> {
        match self {
            Self::Redis7 => Some(GenericImage::new("redis", "7")),
            Self::Valkey9 => Some(GenericImage::new("valkey/valkey", "9")),
            Self::Installed => None,
        }
    }
}

// === impl Redis ===

impl Redis {
    /// Starts a server and waits until it answers.
    pub async fn start(flavor: Flavor) -> Result<Self> {
        let mut last = anyhow::anyhow!("not tried");
        for _ in 0..PORTS_TRIED {
            let dir = tempfile::tempdir()?;
            let mut redis = Self { flavor, port: ports::free(), dir, engine: None };
            match redis.restart_empty().await {
                Ok(()) => return Ok(redis),
                Err(error) => last = error,
            }
        }
        Err(last).with_context(|| format!("{flavor:?} does not start"))
    }

    /// Its address, as `VESTIBULE_REDIS_URL` has it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Its process id, unless it runs in a container.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        match &self.engine {
            Some(Engine::Local(process)) => Some(process.id()),
            Some(Engine::Container(_)) | None => None,
        }
    }

    /// A connection of the test's own.
    pub async fn connection(&self) -> Result<MultiplexedConnection> {
        connect(self.url()).await
    }

    /// Its time, unix seconds: what everything goes by.
    pub async fn now_seconds(&self) -> Result<u64> {
        let (seconds, _micros): (u64, u64) =
            redis::cmd("TIME").query_async(&mut self.connection().await?).await?;
        Ok(seconds)
    }

    /// Wipes it, while it runs on.
    pub async fn flush(&self) -> Result<()> {
        redis::cmd("FLUSHALL").exec_async(&mut self.connection().await?).await?;
        Ok(())
    }

    /// How many keys it holds.
    pub async fn keys(&self) -> Result<u64> {
        Ok(redis::cmd("DBSIZE").query_async(&mut self.connection().await?).await?)
    }

    /// Kills it: nobody can connect any more.
    pub async fn kill(&mut self) -> Result<()> {
        match self.engine.take() {
            Some(Engine::Local(mut process)) => process.kill()?,
            Some(Engine::Container(container)) => container.rm().await?,
            None => {}
        }
        Ok(())
    }

    /// Starts it on its port again, empty, and waits until it answers.
    pub async fn restart_empty(&mut self) -> Result<()> {
        self.kill().await?;
        self.engine = Some(match self.start_container().await {
            Some(container) => Engine::Container(Box::new(container)),
            None => Engine::Local(self.start_program()?),
        });
        self.answers().await
    }

    /// `None` without an engine, or one that has no such image and cannot get it.
    async fn start_container(&self) -> Option<ContainerAsync<GenericImage>> {
        let image = self.flavor.image().filter(|_| *docker::ANSWERS)?;
        let image = image.with_mapped_port(self.port, 6379.tcp());
        match image.start().await {
            Ok(container) => Some(container),
            Err(error) => {
                eprintln!("no container ({error}): using the program on this machine");
                None
            }
        }
    }

    fn start_program(&self) -> Result<Process> {
        let mut command = Command::new(self.flavor.program()?);
        command.args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
        command.arg("--port").arg(self.port.to_string()).arg("--dir").arg(self.dir.path());
        Process::start(&mut command, &self.dir.path().join("log"))
    }

    async fn answers(&mut self) -> Result<()> {
        eventually(START, "an answer of the Redis", || {
            let running = match &mut self.engine {
                Some(Engine::Local(process)) => process.check_running(),
                _ => Ok(()),
            };
            let url = self.url();
            async {
                // A server that has ended will not answer any more: that is the answer.
                if running.is_err() { Ok(running) } else { connect(url).await.map(|_| Ok(())) }
            }
        })
        .await?
    }
}

async fn connect(url: String) -> Result<MultiplexedConnection> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(ANSWER))
        .set_response_timeout(Some(ANSWER));
    Ok(redis::Client::open(url)?.get_multiplexed_async_connection_with_config(&config).await?)
}

#[cfg(test)]
mod tests {
    use anyhow::ensure;

    use super::*;

    async fn dies_and_comes_back_empty(flavor: Flavor) -> Result<()> {
        let mut redis = Redis::start(flavor).await?;
        let mut connection = redis.connection().await?;
        redis::cmd("SET").arg("key").arg(1).exec_async(&mut connection).await?;
        assert_eq!(redis.keys().await?, 1);
        redis.flush().await?;
        assert_eq!(redis.keys().await?, 0);
        redis::cmd("SET").arg("key").arg(1).exec_async(&mut connection).await?;
        let url = redis.url();
        ensure!(!url.ends_with(":6379"), "that port may be somebody's");
        redis.kill().await?;
        ensure!(redis.connection().await.is_err(), "it still answers");
        redis.restart_empty().await?;
        assert_eq!((redis.url(), redis.keys().await?), (url, 0));
        Ok(())
    }

    #[tokio::test]
    async fn redis_7_dies_and_comes_back_empty() -> Result<()> {
        dies_and_comes_back_empty(Flavor::Redis7).await
    }

    #[tokio::test]
    async fn valkey_9_dies_and_comes_back_empty() -> Result<()> {
        if Flavor::Valkey9.is_left_out() {
            return Ok(());
        }
        dies_and_comes_back_empty(Flavor::Valkey9).await
    }
}
