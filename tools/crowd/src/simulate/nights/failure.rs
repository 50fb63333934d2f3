//! A night in which something broke, made small and told: what broke, what is left of the night, its last
//! moments, and how to play it again.

use std::fmt::Write;

use serde::Serialize;
use vestibule_simulation::{Broken, Operation, Scenario, shrink};

use super::{night::Nights, options::Shown, trace};

/// A night in which something broke.
#[derive(Debug, Serialize)]
pub(super) struct Failure {
    seed: u64,
    invariant: &'static str,
    /// When it broke, ms of virtual time.
    at_ms: u64,
    /// What is wrong, with its evidence.
    what: String,
    /// How many nights it took to make it small.
    runs: u32,
    /// The same for every time that it is played.
    digest: String,
    /// How to play it again.
    command_line: String,
    length_ms: u64,
    services: (usize, usize),
    rooms: Vec<String>,
    faults: Vec<String>,
    operations: Vec<String>,
    visitors: Vec<String>,
    trace: Vec<String>,
}

// === impl Failure ===

impl Failure {
    /// The first invariant that broke in the night of `seed`, in a night as small as possible.
    ///
    /// # Errors
    /// When the system gives no event loop, or the night is not the same twice.
    pub(super) fn find(nights: &Nights, seed: u64, shown: Shown) -> anyhow::Result<Option<Self>> {
        let whole = nights.scenario(seed);
        let Some(first) = nights.play(&whole, false)?.broken.into_iter().next() else {
            return Ok(None);
        };
        let (night, runs) = if nights.shrinks() {
            let shrunk = shrink(&whole, &nights.bounds, first.invariant)?;
            (shrunk.scenario, shrunk.runs)
        } else {
            (whole, 0)
        };
        let outcome = nights.play(&night, true)?;
        let broken = outcome.broken.into_iter().find(|one| one.invariant == first.invariant);
        let broken = broken.unwrap_or(first);
        let trace = trace::readable(&outcome.trace, &broken, shown);
        Ok(Some(Self::new(nights, &night, broken, runs, outcome.digest, trace)))
    }

    fn new(
        nights: &Nights,
        night: &Scenario,
        broken: Broken,
        runs: u32,
        digest: u64,
        trace: Vec<String>,
    ) -> Self {
        let Broken { at_ms, invariant, what } = broken;
        let room =
            |room: &vestibule_simulation::RoomPlan| format!("{} {}", room.name, room.settings);
        Self {
            seed: night.seed.0,
            invariant,
            at_ms,
            what,
            runs,
            digest: format!("{digest:016x}"),
            command_line: nights.command_line(night),
            length_ms: night.length_ms,
            services: night.services,
            rooms: night.rooms.iter().map(room).collect(),
            faults: night.faults.iter().map(|one| format!("{} ms: {one}", one.at_ms)).collect(),
            operations: night.operations.iter().map(operation).collect(),
            visitors: night.cast.0.iter().map(ToString::to_string).collect(),
            trace,
        }
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let (admissions, controllers) = self.services;
        let mut out = format!(
            "Seed {}: {} breaks after {} ms\n\n{}\n\nThe night, made small in {} runs: {} ms, \
             {admissions} admissions, {controllers} controllers (digest {})\n",
            self.seed,
            self.invariant,
            self.at_ms,
            self.what.trim_end(),
            self.runs,
            self.length_ms,
            self.digest,
        );
        for part in [&self.rooms, &self.faults, &self.operations, &self.visitors] {
            for line in part {
                // Writing to a string does not fail.
                let _ = writeln!(out, "  {line}");
            }
        }
        out.push_str("\nIts last moments:\n");
        for line in &self.trace {
            let _ = writeln!(out, "  {line}");
        }
        let _ = writeln!(out, "\nAgain:\n  {}\n", self.command_line);
        out
    }
}

fn operation(operation: &Operation) -> String {
    let Operation { number, at_ms, room, what } = operation;
    format!("{at_ms} ms: operation {number} in room {room}: {what:?}")
}
