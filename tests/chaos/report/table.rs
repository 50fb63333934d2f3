//! The report of many runs as a table in Markdown: a row for each kind of fault that came by itself, and
//! one for runs in which several came together.

use std::{collections::BTreeMap, fmt};

use super::Outcome;
use crate::{
    chance::Seed,
    faults::FaultKind,
    scenario::Shape,
    stage::{Topology, namespaces::say},
};

/// What many runs come to.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: BTreeMap<Name, Row>,
    order: Vec<Name>,
    ground: &'static str,
}

/// The form of Redis, and the kind of fault.
type Name = (&'static str, &'static str);

#[derive(Debug, Default)]
struct Row {
    runs: u64,
    faults: u64,
    came: u64,
    entered: u64,
    by_resets: u64,
    calls: u64,
    unavailable: u64,
    unanswered: u64,
    violations: BTreeMap<String, u64>,
    failed: Vec<u64>,
}

// === impl Table ===

impl Table {
    /// Takes a run in.
    pub(crate) fn add(&mut self, outcome: &Outcome) {
        self.ground = outcome.ground;
        self.row(outcome.topology, &outcome.kinds).add(outcome);
    }

    /// Takes a run in that came to no end.
    pub(crate) fn add_broken(&mut self, seed: Seed, shape: &Shape, why: &anyhow::Error) {
        say(&format!("seed {} FAILED: {why:#}", seed.0));
        let row = self.row(shape.topology, &shape.kinds);
        row.runs += 1;
        row.faults += shape.faults;
        *row.violations.entry("no-end".to_owned()).or_default() += 1;
        row.failed.push(seed.0);
    }

    fn row(&mut self, topology: Topology, kinds: &[FaultKind]) -> &mut Row {
        let kinds = match kinds {
            [] => "none",
            [kind] => kind.name(),
            _ => "several",
        };
        let name = (topology.name(), kinds);
        if !self.order.contains(&name) {
            self.order.push(name);
        }
        self.rows.entry(name).or_default()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults: u64 = self.rows.values().map(|row| row.faults).sum();
        writeln!(f, "{faults} faults. Ground: {}.\n", self.ground)?;
        writeln!(
            f,
            "| Redis | faults | runs | times | came | entered | reset | calls | 503 | no answer | violations | \
             failing seeds |"
        )?;
        writeln!(f, "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|---|")?;
        let mut all = Row::default();
        for name in &self.order {
            let row = &self.rows[name];
            writeln!(f, "| {} | {} {row}", name.0, name.1)?;
            all.sum(row);
        }
        if self.order.len() > 1 {
            writeln!(f, "| all | all {all}")?;
        }
        Ok(())
    }
}

// === impl Row ===

impl Row {
    fn add(&mut self, outcome: &Outcome) {
        let answers = |code: &str| outcome.book.answers.get(code).copied().unwrap_or(0);
        self.sum(&Self {
            runs: 1,
            faults: outcome.faults.len() as u64,
            came: outcome.book.came,
            entered: outcome.book.entered,
            by_resets: outcome.by_resets,
            calls: outcome.book.answers.values().sum(),
            unavailable: answers("503"),
            unanswered: answers("none"),
            violations: outcome.violations.clone(),
            failed: if outcome.holds() { Vec::new() } else { vec![outcome.seed.0] },
        });
    }

    fn sum(&mut self, other: &Self) {
        self.runs += other.runs;
        self.faults += other.faults;
        self.came += other.came;
        self.entered += other.entered;
        self.by_resets += other.by_resets;
        self.calls += other.calls;
        self.unavailable += other.unavailable;
        self.unanswered += other.unanswered;
        for (name, count) in &other.violations {
            *self.violations.entry(name.clone()).or_default() += count;
        }
        self.failed.extend(&other.failed);
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { runs, faults, came, entered, by_resets, calls, unavailable, unanswered, .. } =
            self;
        let found = self.violations.iter().map(|(name, count)| format!("{count} {name}"));
        let found = found.collect::<Vec<_>>().join(", ");
        let found = if found.is_empty() { "none" } else { &found };
        let failed = self.failed.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        write!(
            f,
            "| {runs} | {faults} | {came} | {entered} | {by_resets} | {calls} | {unavailable} | {unanswered} | \
             {found} | {failed} |"
        )
    }
}
