//! One running instance of a service: its program, its addresses, and the wait until it is ready.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use futures_util::future::try_join_all;
use reqwest::Client;

use crate::{Exited, Process, Reply, eventually, ports, programs};

/// How long a start may take, on a machine that is busy with other tests.
pub(crate) const START: Duration = Duration::from_secs(30);
/// How long Redis may take on such a machine; a server that is gone is noticed at once.
const REDIS_TIMEOUT_MS: &str = "5000";
const PORTS_TRIED: usize = 5;

/// One of the two services.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// Answers visitors.
    Admission,
    /// Lets them in.
    Controller,
}

/// What all instances of a deployment are told.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) redis_url: String,
    pub(crate) admissions_redis_url: String,
    pub(crate) secret: String,
    pub(crate) api_token: String,
    pub(crate) grace_seconds: u32,
    pub(crate) log: String,
    pub(crate) regions: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) programs: Option<PathBuf>,
    pub(crate) descriptors: Option<u32>,
    pub(crate) dir: PathBuf,
    pub(crate) http: Client,
    pub(crate) scheme: &'static str,
}

/// A running instance.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) process: Process,
    ports: (u16, u16),
    region: Option<String>,
    pub(crate) base: String,
    pub(crate) admin: String,
}

// === impl Service ===

impl Service {
    fn program(self) -> &'static str {
        match self {
            Self::Admission => "vestibule-admission",
            Self::Controller => "vestibule-controller",
        }
    }
}

// === impl Instance ===

impl Instance {
    /// Starts the program again at the same addresses, after it has ended.
    pub(crate) async fn restart(&mut self, settings: &Settings, service: Service) -> Result<()> {
        let name = format!("{}-again-{}", service.program(), self.ports.0);
        *self = start_on(settings, service, self.ports, self.region.clone(), &name).await?;
        Ok(())
    }

    /// Stops it in order. Returns what it has printed.
    pub(crate) async fn stop(&mut self) -> Result<String> {
        self.process.terminate()?;
        let ended = self.process.ended(START).await?;
        ensure!(
            ended == Exited::Code(0),
            "{ended:?}, not in order; its log ends:\n{}",
            self.process.log_end()
        );
        Ok(self.process.log())
    }
}

/// Starts instances `first`, `first + 1`, … and waits until all are ready.
pub(crate) async fn start_all(
    settings: &Settings,
    service: Service,
    count: usize,
    first: usize,
) -> Result<Vec<Instance>> {
    try_join_all((first..first + count).map(|index| start(settings, service, index))).await
}

/// Another program may take a port between our look and its use: then with others.
async fn start(settings: &Settings, service: Service, index: usize) -> Result<Instance> {
    let mut last = anyhow::anyhow!("not tried");
    for _ in 0..PORTS_TRIED {
        match start_once(settings, service, index).await {
            Ok(instance) => return Ok(instance),
            Err(error) if format!("{error:#}").to_lowercase().contains("in use") => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

async fn start_once(settings: &Settings, service: Service, index: usize) -> Result<Instance> {
    let ports = (ports::free(), ports::free());
    let name = format!("{}-{index}", service.program());
    let region = settings.regions.get(index).filter(|_| service == Service::Admission).cloned();
    let instance = start_on(settings, service, ports, region, &name).await;
    instance.with_context(|| name)
}

async fn start_on(
    settings: &Settings,
    service: Service,
    ports: (u16, u16),
    region: Option<String>,
    name: &str,
) -> Result<Instance> {
    let (listen, admin) = (local(ports.0), local(ports.1));
    let program = match &settings.programs {
        Some(folder) => folder.join(service.program()),
        None => programs::ours(service.program())?,
    };
    let mut command = with_descriptors(&program, settings.descriptors);
    configure(&mut command, settings, service, &listen, &admin);
    if let Some(region) = &region {
        command.env("VESTIBULE_REGION", region);
    }
    let process = Process::start(&mut command, &settings.dir.join(name))?;
    let (base, admin) = (format!("{}://{listen}", settings.scheme), format!("http://{admin}"));
    let mut instance = Instance { process, ports, region, base, admin };
    ready(&mut instance, &settings.http).await?;
    Ok(instance)
}

/// The program, which may have `count` descriptors open, if that is said.
fn with_descriptors(program: &Path, count: Option<u32>) -> Command {
    let Some(count) = count else { return Command::new(program) };
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n \"$1\" && exec \"$2\"", "sh", &count.to_string()]).arg(program);
    command
}

fn configure(
    command: &mut Command,
    settings: &Settings,
    service: Service,
    listen: &str,
    admin: &str,
) {
    let redis_url = match service {
        Service::Admission => &settings.admissions_redis_url,
        Service::Controller => &settings.redis_url,
    };
    command
        .env_clear()
        .env("VESTIBULE_REDIS_URL", redis_url)
        .env("VESTIBULE_REDIS_TIMEOUT_MS", REDIS_TIMEOUT_MS)
        .env("VESTIBULE_SECRET", &settings.secret)
        .env("VESTIBULE_API_TOKEN", &settings.api_token)
        .env("VESTIBULE_LISTEN", listen)
        .env("VESTIBULE_ADMIN_LISTEN", admin)
        .env("VESTIBULE_SHUTDOWN_GRACE_SECONDS", settings.grace_seconds.to_string())
        .env("VESTIBULE_LOG", &settings.log)
        .envs(settings.environment.iter().cloned());
}

async fn ready(instance: &mut Instance, http: &Client) -> Result<()> {
    let url = format!("{}/readyz", instance.admin);
    let waited = eventually(START, "readiness", || {
        let running = instance.process.check_running();
        let reply = Reply::of(http.get(&url));
        async {
            if running.is_err() {
                return Ok(running);
            }
            reply.await?.expect(200)?;
            Ok(Ok(()))
        }
    });
    let waited = waited.await;
    waited.with_context(|| format!("its log ends:\n{}", instance.process.log_end()))?
}

fn local(port: u16) -> String {
    format!("127.0.0.1:{port}")
}
