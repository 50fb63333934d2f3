//! What a very long line costs: the slowest call of each script while a million wait, and Redis's memory after
//! every one of them has checked in.
//!
//! The scripts are called as the services call them, on a Redis of their own whose slow log notes every call.

mod crowd;
mod script_times;

use anyhow::Result;
use vestibule_tests::{Flavor, Redis};

use self::{crowd::Crowd, script_times::ScriptTimes};
use super::Bench;
use crate::{
    redis_statistics::RedisStatistics,
    report::{Figures, Target, Unit},
};

/// While a script runs, nobody else is answered: 5 ms.
const SLOWEST: Target = Target::Below(5_000.0);
const BYTES: Target = Target::Below(1.0);

/// Measures a line of so many visitors as the options say.
pub(crate) async fn long_line(bench: &Bench) -> Result<Figures> {
    let visitors = u64::from(bench.options.visitors);
    let redis = Redis::start(Flavor::Installed).await?;
    let mut times = ScriptTimes::note(redis.connection().await?).await?;
    let mut crowd = Crowd::over(&redis, visitors).await?;
    crowd.joins(&mut times).await?;
    crowd.checks_in(&mut times).await?;
    let statistics = RedisStatistics::new(redis.connection().await?);
    let (bytes, _) = statistics.memory("vestibule:room:*").await?;
    crowd.is_let_in(&mut times).await?;
    crowd.is_reset(&mut times).await?;
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
    let (bytes, waiting) = (bytes as f64, visitors as f64);
    let mut figures = Figures::of("long line")
        .add("visitors who wait", Unit::Whole, [waiting])
        .add("bytes per visitor who has checked in", Unit::Number, [bytes / waiting])
        .with_target(BYTES);
    for (script, times) in times.by_script() {
        figures = figures
            .add(format!("{script}, median"), Unit::Micros, [times.median])
            .add(format!("{script}, slowest"), Unit::Micros, [times.slowest])
            .with_target(SLOWEST);
    }
    Ok(figures)
}
