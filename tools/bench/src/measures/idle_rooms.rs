//! What many rooms cost in which nothing happens: scripts per second of two services of each kind, by name, and
//! Redis's processor time; and how long they are without a leader when theirs is killed.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::time::{Instant, sleep};
use vestibule_domain::RoomSettings;

use super::{
    Bench,
    fail_over::fail_over,
    pairs::{open, pairs},
    script_times::ScriptTimes,
};
use crate::{
    machine::processor_time,
    redis_statistics::RedisStatistics,
    report::{Figures, Target, Unit},
};

/// All services together, for a thousand rooms.
const SCRIPTS: Target = Target::Below(300.0);
/// How long after the last change nothing of it is to be seen any more: the minute in which the rooms were made is over, and
/// closed in all of them.
const SETTLING: Duration = Duration::from_secs(72);
/// How long is looked, and how often what Redis has noted is taken before it forgets.
const LOOKS: u32 = 10;
const LOOK: Duration = Duration::from_secs(2);
/// Scripts that take so long are told by name, µs; single commands take less.
const NOTED: usize = 50;

/// Measures two controllers and two admissions with so many idle rooms as the options say.
pub(crate) async fn idle_rooms(bench: &Bench) -> Result<Figures> {
    let mut services = pairs(&bench.options)?.start().await?;
    let rooms: Vec<_> = (0..bench.options.rooms).map(|nth| format!("idle-{nth}")).collect();
    let settings = RoomSettings {
        total_active_users: Some(100),
        new_users_per_minute: Some(100),
        ..RoomSettings::default()
    };
    open(&rooms, settings, &services.redis().url()).await?;
    sleep(SETTLING).await;
    let redis = services.redis().process_id().context("Redis is no process of this machine")?;
    let statistics = RedisStatistics::new(services.redis().connection().await?);
    let (begun, before) = (Instant::now(), processor_time(redis));
    let calls = statistics.script_calls().await?;
    let mut times = ScriptTimes::note(services.redis().connection().await?, NOTED).await?;
    for _ in 0..LOOKS {
        sleep(LOOK).await;
        times.read().await?;
    }
    let seconds = begun.elapsed().as_secs_f64();
    let used =
        processor_time(redis).zip(before).map(|(after, before)| after.saturating_sub(before));
    let calls = u32::try_from(statistics.script_calls().await? - calls)?;
    let mut figures = Figures::of("idle rooms")
        .add("rooms", Unit::Whole, [f64::from(bench.options.rooms)])
        .add("scripts per second", Unit::PerSecond, [f64::from(calls) / seconds])
        .with_target(SCRIPTS)
        .add("processors of Redis", Unit::Number, used.map(|used| used.as_secs_f64() / seconds));
    for (script, summary) in times.by_script() {
        figures = figures.add(script, Unit::PerSecond, [f64::from(summary.calls) / seconds]);
    }
    Ok(fail_over(&mut services, &rooms).await?.add_to(figures))
}
