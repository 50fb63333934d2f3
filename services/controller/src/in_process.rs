//! The service without its sockets, for a program that runs it inside itself: the simulation. The same
//! loops and the same API as in [`crate::run()`]; only the way in is another.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use axum::Router;
use vestibule_domain::RoomId;
use vestibule_issuance::Surroundings;
use vestibule_runtime::{
    ConnectionLimits, HttpMetrics, Lifecycle, Readiness, TraceSender, metrics,
};
use vestibule_store::KnownRoom;
use vestibule_token::KeyAlgorithm;
use vestibule_traces::Traces;

use crate::{config::Config, loops, router, state::Controller, tokens::GivenToken};

/// The API token of the instances.
pub const TOKEN: &str = "in-process-operator";

/// A running controller. Dropping it stops nothing: see [`Self::lifecycle`].
#[derive(Debug, Clone)]
pub struct Instance {
    controller: Arc<Controller>,
    lifecycle: Lifecycle,
    http: Arc<HttpMetrics>,
    /// Made when it is first needed, which takes a few milliseconds.
    router: Arc<OnceLock<Router>>,
}

// === impl Instance ===

impl Instance {
    /// Starts the instance and returns at once; its life tells when it is ready.
    #[must_use]
    pub fn start(surroundings: Surroundings) -> Self {
        let Surroundings { store, secret, region, public_url, machine } = surroundings;
        let nowhere = ([127, 0, 0, 1], 0).into();
        let config = Config {
            store,
            secret,
            tokens: vec![GivenToken::root(&TOKEN.into())],
            signers: Vec::new(),
            sigv4_region: "us-east-1".to_owned(),
            sns_certificates: BTreeMap::new(),
            private_beacons: false,
            audit: std::time::Duration::from_hours(24),
            signing_algorithm: KeyAlgorithm::default(),
            listen: nowhere,
            admin_listen: nowhere,
            connections: ConnectionLimits::few(),
            tls: None,
            public_url: Some(public_url),
            region,
            shutdown_grace: std::time::Duration::from_secs(5),
            traces: Traces::off(),
            trace_sender: TraceSender::default(),
        };
        let mut registry = metrics::registry("controller", "in-process");
        let http = HttpMetrics::register(&mut registry);
        let lifecycle = Lifecycle::new(Readiness::new(), config.shutdown_grace);
        let controller = Arc::new(Controller::new(config, machine, nowhere, &mut registry));
        loops::spawn(&controller, &lifecycle);
        lifecycle.readiness().started();
        Self { controller, lifecycle, http: Arc::new(http), router: Arc::default() }
    }

    /// Its life: whether it is ready, and how it ends.
    #[must_use]
    pub fn lifecycle(&self) -> &Lifecycle {
        &self.lifecycle
    }

    /// Whether it leads, as far as it knows: the term.
    #[must_use]
    pub fn leads(&self) -> Option<u64> {
        self.controller.leadership.role().leading()
    }

    /// The term in which it serves the room, if it does, as far as it knows.
    #[must_use]
    pub fn serves(&self, room: &RoomId) -> Option<u64> {
        let term = self.controller.leadership.role().serving()?;
        term.share.has(room).then_some(term.epoch)
    }

    /// The room as this instance knows it.
    #[must_use]
    pub fn room(&self, room: &str) -> Option<Arc<KnownRoom>> {
        self.controller.feed.room(room)
    }

    /// The API. Calls need `Authorization: Bearer` and [`TOKEN`].
    pub fn router(&self) -> Router {
        self.router.get_or_init(|| router::router(&self.controller, &self.http)).clone()
    }
}
