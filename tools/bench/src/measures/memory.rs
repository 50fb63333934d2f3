//! Redis's memory per waiting visitor: a share of a few kilobytes, however many visitors wait.

use std::time::Duration;

use anyhow::Result;
use tokio::time::sleep;

use super::Bench;
use crate::{
    driver::Caller,
    report::{Figure, Target, Unit},
    statistics::Spread,
};

const ROOM: &str = "bench-memory";
const MEASURE: &str = "memory";
const BYTES: Target = Target::Below(1.0);
/// Longer than check-ins are batched.
const FLUSHED: Duration = Duration::from_secs(1);

/// Measures Redis's memory while very many wait.
pub(crate) async fn memory(bench: &mut Bench) -> Result<Vec<Figure>> {
    bench.make_full_room(ROOM).await?;
    let visitors = bench.options.visitors;
    let done = bench.run(Caller::joining(ROOM), visitors as usize).await?;
    sleep(FLUSHED).await;
    let pattern = format!("vestibule:room:{{{ROOM}}}:*");
    let (bytes, keys) = bench.deployment.redis.memory(&pattern).await?;
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
    let (bytes, keys) = (bytes as f64, keys as f64);
    let waiting = f64::from(visitors);
    let figure = |name, unit, value| Figure::new(MEASURE, name, unit, Spread::single(value));
    Ok(vec![
        figure("visitors who wait", Unit::Whole, waiting),
        figure("joins per second", Unit::PerSecond, waiting / done.elapsed.as_secs_f64()),
        figure("keys of the room", Unit::Whole, keys),
        figure("bytes of the room", Unit::Whole, bytes),
        figure("bytes per visitor", Unit::Number, bytes / waiting).with_target(BYTES),
    ])
}
