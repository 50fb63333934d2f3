//! The status poll of a waiting visitor, the most frequent request of a sale.
//!
//! There are two kinds. A visitor who polls early gets the same ticket back. A visitor who polls
//! when it is due is counted as present and gets a new ticket. The second kind is measured by
//! sending the same due ticket repeatedly, which the service cannot distinguish from the first
//! time.

use std::time::Duration;

use anyhow::Result;
use tokio::time::{Instant, sleep_until};

use super::Bench;
use crate::{
    driver::{Ticket, Waiting},
    report::{Figure, Target, Unit},
};

const ROOM: &str = "bench-poll";
const RATIO: Target = Target::AtLeast(0.85);
/// There should be no calls except in the background; this allows for the error of subtracting
/// those.
const CALLS: Target = Target::Below(0.01);

/// Visitors at the front, whose interval is a few seconds.
const IN_FRONT: usize = 64;
/// The time after which those are due.
const DUE_AFTER: Duration = Duration::from_secs(15);
/// Other visitors per connection.
const EACH: usize = 32;

/// Measures both kinds of poll.
pub(crate) async fn poll(bench: &mut Bench) -> Result<Vec<Figure>> {
    bench.make_full_room(ROOM).await?;
    let connections = bench.connections();
    let front = bench.fill(ROOM, IN_FRONT).await?;
    let due = Instant::now() + DUE_AFTER;
    let others = bench.fill(ROOM, connections * EACH).await?;
    let early = others.chunks(EACH).map(|tickets| Waiting::new(ROOM, tickets.to_vec()));
    let mut figures = one(bench, "status poll, early", early.collect()).await?;
    sleep_until(due).await;
    let checking_in = replaying(&front, connections);
    figures.extend(one(bench, "status poll, checking in", checking_in).await?);
    Ok(figures)
}

fn replaying(front: &[Ticket], connections: usize) -> Vec<Waiting> {
    let caller = |nth: usize| Waiting::replaying(ROOM, vec![front[nth % front.len()].clone()]);
    (0..connections).map(caller).collect()
}

async fn one(bench: &Bench, measure: &'static str, callers: Vec<Waiting>) -> Result<Vec<Figure>> {
    let background = bench.background().await?;
    let comparison = bench.compare("GET", callers).await?;
    let mut figures = comparison.figures(measure, RATIO)?;
    let calls = comparison.spread(|round| round.calls_per_request(background))?;
    let calls = Figure::new(measure, "script calls per poll", Unit::Number, calls);
    figures.push(calls.with_target(CALLS));
    Ok(figures)
}
