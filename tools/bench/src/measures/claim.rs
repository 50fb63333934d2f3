//! The first claim of a served visitor, with its RS256 token, compared with signing alone.

use std::time::Duration;

use anyhow::Result;

use super::{
    Bench,
    comparison::{MEASURED, with_costs},
    rounds::Round,
    signing::{RawSigner, Signed},
};
use crate::{
    driver::{Caller, Ticket},
    report::{Figures, Target, Unit},
    statistics::count,
};

const ROOM: &str = "bench-claim";
const RATIO: Target = Target::AtLeast(0.9);
/// Of the processor time of a raw signature: admission's and Redis's together.
const TIME: Target = Target::AtMost(1.4);
/// Of the processor time of a raw signature by ES256, one by RS256.
const ES256: Target = Target::AtLeast(5.0);
/// Newcomers of a round, per signature that can be made in it: more than are needed.
const RESERVE: f64 = 1.5;
const TURN_WITHIN: Duration = Duration::from_secs(10);

/// Measures claims.
pub(crate) async fn claim(bench: &mut Bench) -> Result<Figures> {
    bench.make_operated_room(ROOM).await?;
    let (signer, on_a_curve) = (RawSigner::rs256()?, RawSigner::es256()?);
    let (mut raw, mut curve, mut claims) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..bench.options.rounds {
        curve.push(on_a_curve.run(bench.options.round()).await?);
        let alone = signer.run(bench.options.round()).await?;
        let tickets = served_visitors(bench, visitors_needed(bench, alone.rate)).await?;
        let callers = vec![Caller::claiming(ROOM, tickets); bench.connections()];
        let (round, _) = bench.round(bench.deployment.admission, callers).await?;
        raw.push(alone);
        claims.push(round);
    }
    let sessions: u64 = claims.iter().map(|round| round.requests).sum();
    let pattern = format!("vestibule:room:{{{ROOM}}}:*");
    let (bytes, _) = bench.deployment.redis.memory(&pattern).await?;
    let figures = figures(&raw, &curve, &claims);
    Ok(figures.add("bytes of Redis per session", Unit::Number, [count(bytes) / count(sessions)]))
}

fn figures(raw: &[Signed], curve: &[Signed], claims: &[Round]) -> Figures {
    let pairs = || claims.iter().zip(raw);
    let by_time = |(claims, raw): (&Round, &Signed)| Some(raw.micros? / claims.micros_of_all()?);
    let of_signature = |(claims, raw): (&Round, &Signed)| {
        Some(claims.micros(Some(claims.service? + claims.redis?))? / raw.micros?)
    };
    let of_curve = |(raw, curve): (&Signed, &Signed)| Some(raw.micros? / curve.micros?);
    let figures = Figures::of("claim")
        .add("claims", Unit::PerSecond, claims.iter().map(Round::rate))
        .add("signing alone", Unit::PerSecond, raw.iter().map(|raw| raw.rate))
        .add(
            "ratio to signing alone",
            Unit::Ratio,
            pairs().map(|(claims, raw)| claims.rate() / raw.rate),
        )
        .with_target(RATIO)
        .add("the same by processor time", Unit::Ratio, pairs().filter_map(by_time))
        .add(
            "admission and Redis, of a raw signature's",
            Unit::Ratio,
            pairs().filter_map(of_signature),
        )
        .with_target(TIME)
        .add(
            "processor time of signing alone",
            Unit::Micros,
            raw.iter().filter_map(|raw| raw.micros),
        )
        .add("the same by ES256", Unit::Micros, curve.iter().filter_map(|curve| curve.micros))
        .add(
            "RS256's processor time, of ES256's",
            Unit::Ratio,
            raw.iter().zip(curve).filter_map(of_curve),
        )
        .with_target(ES256);
    with_costs(figures, claims, &MEASURED)
}

fn visitors_needed(bench: &Bench, rate: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive count")]
    let needed = (rate * bench.options.round().as_secs_f64() * RESERVE) as usize;
    needed + bench.connections()
}

/// The tickets of `count` newcomers whose turn it is.
async fn served_visitors(bench: &Bench, count: usize) -> Result<Vec<Ticket>> {
    let tickets = bench.tickets(Caller::joining(ROOM), count).await?;
    bench.deployment.services.aws(ROOM).increment(i64::try_from(count)?).await?;
    // Everyone was let through at once, so the first ticket is enough.
    let first = String::from_utf8(tickets[0].clone())?;
    let mut visitor = bench.deployment.services.visitor(ROOM).with_ticket(first);
    visitor.sees("your_turn", TURN_WITHIN).await?;
    Ok(tickets)
}
