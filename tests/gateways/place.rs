//! A site, a deployment with a room for it, and a gateway in front.

use std::{env, time::Duration};

use anyhow::Result;
use serde_json::{Value, json};
use vestibule_tests::{
    Builder, Deployment,
    gateway::{Addresses, Gateway, Kind, SITE_HOST, Scheme, Site, free_port},
};

const SOON: Duration = Duration::from_secs(20);

/// Everything that a visitor meets.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) kind: Kind,
    pub(crate) deployment: Deployment,
    pub(crate) site: Site,
    pub(crate) gateway: Gateway,
}

// === impl Place ===

impl Place {
    /// A place with one seat in the room `sale`, which covers `/sale`.
    pub(crate) async fn build(kind: Kind) -> Result<Self> {
        Self::speaking(kind, Scheme::Http).await
    }

    /// The same for visitors who speak `scheme`.
    pub(crate) async fn speaking(kind: Kind, scheme: Scheme) -> Result<Self> {
        let place = Self::build_over(kind, scheme, Deployment::builder()).await?;
        place.deployment.site_visitor(SITE_HOST).finds_a_room("/sale", SOON).await?;
        Ok(place)
    }

    /// The same with a gateway that lets everybody pass while Vestibule is down.
    pub(crate) async fn that_fails_open(kind: Kind) -> Result<Self> {
        let open = |addresses: &mut Addresses| addresses.fails_open = true;
        let place = Self::build_with(kind, Deployment::builder(), open).await?;
        place.deployment.site_visitor(SITE_HOST).finds_a_room("/sale", SOON).await?;
        Ok(place)
    }

    /// The same over another deployment, which may not know the room yet.
    pub(crate) async fn build_over(kind: Kind, scheme: Scheme, builder: Builder) -> Result<Self> {
        Self::build_with(kind, builder, |addresses| addresses.scheme = scheme).await
    }

    async fn build_with(
        kind: Kind,
        builder: Builder,
        set: impl FnOnce(&mut Addresses),
    ) -> Result<Self> {
        let grpc_port = free_port();
        let grpc = format!("127.0.0.1:{grpc_port}");
        let deployment = builder.environment("VESTIBULE_GRPC_LISTEN", &grpc).start().await?;
        deployment.create_room("sale", &room()).await?;
        let site = Site::start().await?;
        let vestibule = deployment.address(vestibule_tests::Service::Admission, 0);
        let mut addresses = Addresses::new(vestibule, site.address());
        addresses.grpc_port = grpc_port;
        set(&mut addresses);
        let gateway = Gateway::start(kind, &addresses).await?;
        Ok(Self { kind, deployment, site, gateway })
    }
}

/// Seats are few, and kept for longer than any test takes: who asks nothing for a while stays inside.
pub(crate) fn room() -> Value {
    json!({
        "total_active_users": 1,
        "session_duration_seconds": 3600,
        "routes": [{ "host": SITE_HOST, "path": "/sale" }],
        "bypass_rules": [
            { "name": "static files", "when": { "path": { "starts_with": "/sale/static/" } } },
            { "name": "office", "when": { "client": { "in": ["203.0.113.0/24"] } } },
            { "name": "partners", "when": { "header": { "name": "X-Partner", "is": "yes" } } },
        ],
        "origin_commands": ["revoke"],
    })
}

/// Says loudly that the operator of the tests chose to leave the gateways out.
pub(crate) fn is_left_out() -> bool {
    let left_out = env::var_os("VESTIBULE_TEST_SKIP_GATEWAYS").is_some_and(|value| value == "1");
    if left_out {
        // Not `eprintln`, which the test runner swallows.
        let warning = "WARNING: VESTIBULE_TEST_SKIP_GATEWAYS=1: NOT tested behind real gateways\n";
        let _ = std::io::Write::write_all(&mut std::io::stderr(), warning.as_bytes());
    }
    left_out
}
