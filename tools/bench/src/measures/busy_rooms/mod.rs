//! What many rooms cost in which something happens all the time: scripts per second, processor time of everything,
//! whether rooms are ticked in time, and how long newcomers wait for their answers. Then the leader is killed while all
//! of this goes on.
//!
//! In every room as many are inside as may be, and one or two wait; somebody comes every few seconds. So no room
//! rests, and the load on each is light: what is measured is the price of rooms, not of visitors.

mod pushes;
mod usage;

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::time::sleep;
use vestibule_domain::RoomSettings;
use vestibule_tests::Deployment;

use self::{pushes::Pushes, usage::Usage};
use super::{
    Bench,
    fail_over::fail_over,
    pairs::{admissions, open, pairs},
    script_times::ScriptTimes,
};
use crate::{
    driver::{Habits, Seen, Visitors},
    report::{Figures, Unit},
    statistics::{count, quantile},
};

const SEATS: u64 = 2;
const HABITS: Habits =
    Habits { of_a_room: 4, stay: Duration::from_secs(6), away: Duration::from_secs(1) };
/// Until everybody has come, and rooms have found their pace.
const SETTLING: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_secs(10);
/// How often scripts are asked for by name, and for how long each time: telling of so many keeps Redis busy.
const NAMINGS: u32 = 4;
const NAMING: Duration = Duration::from_millis(500);
/// Scripts that take so long are told by name, µs; single commands take less.
const NOTED: usize = 50;
/// How many scripts are told.
const TOP: usize = 6;

/// Measures two controllers and two admissions with so many busy rooms as the options say.
pub(crate) async fn busy_rooms(bench: &Bench) -> Result<Figures> {
    let mut services = pairs(&bench.options)?.start().await?;
    let rooms: Vec<_> = (0..bench.options.rooms).map(|nth| format!("busy-{nth}")).collect();
    let settings = RoomSettings { total_active_users: Some(SEATS), ..RoomSettings::default() };
    open(&rooms, settings, &services.redis().url()).await?;
    let admissions = admissions(&services)?;
    let visitors = Visitors::come(admissions, &rooms, HABITS);
    sleep(SETTLING).await;
    visitors.take();
    let before = Usage::now(&services).await?;
    sleep(LOOK).await;
    let (used, seen) = (Usage::now(&services).await?.since(&before), visitors.take());
    let figures = Figures::of("busy rooms")
        .add("rooms", Unit::Whole, [f64::from(bench.options.rooms)])
        .add("visitors", Unit::Whole, [f64::from(bench.options.rooms * HABITS.of_a_room)]);
    let figures = of_visitors(used.add_to(figures, bench.options.rooms), &seen, used.seconds());
    let figures = Pushes::watch(services.redis()).await?.add_to(figures);
    let figures = by_name(&services, figures).await?;
    let figures = fail_over(&mut services, &rooms).await?.add_to(figures);
    visitors.stop()?;
    Ok(figures)
}

/// The figures of what visitors saw.
fn of_visitors(figures: Figures, seen: &Seen, seconds: f64) -> Figures {
    let mut joins: Vec<_> = seen.joins.iter().map(|took| took.as_secs_f64() * 1e6).collect();
    joins.sort_unstable_by(f64::total_cmp);
    let per_second = |count: u32| [f64::from(count) / seconds];
    figures
        .add("joins answered", Unit::PerSecond, [count(joins.len() as u64) / seconds])
        .add("visitors who entered", Unit::PerSecond, per_second(seen.entered))
        .add("answers to calls of all kinds", Unit::PerSecond, per_second(seen.answers))
        .add("calls that were to be made again", Unit::PerSecond, per_second(seen.failed))
        .add("latency of a join, median", Unit::Micros, quantile(&joins, 0.5))
        .add("latency of a join, 99th percentile", Unit::Micros, quantile(&joins, 0.99))
}

/// `figures` with the scripts that are called most often.
async fn by_name(services: &Deployment, mut figures: Figures) -> Result<Figures> {
    let mut times = ScriptTimes::note(services.redis().connection().await?, NOTED).await?;
    for _ in 0..NAMINGS {
        times.skip().await?;
        sleep(NAMING).await;
        times.read().await.context("the scripts by name")?;
    }
    let seconds = (NAMING * NAMINGS).as_secs_f64();
    let mut scripts: Vec<_> = times.by_script().collect();
    scripts.sort_unstable_by_key(|(_, summary)| std::cmp::Reverse(summary.calls));
    for (script, summary) in scripts.into_iter().take(TOP) {
        figures = figures.add(script, Unit::PerSecond, [f64::from(summary.calls) / seconds]).add(
            format!("{script}, median"),
            Unit::Micros,
            [summary.median],
        );
    }
    Ok(figures)
}
