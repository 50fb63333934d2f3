//! The join of a newcomer who gets a number and waits, as in the first second of a sale.

use anyhow::Result;

use super::{
    Bench,
    comparison::spread,
    rounds::{Background, Round},
};
use crate::{
    driver::Caller,
    report::{Figure, Target, Unit},
};

const ROOM: &str = "bench-join";
const MEASURE: &str = "join";
const RATIO: Target = Target::AtLeast(0.55);
const CALLS: Target = Target::AtMost(0.2);
/// The number of connections of a busy instance.
const MANY: usize = 512;
const CALLS_OF_MANY: Target = Target::AtMost(0.03);

/// Measures joins, and how many of them share a call of Redis.
pub(crate) async fn join(bench: &mut Bench) -> Result<Vec<Figure>> {
    bench.make_full_room(ROOM).await?;
    let background = bench.background().await?;
    let callers = vec![Caller::joining(ROOM); bench.connections()];
    let comparison = bench.compare("POST", callers).await?;
    let mut figures = comparison.figures(MEASURE, RATIO)?;
    figures.push(calls("script calls per join", &comparison.measured, background, CALLS)?);
    let many = many(bench).await?;
    let rate = spread(many.iter().map(Round::rate))?;
    figures.push(Figure::new(MEASURE, "requests, 512 connections", Unit::PerSecond, rate));
    let name = "script calls per join, 512 connections";
    figures.push(calls(name, &many, background, CALLS_OF_MANY)?);
    Ok(figures)
}

async fn many(bench: &Bench) -> Result<Vec<Round>> {
    let mut callers = vec![Caller::joining(ROOM); MANY];
    let mut rounds = Vec::new();
    for _ in 0..bench.options.rounds {
        let (round, back) = bench.round(bench.deployment.admission, callers).await?;
        callers = back;
        rounds.push(round);
    }
    Ok(rounds)
}

fn calls(
    name: &'static str,
    rounds: &[Round],
    background: Background,
    target: Target,
) -> Result<Figure> {
    let calls = spread(rounds.iter().map(|round| round.calls_per_request(background)))?;
    Ok(Figure::new(MEASURE, name, Unit::Number, calls).with_target(target))
}
