//! The measured deployment: one admission, one controller and a Redis of its own, started from the
//! programs that users run, and the bare service beside them. Everything ends when the value is
//! dropped.

mod nginx;
mod operator;
mod process;
mod programs;
mod redis_server;

use std::{env, net::SocketAddr, path::Path, process::Command, time::Duration};

use anyhow::{Context, Result};
use reqwest::Client;
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

pub(crate) use self::{nginx::Nginx, operator::Operator, process::Process, redis_server::Redis};
use crate::cli::Options;

const START: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);
const CALL: Duration = Duration::from_secs(15);

/// Everything that runs.
#[derive(Debug)]
pub(crate) struct Deployment {
    /// The bare service, the baseline.
    pub(crate) bare: Server,
    /// The measured service.
    pub(crate) admission: Server,
    /// The Redis of the services.
    pub(crate) redis: Redis,
    /// Makes rooms and moves counters.
    pub(crate) operator: Operator,
    http: Client,
    _controller: Server,
    directory: TempDir,
}

/// A running HTTP service.
#[derive(Debug)]
pub(crate) struct Server {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// Its process.
    pub(crate) process: Process,
}

/// The settings of both services.
#[derive(Debug)]
struct Settings {
    redis_url: String,
    secret: String,
    api_token: String,
}

// === impl Deployment ===

impl Deployment {
    /// Builds what is needed, starts everything, and waits until it is ready.
    pub(crate) async fn start(options: &Options) -> Result<Self> {
        let programs = programs::services(options)?;
        let directory = tempfile::tempdir()?;
        let http = Client::builder().timeout(CALL).build()?;
        let redis = Redis::start(directory.path()).await?;
        let (secret, api_token) = (random_text(48), random_text(32));
        let settings = Settings { redis_url: redis.url(), secret, api_token };
        let service = async |name: &str| {
            let program = programs.join(name);
            let started = start_service(&program, &settings, directory.path(), &http).await;
            started.with_context(|| name.to_owned())
        };
        let controller = service("vestibule-controller").await?;
        let admission = service("vestibule-admission").await?;
        let bare = start_bare(directory.path(), &http).await.context("the bare service")?;
        let operator = Operator::new(http.clone(), controller.address, settings.api_token);
        Ok(Self { bare, admission, redis, operator, http, _controller: controller, directory })
    }

    /// Makes a room. Admission knows it when this returns.
    pub(crate) async fn make_room(&self, room: &str, settings: &Value) -> Result<()> {
        self.operator.put_room(room, settings).await
    }

    /// The status of the visitor of `room` who holds `ticket`.
    pub(crate) async fn status(&self, room: &str, ticket: &[u8]) -> Result<String> {
        let url = format!("http://{}/v1/rooms/{room}/status", self.admission.address);
        let answer = self.http.get(url).header("vestibule-ticket", ticket).send().await?;
        let body: Value = answer.error_for_status()?.json().await?;
        Ok(body["status"].as_str().unwrap_or_default().to_owned())
    }
}

async fn start_service(
    program: &Path,
    settings: &Settings,
    directory: &Path,
    http: &Client,
) -> Result<Server> {
    let (address, admin) = (programs::free_address()?, programs::free_address()?);
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("VESTIBULE_REDIS_URL", &settings.redis_url)
        .env("VESTIBULE_SECRET", &settings.secret)
        .env("VESTIBULE_API_TOKEN", &settings.api_token)
        .env("VESTIBULE_LISTEN", address.to_string())
        .env("VESTIBULE_ADMIN_LISTEN", admin.to_string())
        .env("VESTIBULE_LOG", "warn");
    let log = directory.join(program.file_name().unwrap_or_default()).with_extension("log");
    let process = Process::start(&mut command, log)?;
    answering(Server { address, process }, &format!("http://{admin}/readyz"), http).await
}

async fn start_bare(directory: &Path, http: &Client) -> Result<Server> {
    let address = programs::free_address()?;
    let mut command = Command::new(env::current_exe()?);
    command.args(["bare", "--listen", &address.to_string()]);
    let process = Process::start(&mut command, directory.join("bare.log"))?;
    answering(Server { address, process }, &format!("http://{address}/"), http).await
}

async fn answering(mut server: Server, url: &str, http: &Client) -> Result<Server> {
    let ready = async || {
        http.get(url).send().await?.error_for_status()?;
        Ok(())
    };
    eventually("readiness", &mut server.process, ready).await?;
    Ok(server)
}

/// Repeats `attempt` until it succeeds, while `process` runs and for at most [`START`].
async fn eventually<T>(
    what: &str,
    process: &mut Process,
    attempt: impl AsyncFn() -> Result<T>,
) -> Result<T> {
    let deadline = Instant::now() + START;
    loop {
        process.check_running()?;
        match attempt().await {
            Ok(done) => return Ok(done),
            Err(error) if Instant::now() >= deadline => {
                return Err(error).with_context(|| format!("waited in vain for {what}"));
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "secrets of this run")]
fn random_text(length: usize) -> String {
    let letter = || char::from(rand::random_range(b'a'..=b'z'));
    std::iter::repeat_with(letter).take(length).collect()
}
