//! Many nights, each by its seed: plays them on all cores, counts what broke, makes a night in which
//! something broke small, and tells it. It prints nothing and knows no command line.

mod broken_night;
mod selection;
mod tally;
mod trace;

use std::{
    ops::Range,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Instant,
};

use vestibule_history::{Bounds, Invariant};

pub use self::{
    broken_night::BrokenNight,
    selection::{Numbers, Seeds, Selection},
    tally::Tally,
};
use crate::{Fault, FaultKind, Outcome, Scenario, Seed, Shape, run};

/// A room follows a jump of Redis's clock that is no longer than this, ms: `CLOCK_TOLERANCE_MS` in `lib/clock.lua`.
const FOLLOWED_MS: u64 = 2_000;

/// Nights by their seeds.
#[derive(Debug, Clone)]
pub struct Nights {
    /// Their seeds.
    pub seeds: Range<u64>,
    /// What they are drawn by.
    pub shape: Shape,
    /// Invariants that are not judged, by name: those of histories, and those of what Redis holds.
    pub skipped: Vec<String>,
    /// A mistake that is put into every script: what it says, and what it then does instead.
    pub defect: Option<(String, String)>,
    /// What is left of each.
    pub only: Selection,
}

// === impl Nights ===

impl Nights {
    /// How strict the judge of a night is: all of its visitors write the history, and somebody who was told an hour and
    /// had a minute was told nonsense.
    #[must_use]
    pub fn strict() -> Bounds {
        Bounds { has_all_visitors: true, most_wait_error: Some(50.0), ..Bounds::default() }
    }

    /// How strict the judge of this one is. Where some take places that nobody will use, a wait that was told
    /// in earnest may turn out to be a moment; where networks have limits, to be long. Rooms follow small jumps of
    /// Redis's clock, which add up.
    fn bounds(&self, night: &Scenario) -> Bounds {
        let of_histories = |name: &String| name.parse::<Invariant>().ok();
        let mut skipped: Vec<_> = self.skipped.iter().filter_map(of_histories).collect();
        if night.cast.has_ghosts() || night.cast.has_networks() {
            skipped.push(Invariant::Waits);
        }
        if night.faults.iter().any(|fault| fault.kind == FaultKind::LoseKey) {
            // What networks took lately expires by itself, so nobody notices if it is lost alone.
            let per_network =
                [Invariant::NetworkJoins, Invariant::NetworkPlaces, Invariant::NetworkSeats];
            skipped.extend(per_network);
        }
        let jumps = night.faults.iter().filter(|fault| fault.kind == FaultKind::Clock);
        let clock_error_ms = jumps.map(Fault::jump_ms).filter(|ms| *ms <= FOLLOWED_MS).sum();
        Bounds { skipped, clock_error_ms, ..Self::strict() }
    }

    /// The night of `seed`, without what was left out.
    #[must_use]
    pub fn scenario(&self, seed: u64) -> Scenario {
        let drawn = Scenario::draw(Seed(seed), &self.shape);
        let mut night = Scenario { defect: self.defect.clone(), ..drawn };
        self.only.select(&mut night);
        night
    }

    /// Plays a night; `traced`: and keeps its last moments.
    ///
    /// # Errors
    /// When the system gives no event loop.
    pub fn play(&self, night: &Scenario, traced: bool) -> anyhow::Result<Outcome> {
        let mut outcome = run(night, &self.bounds(night), traced)?;
        outcome.broken.retain(|broken| !self.skipped.iter().any(|name| name == broken.invariant));
        Ok(outcome)
    }

    /// Plays them on all cores until it `stops`, each in one thread. After each, what came of all until
    /// then is told.
    ///
    /// # Errors
    /// When the system gives no event loop.
    #[expect(clippy::disallowed_methods, reason = "how long it takes in reality")]
    pub fn play_all(
        &self,
        stops: &AtomicBool,
        tell: impl FnMut(&Tally) + Send,
    ) -> anyhow::Result<Tally> {
        let begun = Instant::now();
        let next = AtomicU64::new(self.seeds.start);
        let tally = Mutex::new((Tally::default(), tell));
        let play_on = || -> anyhow::Result<()> {
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= self.seeds.end || stops.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let night = self.scenario(seed);
                let outcome = self.play(&night, false)?;
                let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
                let (tally, tell) = &mut *tally;
                tally.add(seed, night.length_ms, &outcome);
                tell(tally);
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
}
