//! A Redis server of a run: killed, stopped in order, started from what it or an earlier moment left on
//! disk, made a replica or a primary, and under a clock that can be set.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result};
use redis::{AsyncConnectionConfig, Cmd, FromRedisValue};
use vestibule_tests::{Process, eventually};

use super::ground::Host;

const START: Duration = Duration::from_secs(20);
const ANSWER: Duration = Duration::from_secs(5);
const DUMP: &str = "dump.rdb";
/// What sets a process's clock, among Debian's libraries.
const FAKETIME: &str = "faketime/libfaketime.so.1";
/// Before the allocator that Redis brings along, which asks for the time before libfaketime is ready.
const LIBC: &str = "libc.so.6";

/// A server.
#[derive(Debug)]
pub(crate) struct Server {
    host: Host,
    address: SocketAddr,
    folder: PathBuf,
    /// By how much its clock is off; `None`: it goes by the machine's.
    clock: Option<PathBuf>,
    /// More options, as on its command line.
    options: Vec<String>,
    process: Option<Process>,
    starts: u32,
}

// === impl Server ===

impl Server {
    /// A server that is not started yet.
    pub(crate) fn new(mut host: Host, folder: PathBuf, has_clock: bool) -> Result<Self> {
        fs::create_dir_all(&folder)?;
        let clock = folder.join("clock");
        fs::write(&clock, "+0")?;
        let clock = has_clock.then_some(clock);
        let address = host.next_listener();
        Ok(Self { host, address, folder, clock, options: Vec::new(), process: None, starts: 0 })
    }

    /// The same as a node of a Cluster, whose nodes take each other for dead after so long.
    pub(crate) fn in_cluster(mut self, down_after_ms: u32) -> Self {
        let timeout = down_after_ms.to_string();
        let options = ["--cluster-enabled", "yes", "--cluster-node-timeout", &timeout];
        self.options.extend(options.map(str::to_owned));
        self
    }

    /// Where it is.
    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    /// Whether clocks can be set on this machine.
    pub(crate) fn can_set_clocks() -> bool {
        [FAKETIME, LIBC].into_iter().all(|file| library(file).exists())
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its process, if it runs.
    pub(crate) fn process(&self) -> Option<&Process> {
        self.process.as_ref()
    }

    /// Starts it, with what is on its disk, and waits until it answers.
    pub(crate) async fn start(&mut self, replica_of: Option<SocketAddr>) -> Result<()> {
        let mut command = self.host.command("redis-server");
        let (address, port) = (self.address.ip().to_string(), self.address.port().to_string());
        command.args(["--bind", &address, "--port", &port, "--protected-mode", "no"]);
        command.args(["--save", "", "--appendonly", "no", "--repl-diskless-sync-delay", "0"]);
        command.args(["--busy-reply-threshold", "100", "--dbfilename", DUMP]);
        command.arg("--dir").arg(&self.folder).args(&self.options);
        if let Some(primary) = replica_of {
            command.args(["--replicaof", &format!("{} {}", primary.ip(), primary.port())]);
        }
        if let Some(clock) = &self.clock {
            let [faketime, libc] = [FAKETIME, LIBC].map(library);
            let both = format!("{}:{}", faketime.display(), libc.display());
            command.env("LD_PRELOAD", both);
            command.env("FAKETIME_TIMESTAMP_FILE", clock).env("FAKETIME_NO_CACHE", "1");
            command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
        self.run(command).await
    }

    /// Starts it as a Sentinel.
    pub(crate) async fn start_sentinel(&mut self, watch: &str) -> Result<()> {
        let (host, port) = (self.address.ip(), self.address.port());
        let folder = self.folder.display();
        let options = format!("bind {host}\nport {port}\nprotected-mode no\ndir {folder}\n{watch}");
        let file = self.folder.join("sentinel.conf");
        fs::write(&file, options)?;
        let mut command = self.host.command("redis-server");
        command.arg(file).arg("--sentinel");
        self.run(command).await
    }

    async fn run(&mut self, mut command: Command) -> Result<()> {
        self.starts += 1;
        let log = self.folder.join(format!("log-{}", self.starts));
        self.process = Some(Process::start(&mut command, &log)?);
        eventually(START, "an answer of the Redis", || async {
            self.ask::<String>(&redis::cmd("PING")).await
        })
        .await?;
        Ok(())
    }

    /// Kills it. What was not on its disk is lost.
    pub(crate) fn kill(&mut self) -> Result<()> {
        self.process.take().map_or(Ok(()), |mut process| process.kill())
    }

    /// Stops it in order: it loses nothing.
    pub(crate) async fn stop_in_order(&mut self) -> Result<()> {
        // It does not answer, but closes the connection.
        let _ = self.tell(redis::cmd("SHUTDOWN").arg("SAVE")).await;
        let Some(mut process) = self.process.take() else { return Ok(()) };
        process.ended(START).await.context("Redis does not stop")?;
        Ok(())
    }

    /// Keeps its state of now under `name`.
    pub(crate) async fn remember(&self, name: &str) -> Result<()> {
        // Not while it writes everything down for a replica.
        eventually(START, "a save", || async { self.tell(&redis::cmd("SAVE")).await }).await?;
        fs::copy(self.folder.join(DUMP), self.folder.join(name))?;
        Ok(())
    }

    /// What it starts from next: the state that was kept under `name`; `None`: nothing.
    pub(crate) fn start_from(&self, name: Option<&str>) -> Result<()> {
        let dump = self.folder.join(DUMP);
        match name {
            Some(name) => fs::copy(self.folder.join(name), dump).map(|_| ())?,
            None if dump.exists() => fs::remove_file(dump)?,
            None => {}
        }
        Ok(())
    }

    /// Sets its clock: so many seconds from the machine's.
    pub(crate) fn set_clock(&self, seconds: i64) -> Result<()> {
        let clock = self.clock.as_ref().context("this server's clock cannot be set")?;
        // In one step, as it may be read at any time.
        let new = clock.with_extension("new");
        fs::write(&new, format!("{seconds:+}"))?;
        fs::rename(new, clock)?;
        Ok(())
    }

    /// Sends a command, and gives the answer.
    pub(crate) async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(ANSWER))
            .set_response_timeout(Some(ANSWER));
        let client = redis::Client::open(format!("redis://{}", self.address))?;
        let mut connection = client.get_multiplexed_async_connection_with_config(&config).await?;
        Ok(command.query_async(&mut connection).await?)
    }

    /// Sends a command.
    pub(crate) async fn tell(&self, command: &Cmd) -> Result<()> {
        self.ask::<redis::Value>(command).await.map(|_| ())
    }
}

/// Where Debian keeps a library of this kind of processor.
fn library(file: &str) -> PathBuf {
    Path::new("/usr/lib").join(format!("{}-linux-gnu", std::env::consts::ARCH)).join(file)
}
