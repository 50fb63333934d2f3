//! The table of `docs/sizing.md`: what a crowd needs, computed from the figures of a run that `--json` printed. Only
//! products and quotients of what was measured; what a sale is like is written here.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use serde::Deserialize;
use vestibule_domain::RoomSettings;

use crate::report::whole;

/// Processors are counted as needed when so much of them would be used: what is left is for bursts, and for what other
/// processes on the machine do.
const USED: f64 = 0.5;
/// This share of a crowd comes within the first minute: a sale that was announced.
const FIRST_MINUTE: f64 = 0.5;
/// Requests a second of a visitor inside about which a gateway asks the authorizer.
const REQUESTS_PER_VISITOR: f64 = 0.2;
/// How long a visitor stays, s.
const STAY: f64 = 300.0;
const MIB: f64 = 1_048_576.0;

/// A sale: its crowd, and how many the site carries at a time.
struct Sale {
    visitors: f64,
    inside: f64,
}

const SALES: [Sale; 5] = [
    Sale { visitors: 10_000.0, inside: 500.0 },
    Sale { visitors: 100_000.0, inside: 2_000.0 },
    Sale { visitors: 500_000.0, inside: 10_000.0 },
    Sale { visitors: 2_000_000.0, inside: 2_000.0 },
    Sale { visitors: 2_000_000.0, inside: 50_000.0 },
];

/// What was measured, as [`crate::report::Report`] is written.
#[derive(Debug, Deserialize)]
struct Measured {
    figures: Vec<Figure>,
}

#[derive(Debug, Deserialize)]
struct Figure {
    measure: String,
    name: String,
    median: f64,
}

/// Processor time of one call, in seconds.
#[derive(Debug, Clone, Copy)]
struct Cost {
    admission: f64,
    redis: f64,
}

/// What everything costs.
#[derive(Debug)]
struct Costs {
    join: Cost,
    poll: Cost,
    claim: Cost,
    authorize: Cost,
    bytes_waiting: f64,
    bytes_inside: f64,
}

/// The table for the report in the file `report`, as Markdown.
pub(crate) fn table(report: &Path) -> Result<String> {
    let text =
        fs::read_to_string(report).with_context(|| format!("cannot read {}", report.display()))?;
    let measured: Measured = serde_json::from_str(&text)
        .with_context(|| format!("{} is no report of `--json`", report.display()))?;
    Ok(markdown(&Costs::of(&measured)?))
}

// === impl Costs ===

impl Costs {
    fn of(measured: &Measured) -> Result<Self> {
        let find = |measure: &str, name: &str| {
            let same = |figure: &&Figure| figure.measure == measure && figure.name == name;
            let found = measured.figures.iter().find(same).map(|figure| figure.median);
            found.with_context(|| format!("the report has no \"{name}\" of \"{measure}\""))
        };
        let cost = |measure: &str| {
            let admission = find(measure, "processor time of admission")? / 1e6;
            anyhow::Ok(Cost { admission, redis: find(measure, "processor time of Redis")? / 1e6 })
        };
        Ok(Self {
            join: cost("join, each from another network")?,
            poll: cost("status poll, checking in")?,
            claim: cost("claim")?,
            authorize: cost("authorize, visitors inside")?,
            bytes_waiting: find("memory", "bytes per visitor")?,
            bytes_inside: find("claim", "bytes of Redis per session")?,
        })
    }

    /// Processors of all admissions, and of the Redis, while `sale` begins.
    fn processors(&self, sale: &Sale) -> Cost {
        let calls = [
            (self.join, sale.joins_per_second()),
            (self.poll, polls_per_second()),
            (self.claim, sale.claims_per_second()),
            (self.authorize, sale.requests_per_second()),
        ];
        let sum = |of: fn(Cost) -> f64| calls.iter().map(|(cost, rate)| of(*cost) * rate).sum();
        Cost { admission: sum(|cost| cost.admission), redis: sum(|cost| cost.redis) }
    }
}

// === impl Sale ===

impl Sale {
    fn joins_per_second(&self) -> f64 {
        self.visitors * FIRST_MINUTE / 60.0
    }

    fn claims_per_second(&self) -> f64 {
        self.inside / STAY
    }

    fn requests_per_second(&self) -> f64 {
        self.inside * REQUESTS_PER_VISITOR
    }
}

/// What a waiting crowd may ask a second, unless its room says another budget.
fn polls_per_second() -> f64 {
    f64::from(RoomSettings::default().poll_budget_per_second)
}

fn markdown(costs: &Costs) -> String {
    const HEAD: &str = "| visitors | inside at a time | joins/s in the first minute | enter/s | requests/s to the authorizer \
                        | processors for admissions | of Redis's one | memory of Redis |\n\
                        |---:|---:|---:|---:|---:|---:|---:|---:|\n";
    let rows = SALES.iter().map(|sale| row(costs, sale));
    std::iter::once(HEAD.to_owned()).chain(rows).collect()
}

fn row(costs: &Costs, sale: &Sale) -> String {
    let used = costs.processors(sale);
    let bytes = sale.visitors * costs.bytes_waiting + sale.inside * costs.bytes_inside;
    let cells = [
        whole(sale.visitors),
        whole(sale.inside),
        whole(sale.joins_per_second()),
        format!("{:.1}", sale.claims_per_second()),
        whole(sale.requests_per_second()),
        format!("{:.0}", (used.admission / USED).ceil()),
        format!("{:.0} %", used.redis * 100.0),
        format!("{:.1} MiB", bytes / MIB),
    ];
    format!("| {} |\n", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the documentation was computed from.
    const REPORT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sizing.json");
    const PAGE: &str = include_str!("../../../docs/sizing.md");

    #[test]
    fn the_documented_table_is_the_one_of_the_documented_run() {
        let table = table(Path::new(REPORT)).unwrap();
        assert!(PAGE.contains(&table), "docs/sizing.md should have:\n\n{table}");
    }

    #[test]
    fn costs_are_summed_over_what_a_sale_does() {
        let one = |admission: f64| Cost { admission, redis: admission / 10.0 };
        let costs = Costs {
            join: one(1e-5),
            poll: one(1e-5),
            claim: one(1e-3),
            authorize: one(1e-5),
            bytes_waiting: 1.0,
            bytes_inside: 100.0,
        };
        let sale = Sale { visitors: 120_000.0, inside: 30_000.0 };
        let used = costs.processors(&sale);
        // 1,000 joins, 2,000 polls, 100 claims, 6,000 requests.
        assert!((used.admission - 0.19).abs() < 1e-9, "{used:?}");
        assert!((used.redis - 0.019).abs() < 1e-9, "{used:?}");
    }

    #[test]
    fn what_the_report_lacks_is_named() {
        let error = Costs::of(&Measured { figures: Vec::new() }).unwrap_err().to_string();
        assert!(error.contains("processor time of admission"), "{error}");
    }
}
