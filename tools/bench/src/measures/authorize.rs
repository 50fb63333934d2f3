//! The authorizer, as a gateway calls it: for admitted visitors, which is nearly every request of a
//! site, with and without sessions that are bound, and for newcomers who enter at once.

use anyhow::Result;
use serde_json::{Value, json};

use super::{Bench, rounds::Round};
use crate::{
    driver::Caller,
    report::{Figures, Target, Unit},
};

const ROOM: &str = "bench-authorize";
const HOST: &str = "authorize.example";
const RATIO: Target = Target::AtLeast(0.6);
const BOUND_ROOM: &str = "bench-bound";
const BOUND_HOST: &str = "bound.example";
const BOUND_RATIO: Target = Target::AtLeast(0.8);
/// There should be no calls except in the background; this allows for the error of subtracting
/// those.
const CALLS_INSIDE: (&str, Target) = ("script calls per request", Target::Below(0.01));
/// One round trip, shared by newcomers who come at the same time.
const CALLS_ENTERING: Target = Target::AtMost(1.0);
/// Visitors per connection.
const EACH: usize = 4;

/// Measures visitors inside, and newcomers.
pub(crate) async fn authorize(bench: &mut Bench) -> Result<Figures> {
    bench.deployment.services.create_room(ROOM, &settings(HOST)).await?;
    let background = bench.background().await?;
    let figures = inside(bench, "authorize, visitors inside", HOST, RATIO).await?;
    let callers = vec![Caller::entering(HOST).each_from_another_network(); bench.connections()];
    let entering = bench.compare("GET", callers).await?.measured;
    let entering = Figures::of("authorize, newcomers who enter")
        .add("requests, each with a signature", Unit::PerSecond, entering.iter().map(Round::rate))
        .add("script calls per newcomer", Unit::Number, background.per_request(&entering))
        .with_target(CALLS_ENTERING);
    Ok(figures.and(entering))
}

/// Measures visitors inside whose sessions are bound to their network and browser.
pub(crate) async fn authorize_bound(bench: &mut Bench) -> Result<Figures> {
    let mut bound = settings(BOUND_HOST);
    bound["bind_sessions"] = "network_and_agent".into();
    bench.deployment.services.create_room(BOUND_ROOM, &bound).await?;
    inside(bench, "authorize, bound sessions", BOUND_HOST, BOUND_RATIO).await
}

fn settings(host: &str) -> Value {
    json!({
        "total_active_users": 2_000_000_000,
        "session_duration_seconds": 3_600,
        "routes": [{ "host": host }],
    })
}

async fn inside(
    bench: &Bench,
    measure: &'static str,
    host: &str,
    ratio: Target,
) -> Result<Figures> {
    let tickets = bench.tickets(Caller::entering(host), bench.connections() * EACH).await?;
    let callers = tickets.chunks(EACH).map(|tickets| Caller::inside(host, tickets.to_vec()));
    bench.compare_and_count(measure, callers.collect(), ratio, CALLS_INSIDE).await
}
