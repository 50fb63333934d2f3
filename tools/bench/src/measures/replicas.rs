//! The price of waiting for a replica: joins at two admissions over the same primary, one of which answers as soon as the
//! primary has the join, and one when its replica has it, too. They take turns, as the bare route does elsewhere.
//!
//! Everything is on one machine, so there is no network between primary and replica: a real one adds its way there and
//! back to the latency of each join.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::json;
use vestibule_tests::{Deployment, Flavor, Node, Service, eventually};

use super::Bench;
use crate::{
    driver::{self, Caller, Done, Until, latencies, median},
    programs,
    report::{Figures, Unit},
    statistics::count,
};

const ROOM: &str = "bench-replicas";
const SOON: Duration = Duration::from_secs(30);
/// Joins of a round that come one after the other, whose latency is taken.
const ALONE: usize = 300;
/// How many answers were given although too few replicas had what they say.
const SHORTFALLS: &str = "vestibule_redis_replica_shortfalls_total ";

/// The results of the rounds of one admission.
#[derive(Debug, Default)]
struct Side {
    /// Joins per second.
    rates: Vec<f64>,
    /// The median latency of a join while nobody else joins, µs.
    latencies: Vec<f64>,
}

/// Measures joins that wait for a replica, and joins that do not.
pub(crate) async fn replicas(bench: &Bench) -> Result<Figures> {
    let (primary, _replica) = primary_and_replica().await?;
    let over = |wait_replicas: &str| -> Result<_> {
        let builder = Deployment::builder()
            .over(&format!("redis://{}", primary.address()))
            .programs(programs::services(&bench.options)?)
            .log("warn")
            .environment("VESTIBULE_REDIS_WAIT_REPLICAS", wait_replicas);
        Ok(builder)
    };
    let at_once = over("0")?.start().await?;
    at_once.create_room(ROOM, &json!({ "total_active_users": 0 })).await?;
    let waiting = over("1")?.in_place_of(&at_once).controllers(0).start().await?;
    let (mut of_at_once, mut of_waiting) = <(Side, Side)>::default();
    for _ in 0..bench.options.rounds {
        of_at_once.round(bench, &at_once).await?;
        of_waiting.round(bench, &waiting).await?;
    }
    Ok(figures(&of_at_once, &of_waiting).add(
        "answers that no replica is known to have",
        Unit::Whole,
        [shortfalls(&waiting).await?],
    ))
}

fn figures(at_once: &Side, waiting: &Side) -> Figures {
    let ratios = |waiting: &[f64], at_once: &[f64]| {
        waiting.iter().zip(at_once).map(|(waiting, at_once)| waiting / at_once).collect::<Vec<_>>()
    };
    let of_rates = ratios(&waiting.rates, &at_once.rates);
    let of_latencies = ratios(&waiting.latencies, &at_once.latencies);
    Figures::of("joins that wait for a replica")
        .add("joins", Unit::PerSecond, waiting.rates.clone())
        .add("joins that wait for none", Unit::PerSecond, at_once.rates.clone())
        .add("ratio to joins that wait for none", Unit::Ratio, of_rates)
        .add("latency of one at a time, median", Unit::Micros, waiting.latencies.clone())
        .add("the same if it waits for none", Unit::Micros, at_once.latencies.clone())
        .add("ratio of these latencies", Unit::Ratio, of_latencies)
}

async fn primary_and_replica() -> Result<(Node, Node)> {
    // A snapshot that is written to disk now and then would meet one side only.
    let mut options = vec!["save \"\"".to_owned()];
    let primary = Node::start(Flavor::Installed, None, &options).await?;
    options.push(format!("replicaof 127.0.0.1 {}", primary.port()));
    let replica = Node::start(Flavor::Installed, None, &options).await?;
    eventually(SOON, "a replica that follows", || primary.has_replica(&replica)).await?;
    Ok((primary, replica))
}

async fn shortfalls(deployment: &Deployment) -> Result<f64> {
    let metrics = deployment.admin(Service::Admission, 0, "/metrics").await?.expect(200)?;
    let count = metrics.text.lines().find_map(|line| line.strip_prefix(SHORTFALLS));
    Ok(count.context("the metrics do not count shortfalls")?.parse()?)
}

// === impl Side ===

impl Side {
    async fn round(&mut self, bench: &Bench, deployment: &Deployment) -> Result<()> {
        let admission = deployment.address(Service::Admission, 0).parse()?;
        let callers = vec![Caller::joining(ROOM); bench.connections()];
        let until = Until::Elapsed(bench.options.round());
        let Done { requests, elapsed, .. } = driver::run(admission, callers, until).await?;
        self.rates.push(count(requests) / elapsed.as_secs_f64());
        let alone = latencies(admission, &mut Caller::joining(ROOM), ALONE).await?;
        self.latencies.push(median(&alone));
        Ok(())
    }
}
