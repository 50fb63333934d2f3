//! The join of a newcomer who gets a number and waits, as in the first second of a sale: where nothing is said of networks,
//! and where each comes from another one, all of which are counted.

use anyhow::Result;

use super::{Bench, rounds::Round};
use crate::{
    driver::Caller,
    report::{Figures, Target, Unit},
};

const ROOM: &str = "bench-join";
const COUNTED_ROOM: &str = "bench-join-counted";
const RATIO: Target = Target::AtLeast(0.55);
const CALLS: Target = Target::AtMost(0.2);
/// The number of connections of a busy instance.
const MANY: usize = 512;
const CALLS_OF_MANY: Target = Target::AtMost(0.03);

/// Measures joins, and how many of them share a call of Redis.
pub(crate) async fn join(bench: &mut Bench) -> Result<Figures> {
    let unsaid = joins(bench, "join", ROOM, &Caller::joining(ROOM)).await?;
    let counted = Caller::joining(COUNTED_ROOM).each_from_another_network();
    Ok(unsaid.and(joins(bench, "join, each from another network", COUNTED_ROOM, &counted).await?))
}

async fn joins(
    bench: &mut Bench,
    measure: &'static str,
    room: &str,
    newcomer: &Caller,
) -> Result<Figures> {
    bench.make_full_room(room).await?;
    let background = bench.background().await?;
    let callers = vec![newcomer.clone(); bench.connections()];
    let comparison = bench.compare("POST", callers).await?;
    let many = many(bench, newcomer).await?;
    Ok(comparison
        .figures(measure, RATIO)
        .add("script calls per join", Unit::Number, background.per_request(&comparison.measured))
        .with_target(CALLS)
        .add("requests, 512 connections", Unit::PerSecond, many.iter().map(Round::rate))
        .add("script calls per join, 512 connections", Unit::Number, background.per_request(&many))
        .with_target(CALLS_OF_MANY))
}

async fn many(bench: &Bench, newcomer: &Caller) -> Result<Vec<Round>> {
    let mut callers = vec![newcomer.clone(); MANY];
    let mut rounds = Vec::new();
    for _ in 0..bench.options.rounds {
        let (round, back) = bench.round(bench.deployment.admission, callers).await?;
        callers = back;
        rounds.push(round);
    }
    Ok(rounds)
}
