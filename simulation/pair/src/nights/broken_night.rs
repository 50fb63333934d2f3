//! A night in which something broke, made small and told: what broke, what is left of the night, and its
//! last moments.

use std::fmt;

use serde::Serialize;

use super::{Nights, Selection, trace};
use crate::{Broken, Operation, RoomPlan, Scenario, shrink};

/// A night in which something broke.
#[derive(Debug, Serialize)]
pub struct BrokenNight {
    /// Its seed.
    pub seed: u64,
    invariant: &'static str,
    /// When it broke, ms of virtual time.
    at_ms: u64,
    /// What is wrong, with its evidence.
    what: String,
    /// How many nights it took to make it small.
    runs: u32,
    /// The same for every time that it is played.
    pub digest: String,
    length_ms: u64,
    services: (usize, usize),
    rooms: Vec<String>,
    faults: Vec<String>,
    operations: Vec<String>,
    visitors: Vec<String>,
    trace: Vec<String>,
    /// What is left of the night.
    #[serde(skip)]
    pub only: Selection,
}

// === impl BrokenNight ===

impl BrokenNight {
    /// The first invariant that broke in the night of `seed`, in a night as small as possible, unless
    /// parts of it were left out by hand. `all`: with everything that was kept of its last moments.
    ///
    /// # Errors
    /// When the system gives no event loop.
    pub fn find(nights: &Nights, seed: u64, all: bool) -> anyhow::Result<Option<Self>> {
        let whole = nights.scenario(seed);
        let Some(first) = nights.play(&whole, false)?.broken.into_iter().next() else {
            return Ok(None);
        };
        let (night, runs) = if nights.only == Selection::default() {
            let shrunk = shrink(&whole, &nights.bounds(&whole), first.invariant)?;
            (shrunk.scenario, shrunk.runs)
        } else {
            (whole, 0)
        };
        let outcome = nights.play(&night, true)?;
        let broken = outcome.broken.into_iter().find(|one| one.invariant == first.invariant);
        let broken = broken.unwrap_or(first);
        let trace = if all { outcome.trace } else { trace::readable(&outcome.trace, &broken) };
        let drawn = Scenario::draw(night.seed, &nights.shape);
        let only = Selection::between(&drawn, &night);
        let digest = format!("{:016x}", outcome.digest);
        Ok(Some(Self { runs, digest, trace, only, ..Self::new(&night, broken) }))
    }

    fn new(night: &Scenario, broken: Broken) -> Self {
        let Broken { at_ms, invariant, what } = broken;
        let room = |room: &RoomPlan| format!("{} {}", room.name, room.settings);
        Self {
            seed: night.seed.0,
            invariant,
            at_ms,
            what,
            runs: 0,
            digest: String::new(),
            length_ms: night.length_ms,
            services: night.services,
            rooms: night.rooms.iter().map(room).collect(),
            faults: night.faults.iter().map(|one| format!("{} ms: {one}", one.at_ms)).collect(),
            operations: night.operations.iter().map(operation).collect(),
            visitors: night.cast.0.iter().map(ToString::to_string).collect(),
            trace: Vec::new(),
            only: Selection::default(),
        }
    }
}

impl fmt::Display for BrokenNight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, invariant, at_ms, runs, digest, length_ms, .. } = self;
        let (admissions, controllers) = self.services;
        writeln!(
            f,
            "Seed {seed}: {invariant} breaks after {at_ms} ms\n\n{}\n",
            self.what.trim_end()
        )?;
        writeln!(
            f,
            "The night, made small in {runs} runs: {length_ms} ms, {admissions} admissions, \
             {controllers} controllers (digest {digest})"
        )?;
        for line in
            [&self.rooms, &self.faults, &self.operations, &self.visitors].into_iter().flatten()
        {
            writeln!(f, "  {line}")?;
        }
        writeln!(f, "\nIts last moments:")?;
        self.trace.iter().try_for_each(|line| writeln!(f, "  {line}"))
    }
}

fn operation(operation: &Operation) -> String {
    let Operation { number, at_ms, room, what } = operation;
    format!("{at_ms} ms: operation {number} in room {room}: {what:?}")
}
