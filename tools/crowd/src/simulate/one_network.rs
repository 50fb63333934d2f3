//! What one network takes from everybody else, as one command: a crowd alone, and the same crowd among a thousand clients
//! of one network that take all that they can get of a room with the default limits. Nothing of it is left to chance but
//! what the seed decides.

use std::time::Duration;

use serde_json::json;
use vestibule_domain::{QueueingMethod, RoomSettings};

use super::SimulateOptions;
use crate::{
    crowd::{Arrivals, CrowdOptions, HoardingOptions, RoomOptions, StaySpread, duration::human},
    output,
    report::{
        Figures, Report,
        layout::{percent, table},
    },
};

const VISITORS: u32 = 10_000;
const ARRIVE: Duration = Duration::from_mins(1);
const STAY: Duration = Duration::from_mins(1);
const SEATS: u32 = 1_000;
const HOARDERS: u32 = 1_000;

/// Simulates both, and prints what either crowd got. Says whether nothing was wrong.
pub(super) async fn run(options: &SimulateOptions) -> anyhow::Result<bool> {
    let mut reports = Vec::new();
    for hoarders in [0, HOARDERS] {
        let run = super::simulate(&both(options, hoarders)).await?;
        reports.push(Report::new(&run, false));
    }
    let [alone, beside] = [&reports[0], &reports[1]];
    if options.json {
        let all = json!({ "alone": alone, "beside_one_network": beside });
        output::print(&(serde_json::to_string_pretty(&all)? + "\n"))?;
    } else {
        output::print(&text(&alone.figures, &beside.figures, options.crowd.seed()))?;
        for problem in reports.iter().flat_map(|report| &report.problems) {
            output::print(&format!("WRONG: {problem}\n"))?;
        }
    }
    Ok(reports.iter().all(|report| report.ok))
}

/// The options of either: of the given ones only where and how it runs.
fn both(given: &SimulateOptions, hoarders: u32) -> SimulateOptions {
    SimulateOptions {
        experiment: None,
        limits: RoomOptions {
            ceiling: Some(given.limits.ceiling.unwrap_or(SEATS)),
            rate: given.limits.rate,
            method: Some(QueueingMethod::Fifo),
            ..given.limits.clone()
        },
        crowd: CrowdOptions {
            visitors: VISITORS,
            arrive: ARRIVE,
            arrivals: Arrivals::Even,
            stay: STAY,
            stay_spread: StaySpread::Exponential,
            abandon: 0.0,
            seed: Some(given.crowd.seed()),
        },
        hoarding: HoardingOptions { hoarders, sharers: 0 },
        ..given.clone()
    }
}

fn text(alone: &Figures, beside: &Figures, seed: u64) -> String {
    let per_minute = |figures: &Figures| figures.admissions.per_minute_while_waiting.unwrap_or(0.0);
    let waits = |figures: &Figures| figures.waiting.waits;
    let times = |name: &str, of: &dyn Fn(&Figures) -> f64| {
        row(name, (human(of(alone)), human(of(beside))), of(beside) / of(alone))
    };
    let rates = (format!("{:.1}", per_minute(alone)), format!("{:.1}", per_minute(beside)));
    let rows = [
        row("let in a minute, while people waited", rates, per_minute(beside) / per_minute(alone)),
        times("wait, half of them", &|figures| waits(figures).p50_seconds),
        times("wait, 95 of 100", &|figures| waits(figures).p95_seconds),
        times("wait, the longest", &|figures| waits(figures).max_seconds),
    ];
    let header = ["honest visitors", "alone", "beside one network", "more or less"];
    format!(
        "{VISITORS} visitors of as many networks come within a minute, each stays for one (seed {seed})\n\n\
         {}\n{}",
        table(header, rows.into_iter(), &[1, 2, 3]),
        taken(beside)
    )
}

fn row(name: &str, (alone, beside): (String, String), ratio: f64) -> [String; 4] {
    [name.to_owned(), alone, beside, format!("{:+.2} %", (ratio - 1.0) * 100.0)]
}

/// What the network got, and what it may have.
fn taken(beside: &Figures) -> String {
    let Some(company) = &beside.company else { return String::new() };
    let hoarders = &company.hoarders;
    let room = RoomSettings {
        total_active_users: beside.setting.ceiling.map(u64::from),
        new_users_per_minute: beside.setting.rate_per_minute.map(u64::from),
        ..RoomSettings::default()
    };
    let limits = room.network_limits(false);
    let limit =
        |limit: Option<u64>| limit.map_or("any number".to_owned(), |limit| limit.to_string());
    format!(
        "the network: {} clients, {} joins, of which {} were turned away; {} places (it may have {} newcomers a \
         minute and {} places);\nat most {} seats at once (it may have {}), {} of the ceiling while visitors waited\n",
        hoarders.kind.came,
        hoarders.joins,
        hoarders.turned_away,
        hoarders.places,
        limit(limits.joins_per_minute),
        limit(limits.places),
        hoarders.highest_seats,
        limit(limits.seats),
        company.share_of_ceiling.map_or("none".to_owned(), percent),
    )
}
