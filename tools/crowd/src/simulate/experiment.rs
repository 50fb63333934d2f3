//! The experiment that was published for a random queue in 2021, as one command: 10,000 visitors
//! whose arrivals are spread evenly over half an hour, in order and by chance, everyone staying a
//! minute in a site that starts empty. Once with everyone there when the room opens, and once with
//! arrivals as they come. With a thousand seats arrivals as they come would never have to wait (a
//! thousand may enter per minute and 333 come), so there the site has two hundred.

use std::{fmt::Write, fs, time::Duration};

use anyhow::Context;
use serde_json::json;

use super::Done;
use crate::{
    cli::{Pictures, SimulateOptions, StaySpread},
    duration::human,
    method::QueueingMethod,
    plan::{self, Arrivals},
    plot,
};

const VISITORS: u32 = 10_000;
const ARRIVE: Duration = Duration::from_mins(30);
const STAY: Duration = Duration::from_mins(1);
const SEATS_FOR_ALL_PRESENT: u32 = 1_000;
const SEATS_FOR_REAL_ARRIVALS: u32 = 200;

/// One of the four simulations.
#[derive(Debug, Clone, Copy)]
struct Case {
    name: &'static str,
    method: QueueingMethod,
    all_present: bool,
}

const CASES: [Case; 4] = [
    Case { name: "fifo-present", method: QueueingMethod::Fifo, all_present: true },
    Case { name: "random-present", method: QueueingMethod::Random, all_present: true },
    Case { name: "fifo-arriving", method: QueueingMethod::Fifo, all_present: false },
    Case { name: "random-arriving", method: QueueingMethod::Random, all_present: false },
];

/// Runs the four cases, draws them, and prints what came out. Says whether nothing was wrong.
pub(super) async fn run(options: &SimulateOptions) -> anyhow::Result<bool> {
    let out = &options.out;
    fs::create_dir_all(out).with_context(|| format!("making {}", out.display()))?;
    let seed = options.seed.unwrap_or_else(plan::fresh_seed);
    let mut all = Vec::new();
    for case in CASES {
        let done = super::run(&case.options(options, seed)).await?;
        let file = |kind: &str| Some(out.join(format!("experiment-{}-{kind}.svg", case.name)));
        let pictures =
            Pictures { plot: None, scatter: file("scatter"), heat_map: file("heat-map") };
        plot::write(&pictures, &done.record, &done.setting)?;
        all.push((case, done));
    }
    print!("{}", if options.json { json(&all)? } else { text(&all, options, seed) });
    Ok(all.iter().all(|(_, done)| done.report.ok()))
}

// === impl Case ===

impl Case {
    /// The experiment's options: of the given ones only where and how it runs.
    fn options(&self, given: &SimulateOptions, seed: u64) -> SimulateOptions {
        SimulateOptions {
            experiment: None,
            method: self.method,
            ceiling: Some(self.seats()),
            rate: None,
            visitors: VISITORS,
            arrive: ARRIVE,
            arrivals: Arrivals::Even,
            spoofed_arrivals: self.all_present,
            stay: STAY,
            stay_spread: StaySpread::Fixed,
            abandon: 0.0,
            hidden: 0.0,
            impatient: 0.0,
            seed: Some(seed),
            ..given.clone()
        }
    }

    fn seats(&self) -> u32 {
        if self.all_present { SEATS_FOR_ALL_PRESENT } else { SEATS_FOR_REAL_ARRIVALS }
    }

    fn arrivals(&self) -> &'static str {
        if self.all_present { "all present" } else { "as they come" }
    }
}

fn text(all: &[(Case, Done)], options: &SimulateOptions, seed: u64) -> String {
    let mut out = format!(
        "10000 visitors, arrivals spread evenly over 30 minutes, each stays a minute (seed {seed})\n\n\
         {:<8}{:<14}{:>6}{:>10}{:>12}{:>8}{:>12}{:>12}\n",
        "method", "arrivals", "seats", "r", "seats used", "inside", "wait p50", "longest"
    );
    for (case, done) in all {
        // Writing to a string does not fail.
        let _ = writeln!(out, "{}", row(case, done));
    }
    let _ = writeln!(out, "\nr: Pearson's correlation of arrival and wait");
    let _ = writeln!(out, "pictures: {}/experiment-*.svg", options.out.display());
    for (case, done) in all {
        for problem in done.report.problems() {
            let _ = writeln!(out, "WRONG: {}: {problem}", case.name);
        }
    }
    out
}

fn row(case: &Case, done: &Done) -> String {
    let figures = done.report.figures();
    let r = figures.waiting.correlation_with_arrival;
    let used = figures.inside.share_of_ceiling_while_waiting;
    let waits = figures.waiting.waits;
    format!(
        "{:<8}{:<14}{:>6}{:>10}{:>12}{:>8}{:>12}{:>12}",
        case.method.name(),
        case.arrivals(),
        case.seats(),
        r.map_or("none".to_owned(), |r| format!("{r:+.4}")),
        used.map_or("none".to_owned(), |used| format!("{:.2}%", used * 100.0)),
        figures.inside.highest,
        human(waits.p50_seconds),
        human(waits.max_seconds),
    )
}

fn json(all: &[(Case, Done)]) -> anyhow::Result<String> {
    let reports = all.iter().map(|(case, done)| {
        Ok(json!({ "case": case.name, "report": serde_json::to_value(&done.report)? }))
    });
    let reports = reports.collect::<anyhow::Result<Vec<_>>>()?;
    Ok(serde_json::to_string_pretty(&reports)? + "\n")
}
