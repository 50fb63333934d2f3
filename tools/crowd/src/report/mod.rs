//! The report: what the crowd lived through, as figures (a file for each section), as a verdict
//! (`problems`), and as text or JSON. Names in JSON are part of the tool's contract with whoever
//! reads its output. The pictures are drawn from the same record, in `charts`.

mod admissions;
mod calls;
mod company;
mod estimates;
mod hoarders;
mod hostile_kind;
mod identities;
mod inside;
pub(crate) mod layout;
mod order;
mod problems;
mod simulation;
#[cfg(test)]
mod tests;
mod turnover;
mod visitors;
mod waiting;

use std::fmt::Write;

use serde::Serialize;

use self::{
    admissions::Admissions, calls::Calls, company::HostileCompany, estimates::Estimates,
    identities::Identities, inside::Inside, order::LineOrder, visitors::Visitors, waiting::Waiting,
};
use crate::{
    crowd::{Setting, duration::human},
    output,
    record::{Levels, RunRecord, Simulation},
};

/// The whole report.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Report {
    /// Whether nothing was wrong.
    pub(crate) ok: bool,
    /// What was wrong, in sentences.
    pub(crate) problems: Vec<String>,
    /// What it says.
    #[serde(flatten)]
    pub(crate) figures: Figures,
}

/// Everything the report says. Pure: the same record gives the same figures.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Figures {
    /// What the run was meant to be.
    pub(crate) setting: Setting,
    /// How long it took.
    pub(crate) duration_seconds: f64,
    /// What became of the visitors.
    pub(crate) visitors: Visitors,
    /// Visitors joined per second, from the first arrival to the last.
    pub(crate) joins_per_second: f64,
    /// When people waited.
    pub(crate) waiting: Waiting,
    /// How many were let in, and how fast.
    pub(crate) admissions: Admissions,
    /// How many were inside.
    pub(crate) inside: Inside,
    /// Who overtook whom.
    pub(crate) order: LineOrder,
    /// Whether identities were unique.
    pub(crate) identities: Identities,
    /// The calls: how many, how long they took, what failed.
    #[serde(flatten)]
    pub(crate) calls: Calls,
    /// How good the estimated waits were.
    pub(crate) estimates: Estimates,
    /// What hostile company did, if there was any; nothing of it is in the other figures, but for the
    /// controller's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) company: Option<HostileCompany>,
    /// What only a simulation knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) simulation: Option<Simulation>,
}

// === impl Report ===

impl Report {
    /// Draws up the report. With `expect_outages`, broken connections that were made good do not
    /// count as problems.
    pub(crate) fn new(run: &RunRecord, expect_outages: bool) -> Self {
        let figures = Figures::new(run);
        let problems = problems::find(&figures, run.over, expect_outages);
        Self { ok: problems.is_empty(), problems, figures }
    }

    /// Prints it, for people or for programs.
    pub(crate) fn print(&self, as_json: bool) -> anyhow::Result<()> {
        let text = if as_json { serde_json::to_string_pretty(self)? + "\n" } else { self.text() };
        Ok(output::print(&text)?)
    }

    /// The report for people, with what was wrong at its end, where it is seen.
    fn text(&self) -> String {
        let mut out = self.figures.headline() + &layout::sections(&self.figures.sections()) + "\n";
        if self.ok {
            out.push_str("All visits finished, and nothing was wrong.\n");
        }
        for problem in &self.problems {
            // Writing to a string does not fail.
            let _ = writeln!(out, "WRONG: {problem}");
        }
        out
    }
}

// === impl Figures ===

impl Figures {
    fn new(run: &RunRecord) -> Self {
        let levels = Levels::new(run);
        let span = levels.waiting.span();
        // Whoever came before the room opened could not have entered any sooner.
        let open = span.map(|(from, until)| (from.max(run.opened), until));
        Self {
            setting: run.setting.clone(),
            duration_seconds: run.duration,
            visitors: Visitors::new(&run.visitors),
            joins_per_second: visitors::joins_per_second(&run.visitors),
            waiting: Waiting::new(run, &levels),
            admissions: Admissions::new(run, open),
            inside: Inside::new(run, &levels),
            order: LineOrder::new(run),
            identities: Identities::new(&run.visitors),
            calls: Calls::new(&run.calls, span),
            estimates: Estimates::new(run),
            company: HostileCompany::new(run, span),
            simulation: run.simulation.clone(),
        }
    }

    fn headline(&self) -> String {
        let company = self.setting.in_company().map_or(String::new(), |company| {
            format!(
                "In {company}. What they did is in a section of its own.\nAll other figures are of the \
                 visitors alone, except the controller's view, which counts everybody.\n"
            )
        });
        let setting = &self.setting;
        let limit = |limit: Option<u32>| limit.map_or("none".to_owned(), |limit| limit.to_string());
        format!(
            "{}: {}, staying {}; ceiling {}, per minute {}; took {} (seed {})\n{company}",
            setting.what(),
            setting.arrival(),
            human(setting.stay_seconds),
            limit(setting.ceiling),
            limit(setting.rate_per_minute),
            human(self.duration_seconds),
            setting.seed,
        )
    }

    /// A section per question that an operator asks.
    fn sections(&self) -> [layout::Section; 9] {
        let simulated = self.simulation.is_some();
        [
            self.waiting.add_to(self.visitors.section(self.joins_per_second, &self.waiting)),
            self.admissions.section(self.setting.rate_per_minute),
            self.inside.section(self.setting.ceiling, self.company.is_none()),
            self.order.section(self.setting.method, self.identities),
            self.calls.section(simulated),
            self.calls.errors_section(),
            self.estimates.section(),
            self.company.as_ref().map_or(layout::Section::new(""), HostileCompany::section),
            simulation::section(self.simulation.as_ref()),
        ]
    }
}
