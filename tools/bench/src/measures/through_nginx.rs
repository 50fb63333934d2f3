//! The latency that the authorizer adds to a request through a real nginx: the time of a request
//! with the authorizer, less the time of the same request without it.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::json;

use super::{Bench, authorize::enter, comparison::spread};
use crate::{
    deployment::Nginx,
    driver::{Browsing, Same, latencies},
    report::{Figure, Target, Unit},
    statistics::Spread,
};

const ROOM: &str = "bench-nginx";
const HOST: &str = "nginx.example";
const MEASURE: &str = "through nginx, a visitor inside";
const ADDED: Target = Target::Below(1_000.0);
/// Requests per side of a round.
const REQUESTS: usize = 2_000;

/// Measures both in alternating rounds; nothing if nginx is not installed.
pub(crate) async fn through_nginx(bench: &mut Bench) -> Result<Vec<Figure>> {
    let settings = json!({ "total_active_users": 2_000_000_000, "routes": [{ "host": HOST }] });
    let Some(nginx) = Nginx::start(&bench.deployment, HOST).await? else {
        eprintln!("there is no nginx here: not measured");
        return Ok(Vec::new());
    };
    bench.deployment.make_room(ROOM, &settings).await?;
    let ticket = enter(bench, HOST, 1).await?.pop().context("nobody entered")?;
    let (mut inside, mut anyone) = (Browsing::new(HOST, ROOM, &ticket), Same::new("GET", "/"));
    let (mut guarded, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..bench.options.rounds {
        plain.push(micros(latencies(nginx.plain, &mut anyone, REQUESTS).await?)?);
        guarded.push(micros(latencies(nginx.guarded, &mut inside, REQUESTS).await?)?);
    }
    let added = guarded.iter().zip(&plain).map(|(guarded, plain)| guarded - plain);
    let added = Figure::new(MEASURE, "added latency, median", Unit::Micros, spread(added)?);
    let (guarded, plain) = (spread(guarded)?, spread(plain)?);
    Ok(vec![
        added.with_target(ADDED),
        Figure::new(MEASURE, "latency with the authorizer, median", Unit::Micros, guarded),
        Figure::new(MEASURE, "latency without, median", Unit::Micros, plain),
    ])
}

/// The median, in microseconds.
fn micros(took: Vec<Duration>) -> Result<f64> {
    let micros = took.into_iter().map(|took| took.as_secs_f64() * 1e6);
    Ok(Spread::from_values(micros).context("nothing was measured")?.median)
}
