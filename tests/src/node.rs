//! One server program of a group of several: of Sentinels, of a Cluster. On this machine only, because
//! the servers of a group must reach each other at the addresses that they tell their clients.
//!
//! A single server, which may as well run in a container, is [`crate::Redis`].

use std::{fs, process::Command, time::Duration};

use anyhow::{Context, Result, bail, ensure};
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, IntoConnectionInfo, RedisConnectionInfo,
    aio::MultiplexedConnection,
};
use tempfile::TempDir;

use crate::{Flavor, ports, process::Process, wait::eventually};

const START: Duration = Duration::from_secs(20);
/// How long an answer to the test itself may take.
const ANSWER: Duration = Duration::from_secs(15);

/// A server on a port of its own, which it keeps when it is started again.
#[derive(Debug)]
pub struct Node {
    flavor: Flavor,
    port: u16,
    password: Option<String>,
    sentinel: bool,
    dir: TempDir,
    process: Option<Process>,
}

// === impl Node ===

impl Node {
    /// Starts a server with `options`, lines of a configuration file, and waits until it answers. With a
    /// password, the option `requirepass` is added.
    pub async fn start(flavor: Flavor, password: Option<&str>, options: &[String]) -> Result<Self> {
        Self::start_as(flavor, password, options, false).await
    }

    /// The same as a Sentinel.
    pub(crate) async fn start_sentinel(
        flavor: Flavor,
        password: Option<&str>,
        options: &[String],
    ) -> Result<Self> {
        Self::start_as(flavor, password, options, true).await
    }

    async fn start_as(
        flavor: Flavor,
        password: Option<&str>,
        options: &[String],
        sentinel: bool,
    ) -> Result<Self> {
        let (dir, port) = (tempfile::tempdir()?, ports::free());
        let mut lines = vec![
            format!("port {port}"),
            "bind 127.0.0.1".to_owned(),
            format!("dir {}", dir.path().display()),
        ];
        lines.extend(password.map(|password| format!("requirepass \"{password}\"")));
        lines.extend_from_slice(options);
        fs::write(dir.path().join("conf"), lines.join("\n") + "\n")?;
        let password = password.map(str::to_owned);
        let mut node = Self { flavor, port, password, sentinel, dir, process: None };
        node.restart().await?;
        Ok(node)
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its address, `host:port`.
    #[must_use]
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Kills it, and starts it with what it left on its disk; waits until it answers.
    pub async fn restart(&mut self) -> Result<()> {
        self.kill()?;
        let mut command = Command::new(self.flavor.program()?);
        command.arg(self.dir.path().join("conf"));
        if self.sentinel {
            command.arg("--sentinel");
        }
        self.process = Some(Process::start(&mut command, &self.dir.path().join("log"))?);
        let waited = eventually(START, "an answer of the server", || async {
            self.command(&redis::cmd("PING")).await.map(|_: String| ())
        })
        .await;
        waited.with_context(|| self.log())
    }

    /// Kills it, if it runs. Its peers learn nothing.
    pub fn kill(&mut self) -> Result<()> {
        self.process.take().map_or(Ok(()), |mut process| process.kill())
    }

    /// Stands still from now on: its connections stay open, and nobody answers.
    pub fn freeze(&self) -> Result<()> {
        self.process()?.freeze()
    }

    /// Goes on as if nothing had happened.
    pub fn thaw(&self) -> Result<()> {
        self.process()?.thaw()
    }

    /// What it has printed.
    #[must_use]
    pub fn log(&self) -> String {
        self.process.as_ref().map(Process::log_end).unwrap_or_default()
    }

    /// A connection of the test's own.
    pub async fn connection(&self) -> Result<MultiplexedConnection> {
        self.connection_with(AsyncConnectionConfig::new()).await
    }

    /// The same, with messages of subscriptions sent to `config`'s sender.
    pub(crate) async fn connection_with(
        &self,
        config: AsyncConnectionConfig,
    ) -> Result<MultiplexedConnection> {
        let config = config.set_connection_timeout(Some(ANSWER)).set_response_timeout(Some(ANSWER));
        let mut server = RedisConnectionInfo::default().set_protocol(redis::ProtocolVersion::RESP3);
        if let Some(password) = &self.password {
            server = server.set_password(password);
        }
        let address = ConnectionAddr::Tcp("127.0.0.1".to_owned(), self.port);
        let info = address.into_connection_info()?.set_redis_settings(server);
        Ok(Client::open(info)?.get_multiplexed_async_connection_with_config(&config).await?)
    }

    /// One command, on a connection of its own.
    pub async fn command<T: redis::FromRedisValue>(&self, command: &redis::Cmd) -> Result<T> {
        let reply = command.query_async(&mut self.connection().await?).await;
        reply.with_context(|| format!("the server at {}", self.port))
    }

    /// A field of `INFO`.
    pub async fn info(&self, field: &str) -> Result<String> {
        let info: String = self.command(&redis::cmd("INFO")).await?;
        let found = info.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        found.map(str::to_owned).with_context(|| format!("INFO has no {field}"))
    }

    /// Fails unless `replica` follows this server, and both of them say so. Each says so a little before
    /// the other one does.
    pub async fn has_replica(&self, replica: &Self) -> Result<()> {
        let (told, link) = (self.info("slave0").await?, replica.info("master_link_status").await?);
        ensure!(told.contains("state=online") && link == "up", "{told}, and its link is {link}");
        Ok(())
    }

    /// Whether it was started and not killed.
    pub(crate) fn runs(&self) -> bool {
        self.process.is_some()
    }

    fn process(&self) -> Result<&Process> {
        match &self.process {
            Some(process) => Ok(process),
            None => bail!("the server at {} was killed", self.port),
        }
    }
}
