//! One controller from its start to its end: binds, serves, starts the loops.

use std::sync::Arc;

use vestibule_issuance::{KeyMetrics, Machine};
use vestibule_runtime::{
    BindError, ConnectionMetrics, Exit, HttpMetrics, Lifecycle, Readiness, Signals, bind, metrics,
    serve, serve_admin,
};
use vestibule_store::ServerCheck;

use crate::{
    config::Config, figures, loops, metrics::register_servers, router, state::Controller,
    webhooks::WebhookMetrics,
};

/// A running controller. Dropping it stops nothing; see [`Self::run`].
#[derive(Debug)]
pub(crate) struct Service {
    lifecycle: Lifecycle,
}

/// The controller cannot start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// An address cannot be listened on.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The system does not tell which address it is.
    #[error("cannot tell the address that is listened on")]
    Address(#[from] std::io::Error),
}

// === impl Service ===

impl Service {
    /// Binds, starts everything and returns at once. It is ready once Redis was reached and holds
    /// what is needed.
    ///
    /// # Errors
    /// If an address cannot be listened on.
    pub(crate) async fn start(mut config: Config) -> Result<Self, StartError> {
        let listener = bind(config.listen).await?;
        let admin_listener = bind(config.admin_listen).await?;
        let (address, admin_address) = (listener.local_addr()?, admin_listener.local_addr()?);
        let mut registry = metrics::registry("controller", env!("CARGO_PKG_VERSION"));
        let http = HttpMetrics::register(&mut registry);
        let connections = ConnectionMetrics::register(&mut registry);
        let (limits, tls) = (config.connections.clone(), config.tls.clone());
        if let Some(tls) = &tls {
            tls.register_metrics(&mut registry);
        }
        let lifecycle = Lifecycle::new(Readiness::new(), config.shutdown_grace);
        std::mem::take(&mut config.trace_sender).start(&mut registry, &lifecycle);
        let controller = Arc::new(Controller::new(config, Machine::real(), address, &mut registry));
        let check = ServerCheck::new(controller.store.clone());
        register_servers(&mut registry, &controller.store, &controller.feed, &check);
        figures::register(&mut registry, &controller);
        controller.outbox.register(&mut registry);
        let webhooks = WebhookMetrics::register(&mut registry);
        KeyMetrics::register(&mut registry, &controller.keys, &controller.secret);
        serve_admin(admin_listener, Arc::new(registry), &lifecycle);
        let router = router::router(&controller, &http);
        serve(listener, router, limits, connections, tls, &lifecycle);
        loops::spawn(&controller, &lifecycle);
        loops::webhooks::spawn(&controller, &lifecycle, &check, webhooks);
        figures::watch(&controller, &lifecycle);
        look_at_servers(check, &lifecycle);
        lifecycle.readiness().started();
        tracing::info!(%address, %admin_address, instance = &*controller.instance, "listening");
        Ok(Self { lifecycle })
    }

    /// Runs until a signal comes or a task fails, and then through the stop.
    pub(crate) async fn run(self, signals: Signals) -> Exit {
        self.lifecycle.run(signals).await
    }
}

/// Looks now and then what the servers are like, until the stop.
fn look_at_servers(check: ServerCheck, lifecycle: &Lifecycle) {
    let soft = lifecycle.soft().clone();
    lifecycle.spawn("server check", async move {
        tokio::select! {
            biased;
            () = soft.cancelled() => {}
            () = check.run() => {}
        }
    });
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Cli;

    /// The startup task has not run yet, so no condition may count as met.
    #[tokio::test]
    async fn who_has_just_started_is_not_ready() {
        let free = "127.0.0.1:0";
        let cli = Cli::parse_from([
            "test",
            "--listen",
            free,
            "--admin-listen",
            free,
            "--secret",
            &"s".repeat(32),
            "--api-token",
            &"t".repeat(32),
        ]);
        let service = Service::start(Config::read(&cli).unwrap()).await.unwrap();
        assert_eq!(service.lifecycle.readiness().missing(), ["redis", "keyspace"]);
    }
}
