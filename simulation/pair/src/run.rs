//! Running a scenario.

use std::io;

use tokio::runtime::Builder;
use vestibule_history::{Bounds, Figures};

use crate::{Broken, Scenario, world::World};

/// What came of a run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Invariants that did not hold, in order of time.
    pub broken: Vec<Broken>,
    /// How well.
    pub figures: Figures,
    /// The same for two runs in which the same happened.
    pub digest: u64,
    /// How many commands Redis carried out.
    pub commands: u64,
    /// The last moments, if they were asked for.
    pub trace: Vec<String>,
}

/// Runs `scenario` in virtual time, on this thread; `traced`: and keeps its last moments.
///
/// # Errors
/// When the system gives no event loop.
pub fn run(scenario: &Scenario, bounds: &Bounds, traced: bool) -> io::Result<Outcome> {
    in_virtual_time(async {
        let world = World::start(scenario, Some(bounds), traced);
        world.last(scenario.length_ms).await;
        world.end().await
    })
}

/// Runs `future` on this thread, in a time that passes only while everybody waits.
///
/// # Errors
/// When the system gives no event loop.
pub fn in_virtual_time<F: Future>(future: F) -> io::Result<F::Output> {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build()?;
    // What then still waits is dropped with the runtime.
    Ok(runtime.block_on(future))
}
