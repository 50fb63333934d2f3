//! The authorizer, as a gateway calls it: for admitted visitors, which is nearly every request of a
//! site, and for newcomers who enter at once.

use anyhow::Result;
use serde_json::json;

use super::{Bench, rounds::Round};
use crate::{
    driver::Caller,
    report::{Figures, Target, Unit},
};

const ROOM: &str = "bench-authorize";
const HOST: &str = "authorize.example";
const RATIO: Target = Target::AtLeast(0.6);
/// There should be no calls except in the background; this allows for the error of subtracting
/// those.
const CALLS_INSIDE: (&str, Target) = ("script calls per request", Target::Below(0.01));
/// One round trip, shared by newcomers who come at the same time.
const CALLS_ENTERING: Target = Target::AtMost(1.0);
/// Visitors per connection.
const EACH: usize = 4;

/// Measures both.
pub(crate) async fn authorize(bench: &mut Bench) -> Result<Figures> {
    let settings = json!({
        "total_active_users": 2_000_000_000,
        "session_duration_seconds": 3_600,
        "routes": [{ "host": HOST }],
    });
    bench.deployment.services.create_room(ROOM, &settings).await?;
    let background = bench.background().await?;
    let figures = inside(bench).await?;
    let callers = vec![Caller::entering(HOST); bench.connections()];
    let entering = bench.compare("GET", callers).await?.measured;
    let entering = Figures::of("authorize, newcomers who enter")
        .add("requests, each with a signature", Unit::PerSecond, entering.iter().map(Round::rate))
        .add("script calls per newcomer", Unit::Number, background.per_request(&entering))
        .with_target(CALLS_ENTERING);
    Ok(figures.and(entering))
}

async fn inside(bench: &Bench) -> Result<Figures> {
    let measure = "authorize, visitors inside";
    let tickets = bench.tickets(Caller::entering(HOST), bench.connections() * EACH).await?;
    let callers = tickets.chunks(EACH).map(|tickets| Caller::inside(HOST, tickets.to_vec()));
    bench.compare_and_count(measure, callers.collect(), RATIO, CALLS_INSIDE).await
}
