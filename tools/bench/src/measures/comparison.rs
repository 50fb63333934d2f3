//! A call of admission compared with the bare route, in alternating rounds.

use anyhow::Result;

use super::{Bench, rounds::Round};
use crate::{
    deployment::Server,
    driver::Caller,
    report::{Figures, Target, Unit},
};

/// The results of the rounds, in pairs.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// The bare route.
    pub(super) bare: Vec<Round>,
    /// The measured call.
    pub(super) measured: Vec<Round>,
}

/// The processor time of one process in a round.
pub(super) type Cost = fn(&Round) -> Option<f64>;

/// The processes that a measured call uses.
pub(super) const MEASURED: [(&str, Cost); 3] = [
    ("processor time of admission", |round| round.service),
    ("processor time of Redis", |round| round.redis),
    ("processor time of the driver", |round| round.driver),
];
/// The same where the controller is measured.
const OF_CONTROLLER: [(&str, Cost); 3] =
    [("processor time of the controller", |round| round.service), MEASURED[1], MEASURED[2]];
const BARE: [(&str, Cost); 2] = [
    ("bare: processor time of the service", |round| round.service),
    ("bare: processor time of the driver", |round| round.driver),
];

// === impl Bench ===

impl Bench {
    /// Measures `callers` and `method` of the bare route in alternating rounds.
    pub(super) async fn compare(&self, method: &str, callers: Vec<Caller>) -> Result<Comparison> {
        self.compare_at(self.deployment.admission, method, callers).await
    }

    /// The same with `server` in the place of admission.
    pub(super) async fn compare_at(
        &self,
        server: Server,
        method: &str,
        mut callers: Vec<Caller>,
    ) -> Result<Comparison> {
        let mut bare_callers = vec![Caller::same(method, "/"); callers.len()];
        let mut comparison = Comparison::default();
        for _ in 0..self.options.rounds {
            let (bare, back) = self.round(self.deployment.bare, bare_callers).await?;
            bare_callers = back;
            let (measured, back) = self.round(server, callers).await?;
            callers = back;
            comparison.bare.push(bare);
            comparison.measured.push(measured);
        }
        Ok(comparison)
    }

    /// The figures of such a comparison, with the script calls per request; `calls` is what that
    /// figure is called and its target.
    pub(super) async fn compare_and_count(
        &self,
        measure: &'static str,
        callers: Vec<Caller>,
        ratio: Target,
        (calls, most): (&'static str, Target),
    ) -> Result<Figures> {
        let background = self.background().await?;
        let comparison = self.compare("GET", callers).await?;
        let calls_of_each = background.per_request(&comparison.measured);
        let figures = comparison.figures(measure, ratio);
        Ok(figures.add(calls, Unit::Number, calls_of_each).with_target(most))
    }
}

// === impl Comparison ===

impl Comparison {
    /// Throughput of both, their ratio, and the processor time behind it.
    pub(super) fn figures(&self, measure: &'static str, target: Target) -> Figures {
        self.figures_of(measure, target, &MEASURED)
    }

    /// The same of a call of the controller.
    pub(super) fn figures_of_controller(&self, measure: &'static str, target: Target) -> Figures {
        self.figures_of(measure, target, &OF_CONTROLLER)
    }

    fn figures_of(
        &self,
        measure: &'static str,
        target: Target,
        costs: &[(&'static str, Cost)],
    ) -> Figures {
        let Self { bare, measured } = self;
        let pairs = || measured.iter().zip(bare);
        let by_time = |(measured, bare): (&Round, &Round)| {
            Some(bare.micros_of_all()? / measured.micros_of_all()?)
        };
        let figures = Figures::of(measure)
            .add("requests", Unit::PerSecond, measured.iter().map(Round::rate))
            .add("bare route", Unit::PerSecond, bare.iter().map(Round::rate))
            .add(
                "ratio to the bare route",
                Unit::Ratio,
                pairs().map(|(measured, bare)| measured.rate() / bare.rate()),
            )
            .with_target(target)
            .add("the same by processor time", Unit::Ratio, pairs().filter_map(by_time));
        with_costs(with_costs(figures, measured, costs), bare, &BARE)
    }
}

/// The same with the processor time of each of `parts` per request, where the system provides it.
pub(super) fn with_costs(
    figures: Figures,
    rounds: &[Round],
    parts: &[(&'static str, Cost)],
) -> Figures {
    parts.iter().fold(figures, |figures, (name, seconds)| {
        let of_each = rounds.iter().filter_map(|round| round.micros(seconds(round)));
        figures.add(*name, Unit::Micros, of_each)
    })
}
