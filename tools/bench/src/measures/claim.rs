//! The first claim of a served visitor, with its RS256 token, compared with signing alone.

use std::time::Duration;

use anyhow::Result;

use super::{
    Bench,
    comparison::{MEASURED, costs, spread},
    rounds::Round,
    signing::{RawSigner, Signed},
};
use crate::{
    driver::{Caller, Ticket},
    report::{Figure, Target, Unit},
    statistics::Spread,
};

const ROOM: &str = "bench-claim";
const MEASURE: &str = "claim";
const RATIO: Target = Target::AtLeast(0.9);
/// Newcomers of a round, per signature that can be made in it: more than are needed.
const RESERVE: f64 = 1.5;
const TURN_WITHIN: Duration = Duration::from_secs(10);

/// Measures claims.
pub(crate) async fn claim(bench: &mut Bench) -> Result<Vec<Figure>> {
    bench.make_operated_room(ROOM).await?;
    let signer = RawSigner::generate()?;
    let (mut raw, mut claims) = (Vec::new(), Vec::new());
    for _ in 0..bench.options.rounds {
        let alone = signer.run(bench.options.round()).await?;
        let tickets = served_visitors(bench, visitors_needed(bench, alone.rate)).await?;
        let callers = vec![Caller::claiming(ROOM, tickets); bench.connections()];
        let (round, _) = bench.round(bench.deployment.admission, callers).await?;
        raw.push(alone);
        claims.push(round);
    }
    figures(&raw, &claims)
}

fn figures(raw: &[Signed], claims: &[Round]) -> Result<Vec<Figure>> {
    let pairs = || claims.iter().zip(raw);
    let ratio = spread(pairs().map(|(claims, raw)| claims.rate() / raw.rate))?;
    let by_time = pairs().filter_map(|(claims, raw)| Some(raw.micros? / claims.micros_of_all()?));
    let figure = |name, unit, spread| Figure::new(MEASURE, name, unit, spread);
    let mut figures = vec![
        figure("claims", Unit::PerSecond, spread(claims.iter().map(Round::rate))?),
        figure("signing alone", Unit::PerSecond, spread(raw.iter().map(|raw| raw.rate))?),
        figure("ratio to signing alone", Unit::Ratio, ratio).with_target(RATIO),
    ];
    let by_time = Spread::from_values(by_time);
    figures.extend(by_time.map(|s| figure("the same by processor time", Unit::Ratio, s)));
    let alone = Spread::from_values(raw.iter().filter_map(|raw| raw.micros));
    figures.extend(alone.map(|s| figure("processor time of signing alone", Unit::Micros, s)));
    figures.extend(costs(MEASURE, claims, &MEASURED));
    Ok(figures)
}

fn visitors_needed(bench: &Bench, rate: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive count")]
    let needed = (rate * bench.options.round().as_secs_f64() * RESERVE) as usize;
    needed + bench.connections()
}

/// The tickets of `count` newcomers whose turn it is.
async fn served_visitors(bench: &Bench, count: usize) -> Result<Vec<Ticket>> {
    let tickets = bench.fill(ROOM, count).await?;
    bench.deployment.services.aws(ROOM).increment(i64::try_from(count)?).await?;
    // Everyone was let through at once, so the first ticket is enough.
    let first = String::from_utf8(tickets[0].clone())?;
    let mut visitor = bench.deployment.services.visitor(ROOM).with_ticket(first);
    visitor.sees("your_turn", TURN_WITHIN).await?;
    Ok(tickets)
}
