//! Redis's memory per waiting visitor: a share of a few kilobytes, however many visitors wait.

use std::time::Duration;

use anyhow::Result;
use tokio::time::sleep;

use super::Bench;
use crate::{
    driver::Caller,
    report::{Figures, Target, Unit},
};

const ROOM: &str = "bench-memory";
const BYTES: Target = Target::Below(1.0);
/// What the names of keys end with that hold what a call was answered, for a minute.
pub(super) const ANSWERS: &str = "calls:[0-9]*";
/// What stays of a visitor who waits for longer than that.
pub(super) const LASTING: &str = "the same without answers, which are kept for a minute";
/// Longer than check-ins are batched.
const FLUSHED: Duration = Duration::from_secs(1);

/// Measures Redis's memory while very many wait.
pub(crate) async fn memory(bench: &mut Bench) -> Result<Figures> {
    bench.make_full_room(ROOM).await?;
    let visitors = bench.options.visitors;
    let done = bench.run(Caller::joining(ROOM), visitors as usize).await?;
    sleep(FLUSHED).await;
    let pattern = format!("vestibule:room:{{{ROOM}}}:*");
    let redis = &bench.deployment.redis;
    let (bytes, keys) = redis.memory(&pattern).await?;
    let lasting = bytes - redis.memory(&format!("{pattern}{ANSWERS}")).await?.0;
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
    let (bytes, lasting, keys) = (bytes as f64, lasting as f64, keys as f64);
    let waiting = f64::from(visitors);
    Ok(Figures::of("memory")
        .add("visitors who wait", Unit::Whole, [waiting])
        .add("joins per second", Unit::PerSecond, [waiting / done.elapsed.as_secs_f64()])
        .add("keys of the room", Unit::Whole, [keys])
        .add("bytes of the room", Unit::Whole, [bytes])
        .add("bytes per visitor", Unit::Number, [bytes / waiting])
        .with_target(BYTES)
        .add(LASTING, Unit::Number, [lasting / waiting]))
}
