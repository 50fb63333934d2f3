//! The join of a newcomer who gets a number and waits, as in the first second of a sale: each from another network, all of
//! which are counted.

use anyhow::Result;

use super::{Bench, rounds::Round};
use crate::{
    driver::Caller,
    report::{Figures, Target, Unit},
};

const ROOM: &str = "bench-join";
const RATIO: Target = Target::AtLeast(0.55);
const CALLS: Target = Target::AtMost(0.2);
/// The number of connections of a busy instance.
const MANY: usize = 512;
const CALLS_OF_MANY: Target = Target::AtMost(0.03);

/// Measures joins, and how many of them share a call of Redis.
pub(crate) async fn join(bench: &mut Bench) -> Result<Figures> {
    bench.make_full_room(ROOM).await?;
    let background = bench.background().await?;
    let callers = vec![Caller::joining(ROOM).from_everywhere(); bench.connections()];
    let comparison = bench.compare("POST", callers).await?;
    let many = many(bench).await?;
    Ok(comparison
        .figures("join", RATIO)
        .add("script calls per join", Unit::Number, background.per_request(&comparison.measured))
        .with_target(CALLS)
        .add("requests, 512 connections", Unit::PerSecond, many.iter().map(Round::rate))
        .add("script calls per join, 512 connections", Unit::Number, background.per_request(&many))
        .with_target(CALLS_OF_MANY))
}

async fn many(bench: &Bench) -> Result<Vec<Round>> {
    let mut callers = vec![Caller::joining(ROOM).from_everywhere(); MANY];
    let mut rounds = Vec::new();
    for _ in 0..bench.options.rounds {
        let (round, back) = bench.round(bench.deployment.admission, callers).await?;
        callers = back;
        rounds.push(round);
    }
    Ok(rounds)
}
