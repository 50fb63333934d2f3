//! The experiment that was published for a random queue in 2021, as one command: 10,000 visitors
//! whose arrivals are spread evenly over half an hour, in order and by chance, everyone staying a
//! minute in a site that starts empty. Once with everyone there when the room opens, and once with
//! arrivals as they come. With a thousand seats arrivals as they come would never have to wait (a
//! thousand may enter per minute and 333 come), so there the site has two hundred.

use std::{fmt::Write, fs, time::Duration};

use anyhow::Context;
use serde_json::json;
use vestibule_domain::QueueingMethod;

use super::SimulateOptions;
use crate::{
    charts::{self, Pictures},
    crowd::{Arrivals, CrowdOptions, RoomOptions, StaySpread, duration::human},
    output,
    report::{
        Report,
        layout::{percent, table},
    },
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
    let seed = options.crowd.seed();
    let mut all = Vec::new();
    for case in CASES {
        let run = super::simulate(&case.options(options, seed)).await?;
        let file = |kind: &str| Some(out.join(format!("experiment-{}-{kind}.svg", case.name)));
        let pictures =
            Pictures { plot: None, scatter: file("scatter"), heat_map: file("heat-map") };
        charts::write(&pictures, &run)?;
        all.push((case, Report::new(&run, false)));
    }
    output::print(&if options.json { json(&all)? } else { text(&all, options, seed) })?;
    Ok(all.iter().all(|(_, report)| report.ok))
}

// === impl Case ===

impl Case {
    /// The experiment's options: of the given ones only where and how it runs.
    fn options(&self, given: &SimulateOptions, seed: u64) -> SimulateOptions {
        SimulateOptions {
            experiment: None,
            limits: RoomOptions {
                ceiling: Some(self.seats()),
                rate: None,
                method: Some(self.method),
                ..given.limits.clone()
            },
            crowd: CrowdOptions {
                visitors: VISITORS,
                arrive: ARRIVE,
                arrivals: Arrivals::Even,
                stay: STAY,
                stay_spread: StaySpread::Fixed,
                abandon: 0.0,
                seed: Some(seed),
            },
            spoofed_arrivals: self.all_present,
            hidden: 0.0,
            impatient: 0.0,
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

fn text(all: &[(Case, Report)], options: &SimulateOptions, seed: u64) -> String {
    let header =
        ["method", "arrivals", "seats", "r", "seats used", "inside", "wait p50", "longest"];
    let rows = all.iter().map(|(case, report)| row(case, report));
    let mut out = format!(
        "10000 visitors, arrivals spread evenly over 30 minutes, each stays a minute (seed {seed})\n\n\
         {}\nr: Pearson's correlation of arrival and wait\npictures: {}/experiment-*.svg\n",
        table(header, rows, &[2, 3, 4, 5, 6, 7]),
        options.out.display()
    );
    for (case, report) in all {
        for problem in &report.problems {
            // Writing to a string does not fail.
            let _ = writeln!(out, "WRONG: {}: {problem}", case.name);
        }
    }
    out
}

fn row(case: &Case, report: &Report) -> [String; 8] {
    let figures = &report.figures;
    let r = figures.waiting.correlation_with_arrival;
    let used = figures.inside.share_of_ceiling_while_waiting;
    let waits = figures.waiting.waits;
    [
        case.method.name().to_owned(),
        case.arrivals().to_owned(),
        case.seats().to_string(),
        r.map_or("none".to_owned(), |r| format!("{r:+.4}")),
        used.map_or("none".to_owned(), percent),
        figures.inside.highest.to_string(),
        human(waits.p50_seconds),
        human(waits.max_seconds),
    ]
}

fn json(all: &[(Case, Report)]) -> serde_json::Result<String> {
    let reports: Vec<_> =
        all.iter().map(|(case, report)| json!({ "case": case.name, "report": report })).collect();
    Ok(serde_json::to_string_pretty(&reports)? + "\n")
}
