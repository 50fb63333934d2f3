//! What is measured: one admission, one controller and a Redis of its own, started by the harness of
//! the tests from the programs that users run, and the bare service beside them. Everything ends
//! when the value is dropped.

use std::{env, net::SocketAddr, path::Path, process::Command, time::Duration};

use anyhow::{Context, Result};
use tempfile::TempDir;
use tokio::net::TcpStream;
use vestibule_tests::{Flavor, Process, Service, eventually, gateway};

use crate::{cli::Options, programs, redis_statistics::RedisStatistics};

const START: Duration = Duration::from_secs(30);

/// A key by which private calls are signed, and its secret.
pub(crate) const SIGNER: (&str, &str) = ("AKIDOFTHEBENCH", "a-secret-of-the-bench-alone");

/// Everything that runs.
#[derive(Debug)]
pub(crate) struct Deployment {
    /// The bare service, the baseline.
    pub(crate) bare: Server,
    /// The measured service.
    pub(crate) admission: Server,
    /// The service of operators.
    pub(crate) controller: Server,
    /// What the Redis of the services says of itself.
    pub(crate) redis: RedisStatistics,
    /// The process of that Redis.
    pub(crate) redis_process: Option<u32>,
    /// The services with their Redis.
    pub(crate) services: vestibule_tests::Deployment,
    _bare: Process,
    _directory: TempDir,
}

/// A running HTTP service.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Server {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// Its process.
    pub(crate) process: u32,
}

// === impl Deployment ===

impl Deployment {
    /// Builds what is needed, starts everything, and waits until it is ready.
    pub(crate) async fn start(options: &Options) -> Result<Self> {
        let services = vestibule_tests::Deployment::builder()
            .flavor(Flavor::Installed)
            .programs(programs::services(options)?)
            .log("warn")
            .environment("VESTIBULE_SIGV4_KEYS", &format!("{}:{}", SIGNER.0, SIGNER.1))
            .start()
            .await?;
        let server = |service| -> Result<Server> {
            let address = services.address(service, 0).parse()?;
            Ok(Server { address, process: services.process(service, 0).id() })
        };
        let (admission, controller) = (server(Service::Admission)?, server(Service::Controller)?);
        let directory = tempfile::tempdir()?;
        let address = SocketAddr::from(([127, 0, 0, 1], gateway::free_port()));
        let process = start_bare(address, directory.path()).await.context("the bare service")?;
        Ok(Self {
            bare: Server { address, process: process.id() },
            admission,
            controller,
            redis: RedisStatistics::new(services.redis().connection().await?),
            redis_process: services.redis().process_id(),
            services,
            _bare: process,
            _directory: directory,
        })
    }
}

async fn start_bare(address: SocketAddr, directory: &Path) -> Result<Process> {
    let mut command = Command::new(env::current_exe()?);
    command.args(["bare", "--listen", &address.to_string()]);
    let mut process = Process::start(&mut command, &directory.join("bare"))?;
    eventually(START, "readiness", || {
        let running = process.check_running();
        async move {
            if running.is_ok() {
                TcpStream::connect(address).await?;
            }
            Ok(running)
        }
    })
    .await??;
    Ok(process)
}
