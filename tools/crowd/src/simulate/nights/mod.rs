//! The judge on the command line: many short nights, each with rooms, visitors, operators and faults by its
//! seed, on all cores. The first night in which something broke is made small and told.

mod failure;
mod night;
mod options;
mod tally;
mod trace;

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Instant,
};

use serde_json::json;
use tokio::task::spawn_blocking;

pub(crate) use self::options::NightsOptions;
use self::{failure::Failure, night::Nights, tally::Tally};
use super::stop::Stop;
use crate::{
    crowd::{CrowdOptions, number::real64},
    progress::Progress,
};

/// Judges the nights that were asked for, and says whether nothing broke.
///
/// # Errors
/// When the system gives no event loop.
pub(super) async fn run(
    options: &NightsOptions,
    crowd: &CrowdOptions,
    as_json: bool,
) -> anyhow::Result<bool> {
    let mut stop = Stop::listen()?;
    let nights = Arc::new(Nights::new(options, crowd));
    let stops = Arc::new(AtomicBool::new(false));
    let (playing, heard) = (Arc::clone(&nights), Arc::clone(&stops));
    let mut playing = spawn_blocking(move || play_all(&playing, &heard));
    let tally = tokio::select! {
        tally = &mut playing => tally??,
        () = stop.asked() => {
            stops.store(true, Ordering::Relaxed);
            playing.await??
        }
    };
    let shown = options.trace;
    let failure = match tally.first_broken() {
        Some(seed) => spawn_blocking(move || Failure::find(&nights, seed, shown)).await??,
        None => None,
    };
    if as_json {
        println!("{:#}", json!({ "summary": tally, "failure": failure }));
    } else {
        print!("{}{}", failure.map(|failure| failure.text()).unwrap_or_default(), tally.text());
    }
    Ok(tally.broken.is_empty())
}

/// Plays them on all cores: a night is played by one thread.
#[expect(clippy::disallowed_methods, reason = "how long it takes in reality")]
fn play_all(nights: &Nights, stops: &AtomicBool) -> anyhow::Result<Tally> {
    let begun = Instant::now();
    let next = AtomicU64::new(nights.seeds.start);
    let tally = Mutex::new((Tally::default(), Progress::new()));
    let play_on = || -> anyhow::Result<()> {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= nights.seeds.end || stops.load(Ordering::Relaxed) {
                return Ok(());
            }
            let night = nights.scenario(seed);
            let outcome = nights.play(&night, false)?;
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            let (tally, progress) = &mut *tally;
            tally.add(seed, night.length_ms, &outcome);
            let all = nights.seeds.end - nights.seeds.start;
            progress.show(|| (real64(tally.nights) / real64(all), tally.sentence(all)));
        }
    };
    thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(play_on)).collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })?;
    let (mut tally, _) = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    tally.real_seconds = begun.elapsed().as_secs_f64();
    Ok(tally)
}
