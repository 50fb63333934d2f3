//! One admission from its start to its end: binds, serves, starts the loops.

use std::sync::Arc;

use vestibule_issuance::{KeyMetrics, Machine};
use vestibule_runtime::{
    BindError, ConnectionMetrics, Exit, HttpMetrics, Lifecycle, Readiness, Shed, Signals, bind,
    metrics, serve, serve_admin,
};
use vestibule_store::ServerCheck;

use crate::{
    config::Config,
    ext_authz::{self, Door, GrpcMetrics},
    loops,
    metrics::{AdmissionCollector, register_servers},
    router::router,
    state::Admission,
};

/// A running admission.
#[derive(Debug)]
pub(crate) struct Service {
    lifecycle: Lifecycle,
}

// === impl Service ===

impl Service {
    /// Binds, starts everything and returns at once. It is ready once Redis was reached and holds
    /// a key.
    ///
    /// # Errors
    /// If an address cannot be listened on.
    pub(crate) async fn start(config: Config) -> Result<Self, BindError> {
        let listener = bind(config.listen).await?;
        let admin_listener = bind(config.admin_listen).await?;
        let grpc = match &config.grpc {
            Some((address, limits)) => Some((bind(*address).await?, limits.clone())),
            None => None,
        };
        let lifecycle = Lifecycle::new(Readiness::new(), config.shutdown_grace);
        let mut registry = metrics::registry("admission", env!("CARGO_PKG_VERSION"));
        let http = HttpMetrics::register(&mut registry);
        let connections = ConnectionMetrics::register(&mut registry);
        let grpc_metrics = GrpcMetrics::register(&mut registry);
        let admission = Arc::new(Admission::new(&config, Machine::real()));
        admission.authorizer.decisions.register(&mut registry);
        admission.flows.limits.register(&mut registry);
        admission.flows.challenges.counter.register(&mut registry);
        admission.flows.strangers.register(&mut registry);
        admission.outbox.register(&mut registry);
        registry.register_collector(Box::new(AdmissionCollector(Arc::clone(&admission))));
        config.trace_sender.start(&mut registry, &lifecycle);
        let check = ServerCheck::new(admission.store.clone());
        register_servers(&mut registry, &admission.store, &admission.feed, &check);
        KeyMetrics::register(&mut registry, &admission.keys, &config.secret);
        if let Some(tls) = &config.tls {
            tls.register_metrics(&mut registry);
        }
        serve_admin(admin_listener, Arc::new(registry), &lifecycle);
        let shed = Shed::new(config.max_requests_in_flight);
        let router = router(Arc::clone(&admission), &http, shed, config.docs);
        serve(listener, router, config.connections, connections, config.tls, &lifecycle);
        if let Some((listener, limits)) = grpc {
            let door = Door::new(listener, limits, grpc_metrics);
            let most = config.max_requests_in_flight;
            ext_authz::serve(door, Arc::clone(&admission), most, &lifecycle);
        }
        loops::spawn(&admission, &lifecycle);
        admission.outbox.spawn(&lifecycle);
        look_at_servers(check, &lifecycle);
        lifecycle.readiness().started();
        tracing::info!(address = %config.listen, admin_address = %config.admin_listen, "listening");
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
        ]);
        let service = Service::start(Config::read(&cli).unwrap()).await.unwrap();
        assert_eq!(service.lifecycle.readiness().missing(), ["redis", "signing key", "rooms"]);
    }
}
