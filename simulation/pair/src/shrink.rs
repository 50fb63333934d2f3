//! Making a failing run small: fewer faults, fewer operations, fewer visitors, a shorter night, as long
//! as the same invariant still breaks.

use std::io;

use vestibule_history::Bounds;

use crate::{Scenario, run};

/// A scenario that was made small.
#[derive(Debug, Clone)]
pub struct Shrunk {
    /// What is left of it.
    pub scenario: Scenario,
    /// How many runs it took.
    pub runs: u32,
}

/// The most runs that are spent on one scenario.
const MOST_RUNS: u32 = 400;

/// Makes `scenario` small, in which `invariant` breaks.
///
/// # Errors
/// As [`run()`].
pub fn shrink(scenario: &Scenario, bounds: &Bounds, invariant: &str) -> io::Result<Shrunk> {
    let mut shrinking = Shrinking { bounds, invariant, runs: 0 };
    let mut small = scenario.clone();
    shrinking.shorten(&mut small)?;
    loop {
        let before = size(&small);
        shrinking.thin_out(&mut small, |scenario| &mut scenario.faults)?;
        shrinking.thin_out(&mut small, |scenario| &mut scenario.operations)?;
        shrinking.thin_out(&mut small, |scenario| &mut scenario.cast.0)?;
        shrinking.shorten(&mut small)?;
        if size(&small) == before || shrinking.runs >= MOST_RUNS {
            return Ok(Shrunk { scenario: small, runs: shrinking.runs });
        }
    }
}

struct Shrinking<'a> {
    bounds: &'a Bounds,
    invariant: &'a str,
    runs: u32,
}

// === impl Shrinking ===

impl Shrinking<'_> {
    /// Ends right after the invariant breaks.
    fn shorten(&mut self, scenario: &mut Scenario) -> io::Result<()> {
        self.runs += 1;
        let outcome = run(scenario, self.bounds, false)?;
        let broken = outcome.broken.iter().find(|broken| broken.invariant == self.invariant);
        if let Some(broken) = broken {
            scenario.length_ms =
                scenario.length_ms.min(broken.at_ms.next_multiple_of(1_000) + 1_000);
        }
        Ok(())
    }

    /// Leaves out as much of a list as possible: halves first, then smaller and smaller parts.
    fn thin_out<T: Clone>(
        &mut self,
        scenario: &mut Scenario,
        list: impl Fn(&mut Scenario) -> &mut Vec<T>,
    ) -> io::Result<()> {
        let mut part = list(scenario).len().div_ceil(2);
        while part > 0 {
            let mut from = 0;
            while from < list(scenario).len() && self.runs < MOST_RUNS {
                let mut without = scenario.clone();
                let end = (from + part).min(list(&mut without).len());
                list(&mut without).drain(from..end);
                if self.breaks(&without)? { *scenario = without } else { from = end }
            }
            part /= 2;
        }
        Ok(())
    }

    fn breaks(&mut self, scenario: &Scenario) -> io::Result<bool> {
        self.runs += 1;
        let outcome = run(scenario, self.bounds, false)?;
        Ok(outcome.broken.iter().any(|broken| broken.invariant == self.invariant))
    }
}

fn size(scenario: &Scenario) -> (usize, usize, usize, u64) {
    let Scenario { faults, operations, cast, length_ms, .. } = scenario;
    (faults.len(), operations.len(), cast.0.len(), *length_ms)
}
