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
    driver::{Caller, Ticket},
    report::{Figures, Target},
};

const ROOM: &str = "bench-poll";
const RATIO: Target = Target::AtLeast(0.85);
/// There should be no calls except in the background; this allows for the error of subtracting
/// those.
const CALLS: (&str, Target) = ("script calls per poll", Target::Below(0.01));

/// Visitors at the front, whose interval is a few seconds.
const IN_FRONT: usize = 64;
/// The time after which those are due.
const DUE_AFTER: Duration = Duration::from_secs(15);
/// Other visitors per connection.
const EACH: usize = 32;

/// Measures both kinds of poll.
pub(crate) async fn poll(bench: &mut Bench) -> Result<Figures> {
    bench.make_full_room(ROOM).await?;
    let connections = bench.connections();
    let front = bench.tickets(Caller::joining(ROOM), IN_FRONT).await?;
    let due = Instant::now() + DUE_AFTER;
    let others = bench.tickets(Caller::joining(ROOM), connections * EACH).await?;
    let early = others.chunks(EACH).map(|tickets| Caller::waiting(ROOM, tickets.to_vec()));
    let early = early.collect();
    let early = bench.compare_and_count("status poll, early", early, RATIO, CALLS).await?;
    sleep_until(due).await;
    let checking_in = replaying(&front, connections);
    let measure = "status poll, checking in";
    Ok(early.and(bench.compare_and_count(measure, checking_in, RATIO, CALLS).await?))
}

fn replaying(front: &[Ticket], connections: usize) -> Vec<Caller> {
    let ticket = |nth: usize| vec![front[nth % front.len()].clone()];
    (0..connections).map(|nth| Caller::replaying(ROOM, ticket(nth))).collect()
}
