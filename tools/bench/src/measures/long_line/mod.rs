//! What a very long line costs: the slowest call of each script while a million wait, Redis's memory after every
//! one of them has checked in, and the lengths of the snapshots that are pushed.
//!
//! The scripts are called as the services call them, on a Redis of their own whose slow log notes every call.

mod crowd;
mod pushes;

use anyhow::Result;
use vestibule_tests::{Flavor, Redis};

use self::{
    crowd::{Crowd, ROUNDS},
    pushes::Pushes,
};
use super::{
    Bench,
    memory::{ANSWERS, LASTING},
    script_times::ScriptTimes,
};
use crate::{
    redis_statistics::RedisStatistics,
    report::{Figures, Target, Unit},
};

const BYTES: Target = Target::Below(1.0);

/// Measures a line of so many visitors as the options say.
pub(crate) async fn long_line(bench: &Bench) -> Result<Figures> {
    let visitors = u64::from(bench.options.visitors);
    let redis = Redis::start(Flavor::Installed).await?;
    let mut times = ScriptTimes::note(redis.connection().await?, 0).await?;
    let mut crowd = Crowd::over(&redis, visitors).await?;
    crowd.joins(&mut times).await?;
    crowd.checks_in(&mut times).await?;
    let statistics = RedisStatistics::new(redis.connection().await?);
    let (bytes, _) = statistics.memory("vestibule:room:*").await?;
    let lasting = bytes - statistics.memory(&format!("vestibule:room:*{ANSWERS}")).await?.0;
    let pushes = Pushes::from(&redis).await?;
    crowd.is_let_in(&mut times).await?;
    crowd.is_reset(&mut times).await?;
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
    let (bytes, lasting, waiting) = (bytes as f64, lasting as f64, visitors as f64);
    let figures = Figures::of("long line")
        .add("visitors who wait", Unit::Whole, [waiting])
        .add("bytes per visitor who has checked in", Unit::Number, [bytes / waiting])
        .with_target(BYTES)
        .add(LASTING, Unit::Number, [lasting / waiting]);
    // One is pushed with each tick.
    let figures = pushes.add_to(ROUNDS, figures).await?;
    Ok(times.add_to(figures))
}
