//! The life of the process: from options to an exit code.

use std::{process::ExitCode, sync::Arc, time::Duration};

use anyhow::{Context, Result};
use secrecy::ExposeSecret;
use tokio::{net::TcpListener, time::sleep};
use vestibule_runtime::{
    Exit, HttpMetrics, Lifecycle, Readiness, Shed, Signals, bind, cli::usage_error, metrics, serve,
    serve_admin,
};
use vestibule_store::{Store, StoreError};
use vestibule_token::DeploymentSecret;

use crate::{
    cli::{Cli, Command},
    metrics::Figures,
    openapi,
    router::router,
    state::{Admission, Settings},
};

/// How long to wait before looking for Redis again.
const RETRY: Duration = Duration::from_millis(500);

/// Runs the service until it is told to stop.
#[must_use]
pub fn run(cli: &Cli) -> ExitCode {
    match cli.command {
        Some(Command::Openapi) => {
            print!("{}", openapi::document());
            return ExitCode::SUCCESS;
        }
        Some(Command::Healthcheck) => return vestibule_runtime::healthcheck(cli.admin_listen),
        None => {}
    }
    let secret = match cli.common.read_secret() {
        Ok(secret) => secret,
        Err(error) => return usage_error(&error),
    };
    let secret = match DeploymentSecret::new(secret.expose_secret().as_bytes()) {
        Ok(secret) => Arc::new(secret),
        Err(error) => return usage_error(&error),
    };
    let store = match Admission::open_store(cli.common.redis_url.expose_secret()) {
        Ok(store) => store,
        Err(error) => return usage_error(&error),
    };
    if let Err(error) = cli.common.log.init() {
        return usage_error(&error);
    }
    let served = tokio::runtime::Runtime::new()
        .context("no threads")
        .and_then(|runtime| runtime.block_on(serve_until_told(cli, store, secret)));
    match served {
        Ok(exit) => exit.into(),
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn serve_until_told(cli: &Cli, store: Store, secret: Arc<DeploymentSecret>) -> Result<Exit> {
    let listener = bind(cli.listen).await?;
    let admin = bind(cli.admin_listen).await?;
    let signals = Signals::of_process().context("no signals")?;
    let lifecycle = Lifecycle::new(Readiness::new(), cli.common.shutdown_grace());
    let settings = Settings {
        instance: format!("admission-{:016x}", rand::random::<u64>()),
        region: cli.common.region.clone(),
        public_url: cli.public_url(),
    };
    let mut registry = metrics::registry("admission", env!("CARGO_PKG_VERSION"));
    let http = HttpMetrics::register(&mut registry);
    let starting = tokio::select! {
        admission = start(store, secret, settings) => admission?,
        () = lifecycle.soft().cancelled() => return Ok(Exit::Asked),
    };
    registry.register_collector(Box::new(Figures(Arc::clone(&starting))));
    serve_admin(admin, Arc::new(registry), &lifecycle);
    spawn_loops(&starting, &lifecycle);
    open_doors(cli, listener, starting, &http, &lifecycle);
    Ok(lifecycle.run(signals).await)
}

/// Serves visitors; ready once rooms and keys are known.
fn open_doors(
    cli: &Cli,
    listener: TcpListener,
    admission: Arc<Admission>,
    http: &HttpMetrics,
    lifecycle: &Lifecycle,
) {
    let readiness = lifecycle.readiness().clone();
    let keys = readiness.condition("signing key");
    tracing::info!(address = %cli.listen, region = %cli.common.region, "admission is open");
    let known = admission.keys.clone();
    let soft = lifecycle.soft().clone();
    let router = router(admission, http, Shed::new(cli.max_requests_in_flight));
    serve(listener, router, lifecycle);
    readiness.started();
    lifecycle.spawn("readiness", async move {
        while known.current().is_err() && !soft.is_cancelled() {
            sleep(RETRY).await;
        }
        keys.set(true);
        soft.cancelled().await;
    });
}

/// Starts once Redis answers, however long that takes.
async fn start(
    store: Store,
    secret: Arc<DeploymentSecret>,
    settings: Settings,
) -> Result<Arc<Admission>> {
    loop {
        let started = Admission::start(store.clone(), Arc::clone(&secret), settings.clone()).await;
        match started {
            Ok(admission) => {
                admission.feed.refresh().await?;
                match admission.keys.refresh().await {
                    Ok(_) => return Ok(admission),
                    Err(vestibule_entry::KeyError::Store(error)) => {
                        tracing::warn!(%error, "waiting for redis");
                    }
                    Err(error) => return Err(error).context("the key ring cannot be used"),
                }
            }
            Err(error @ StoreError::Unavailable(_)) => {
                tracing::warn!(%error, "waiting for redis");
            }
            Err(error) => return Err(error.into()),
        }
        sleep(RETRY).await;
    }
}

fn spawn_loops(admission: &Arc<Admission>, lifecycle: &Lifecycle) {
    let drained = lifecycle.drained().clone();
    let feed = admission.feed.clone().run();
    lifecycle.spawn("feed", async move {
        tokio::select! { () = feed => {}, () = drained.cancelled() => {} }
    });
    let drained = lifecycle.drained().clone();
    let keys = admission.keys.clone().run();
    lifecycle.spawn("keys", async move {
        tokio::select! { () = keys => {}, () = drained.cancelled() => {} }
    });
    let drained = lifecycle.drained().clone();
    let counting = Arc::clone(admission);
    lifecycle.spawn("check-ins", async move {
        tokio::select! { () = counting.check_ins.run() => {}, () = drained.cancelled() => {} }
        // The last counts of the visitors whom this instance has just answered.
        counting.check_ins.send().await;
    });
}
