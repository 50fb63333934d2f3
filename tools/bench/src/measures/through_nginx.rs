//! The latency that the authorizer adds to a request through a real nginx: the time of a request
//! with the authorizer, less the time of the same request without it.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use serde_json::json;
use vestibule_tests::gateway::{Addresses, Gateway, Kind, SITE_HOST, free_port};

use super::Bench;
use crate::{
    driver::{Caller, latencies, median},
    report::{Figures, Target, Unit},
};

const ROOM: &str = "bench-nginx";
const ADDED: Target = Target::Below(1_000.0);
/// Requests per side of a round.
const REQUESTS: usize = 2_000;

/// Measures both in alternating rounds; nothing if nginx is not installed.
pub(crate) async fn through_nginx(bench: &mut Bench) -> Result<Figures> {
    let figures = Figures::of("through nginx, a visitor inside");
    if !Kind::Nginx.is_installed() {
        eprintln!("there is no nginx here: not measured");
        return Ok(figures);
    }
    let settings =
        json!({ "total_active_users": 2_000_000_000, "routes": [{ "host": SITE_HOST }] });
    bench.deployment.services.create_room(ROOM, &settings).await?;
    let tickets = bench.tickets(Caller::entering(SITE_HOST), 1).await?;
    let ticket = tickets.first().context("nobody entered")?;
    let (admission, site) = (bench.deployment.admission.address, bench.deployment.bare.address);
    let mut addresses = Addresses::new(&admission.to_string(), &site.to_string());
    let unguarded = free_port();
    addresses.unguarded_port = Some(unguarded);
    let _nginx = Gateway::start(Kind::Nginx, &addresses).await?;
    let mut inside = Caller::browsing(SITE_HOST, ROOM, ticket);
    let mut anyone = Caller::same("GET", "/");
    let (mut guarded, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..bench.options.rounds {
        plain.push(median(&latencies(local(unguarded), &mut anyone, REQUESTS).await?));
        guarded.push(median(&latencies(local(addresses.port), &mut inside, REQUESTS).await?));
    }
    let added: Vec<_> =
        guarded.iter().zip(&plain).map(|(guarded, plain)| guarded - plain).collect();
    Ok(figures
        .add("added latency, median", Unit::Micros, added)
        .with_target(ADDED)
        .add("latency with the authorizer, median", Unit::Micros, guarded)
        .add("latency without, median", Unit::Micros, plain))
}

fn local(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}
