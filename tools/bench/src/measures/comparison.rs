//! A call of admission compared with the bare route, in alternating rounds.

use anyhow::{Context, Result};

use super::{Bench, rounds::Round};
use crate::{
    driver::Caller,
    report::{Figure, Target, Unit},
    statistics::Spread,
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
const BARE: [(&str, Cost); 2] = [
    ("bare: processor time of the service", |round| round.service),
    ("bare: processor time of the driver", |round| round.driver),
];

// === impl Bench ===

impl Bench {
    /// Measures `callers` and `method` of the bare route in alternating rounds.
    pub(super) async fn compare(
        &self,
        method: &str,
        mut callers: Vec<Caller>,
    ) -> Result<Comparison> {
        let mut bare_callers = vec![Caller::same(method, "/"); callers.len()];
        let mut comparison = Comparison::default();
        for _ in 0..self.options.rounds {
            let (bare, back) = self.round(self.deployment.bare, bare_callers).await?;
            bare_callers = back;
            let (measured, back) = self.round(self.deployment.admission, callers).await?;
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
    ) -> Result<Vec<Figure>> {
        let background = self.background().await?;
        let comparison = self.compare("GET", callers).await?;
        let mut figures = comparison.figures(measure, ratio)?;
        let spread = comparison.spread(|round| round.calls_per_request(background))?;
        figures.push(Figure::new(measure, calls, Unit::Number, spread).with_target(most));
        Ok(figures)
    }
}

// === impl Comparison ===

impl Comparison {
    /// Throughput of both, their ratio, and the processor time behind it.
    pub(super) fn figures(&self, measure: &'static str, target: Target) -> Result<Vec<Figure>> {
        let pairs = || self.measured.iter().zip(&self.bare);
        let ratio = spread(pairs().map(|(measured, bare)| measured.rate() / bare.rate()))?;
        let by_time = pairs()
            .filter_map(|(measured, bare)| Some(bare.micros_of_all()? / measured.micros_of_all()?));
        let rate = |rounds: &[Round]| spread(rounds.iter().map(Round::rate));
        let figure = |name, unit, spread| Figure::new(measure, name, unit, spread);
        let mut figures = vec![
            figure("requests", Unit::PerSecond, rate(&self.measured)?),
            figure("bare route", Unit::PerSecond, rate(&self.bare)?),
            figure("ratio to the bare route", Unit::Ratio, ratio).with_target(target),
        ];
        let by_time = Spread::from_values(by_time);
        figures.extend(by_time.map(|s| figure("the same by processor time", Unit::Ratio, s)));
        figures.extend(costs(measure, &self.measured, &MEASURED));
        figures.extend(costs(measure, &self.bare, &BARE));
        Ok(figures)
    }

    /// The spread of `value` over the rounds of the measured call.
    pub(super) fn spread(&self, value: impl Fn(&Round) -> f64) -> Result<Spread> {
        spread(self.measured.iter().map(value))
    }
}

/// The spread of at least one value.
pub(super) fn spread(values: impl IntoIterator<Item = f64>) -> Result<Spread> {
    Spread::from_values(values).context("nothing was measured")
}

/// The processor time of each of `parts` per request, where the system provides it.
pub(super) fn costs(
    measure: &'static str,
    rounds: &[Round],
    parts: &[(&'static str, Cost)],
) -> Vec<Figure> {
    let cost = |(name, seconds): &(&'static str, Cost)| {
        let spread =
            Spread::from_values(rounds.iter().filter_map(|round| round.micros(seconds(round))))?;
        Some(Figure::new(measure, name, Unit::Micros, spread))
    };
    parts.iter().filter_map(cost).collect()
}
