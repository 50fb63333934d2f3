//! The report: what the crowd lived through, as figures (`sections`, calculated in `figures`), as a
//! verdict (`problems`), and as text (`table`) or JSON. The plot draws from the same record.

mod correlation;
mod estimates;
mod figures;
mod order;
mod problems;
mod sections;
mod spread;
mod steps;
mod table;
mod turnover;

use serde::Serialize;

pub(crate) use self::{
    correlation::{arrivals_and_waits, pearson},
    figures::Levels,
    sections::{Figures, Setting},
    steps::Steps,
};
use crate::{crowd::Over, record::RunRecord, simulate::Simulation};

/// The whole report.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Report {
    /// Whether nothing was wrong.
    ok: bool,
    /// What was wrong, in sentences.
    problems: Vec<String>,
    #[serde(flatten)]
    figures: Figures,
}

impl Report {
    /// Draws up the report. With `expect_outages`, broken connections that were made good do not
    /// count as problems.
    pub(crate) fn of(setting: Setting, run: &RunRecord, over: Over, expect_outages: bool) -> Self {
        let figures = Figures::of(setting, run);
        let problems = problems::find(&figures, over, expect_outages);
        Self { ok: problems.is_empty(), problems, figures }
    }

    /// Draws up the report of a simulation.
    pub(crate) fn of_simulation(
        setting: Setting,
        run: &RunRecord,
        over: Over,
        simulation: Simulation,
    ) -> Self {
        let figures = Figures { simulation: Some(simulation), ..Figures::of(setting, run) };
        let problems = problems::find(&figures, over, false);
        Self { ok: problems.is_empty(), problems, figures }
    }

    /// What was wrong.
    pub(crate) fn problems(&self) -> &[String] {
        &self.problems
    }

    /// What it says.
    pub(crate) fn figures(&self) -> &Figures {
        &self.figures
    }

    /// Whether nothing was wrong.
    pub(crate) fn ok(&self) -> bool {
        self.ok
    }

    /// The report for people.
    pub(crate) fn text(&self) -> String {
        table::text(&self.figures, &self.problems)
    }

    /// The report for programs.
    ///
    /// # Errors
    /// None that is known: the report holds nothing that JSON cannot say.
    pub(crate) fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_run_is_valid_json_with_stable_names() {
        let report = Report::of(Setting::default(), &RunRecord::default(), Over::Finished, false);
        let json: serde_json::Value = serde_json::from_str(&report.json().unwrap()).unwrap();
        assert_eq!(json["ok"], true);
        for path in [
            "/visitors/admitted",
            "/inside/share_of_ceiling_while_waiting",
            "/admissions/share_of_rate_while_waiting",
            "/order/admitted_out_of_order",
            "/latency/claim/p99_ms",
            "/setting/ceiling",
            "/estimates/known",
            "/estimates/first",
            "/estimates/all",
            "/inside/seat_taken_again",
            "/waiting/correlation_with_arrival",
        ] {
            assert!(json.pointer(path).is_some(), "{path}");
        }
        assert!(report.text().contains("nothing was wrong"));
    }
}
