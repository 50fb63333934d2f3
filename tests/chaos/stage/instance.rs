//! An instance of a service on its host, with its link to Redis.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use tokio::sync::{Mutex, MutexGuard};
use vestibule_tests::{Exited, Process, Service, ours};

use super::{ground::Host, link::Link, turns};
use crate::chance::Chance;

/// How long an instance may take to stop in order.
const STOP: Duration = Duration::from_secs(30);

/// What all instances are told.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) secret: String,
    pub(crate) api_token: String,
    /// Where logs go.
    pub(crate) logs: PathBuf,
    /// Where histories go.
    pub(crate) histories: PathBuf,
}

/// An instance, running or not.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) service: Service,
    pub(crate) name: String,
    pub(crate) host: Host,
    /// What is between it and Redis, unless it finds the servers itself.
    pub(crate) link: Option<Link>,
    redis_url: String,
    listen: (std::net::SocketAddr, std::net::SocketAddr),
    told: Told,
    /// Held by a fault for as long as it lasts, so that an instance has one at a time.
    running: Mutex<Running>,
}

/// How an instance gets to Redis.
#[derive(Debug)]
pub(crate) enum Way {
    /// By a link, which leads to the primary.
    Link(Link),
    /// By itself, from this address.
    Found(String),
}

/// The process of an instance.
#[derive(Debug, Default)]
pub(crate) struct Running {
    process: Option<Process>,
    starts: u32,
}

// === impl Told ===

impl Told {
    /// Secrets under the seed, and folders in `folder`.
    pub(crate) fn draw(folder: &Path, chance: &mut Chance) -> Result<Self> {
        let mut letters = |count| {
            let letter = |_| char::from(b'a' + u8::try_from(chance.within(0..26)).unwrap_or(0));
            (0..count).map(letter).collect::<String>()
        };
        let (logs, histories) = (folder.join("logs"), folder.join("histories"));
        std::fs::create_dir_all(&logs)?;
        std::fs::create_dir_all(&histories)?;
        Ok(Self { secret: letters(48), api_token: letters(32), logs, histories })
    }
}

// === impl Instance ===

impl Instance {
    /// An instance that is not started yet.
    pub(crate) fn new(
        service: Service,
        name: String,
        mut host: Host,
        redis: Way,
        told: Told,
    ) -> Self {
        let (redis_url, link) = match redis {
            Way::Link(link) => (format!("redis://{}", link.address()), Some(link)),
            Way::Found(url) => (url, None),
        };
        let listen = (host.next_listener(), host.next_listener());
        Self { service, name, host, link, redis_url, listen, told, running: Mutex::default() }
    }

    /// Where it answers, as `http://host:port`.
    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.listen.0)
    }

    /// Where it says whether it is ready.
    pub(crate) fn readiness(&self) -> String {
        format!("http://{}/readyz", self.listen.1)
    }

    /// Its process, for this caller alone.
    pub(crate) async fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().await
    }

    /// Starts it; it is ready a while later.
    pub(crate) fn start(&self, running: &mut Running) -> Result<()> {
        let mut command = self.host.command(ours(match self.service {
            Service::Admission => "vestibule-admission",
            Service::Controller => "vestibule-controller",
        })?);
        command
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("VESTIBULE_REDIS_URL", &self.redis_url)
            .env("VESTIBULE_SECRET", &self.told.secret)
            .env("VESTIBULE_API_TOKEN", &self.told.api_token)
            .env("VESTIBULE_LISTEN", self.listen.0.to_string())
            .env("VESTIBULE_ADMIN_LISTEN", self.listen.1.to_string())
            // Redis's is set; and here all have this one.
            .env("VESTIBULE_HISTORY_CLOCK", "machine");
        running.starts += 1;
        let history = turns::history(&self.told.histories, &self.name, running.starts);
        command.env("VESTIBULE_HISTORY", history);
        let log = self.told.logs.join(format!("{}-{}", self.name, running.starts));
        running.process = Some(Process::start(&mut command, &log)?);
        Ok(())
    }

    /// Starts it again if it has ended by itself; says how its log ended. Passes over an instance that
    /// something is happening to.
    pub(crate) fn look_after(&self) -> Option<String> {
        let mut running = self.running.try_lock().ok()?;
        let story = format!("{:#}", running.process.as_mut()?.check_running().err()?);
        // If it cannot be started, the end of the run says so.
        let _ = self.start(&mut running);
        Some(format!("{}: {story}", self.name))
    }

    /// Stops it in order.
    pub(crate) async fn stop(&self, running: &mut Running) -> Result<()> {
        let mut process = running.process.take().context("it does not run")?;
        process.terminate()?;
        let ended = process.ended(STOP).await.with_context(|| self.name.clone())?;
        // One that had not even begun to log did not listen to signals yet either.
        let was_starting = ended == Exited::Killed && process.log().is_empty();
        let in_order = ended == Exited::Code(0) || was_starting;
        ensure!(in_order, "{}: {ended:?}: {}", self.name, process.log_end());
        Ok(())
    }
}

// === impl Running ===

impl Running {
    /// The process.
    pub(crate) fn process(&mut self) -> Result<&mut Process> {
        self.process.as_mut().context("it does not run")
    }
}
