//! The report of the figures, printed as a table, or as JSON by `serde`.

use std::fmt;

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use crate::{cli::Options, machine::Machine, statistics::Spread};

/// The figures of a run.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    version: &'static str,
    machine: Machine,
    rounds: u32,
    seconds: f64,
    connections: u32,
    figures: Vec<Figure>,
}

/// One figure.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figure {
    measure: &'static str,
    name: String,
    unit: Unit,
    #[serde(flatten)]
    spread: Spread,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<Target>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
}

/// Figures of a measure, while they are collected.
#[derive(Debug)]
pub(crate) struct Figures {
    measure: &'static str,
    /// Those collected.
    pub(crate) all: Vec<Figure>,
}

/// The unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    /// Requests, or signatures, per second.
    PerSecond,
    /// One rate divided by another.
    Ratio,
    /// Microseconds per request.
    Micros,
    /// A quotient, mostly far below 1.
    Number,
    /// A whole number.
    Whole,
}

/// The target of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Target {
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
    /// Less than this.
    Below(f64),
}

// === impl Report ===

impl Report {
    /// A report of `figures`, measured with `options`.
    pub(crate) fn new(machine: Machine, options: &Options, figures: Vec<Figure>) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            machine,
            rounds: options.rounds,
            seconds: options.seconds,
            connections: options.connections,
            figures,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { cores, processor, load_before, redis } = &self.machine;
        let processor = processor.as_deref().unwrap_or("processor unknown");
        writeln!(f, "vestibule {} on {cores} cores ({processor}), {redis}", self.version)?;
        let Self { rounds, seconds, connections, .. } = self;
        writeln!(f, "{rounds} rounds of {seconds} s, {connections} connections")?;
        if let Some(load) = load_before {
            writeln!(f, "load before: {load:.2} (well above 0: the machine was busy)")?;
        }
        writeln!(f, "\n{}", table(&self.figures).trim_fmt())
    }
}

/// A row per figure, and the name of the measure above those of each.
fn table(figures: &[Figure]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["", "median", "spread", "target"]);
    for of_measure in figures.chunk_by(|one, next| one.measure == next.measure) {
        table.add_row([""]).add_row([of_measure[0].measure]);
        table.add_rows(of_measure.iter().map(Figure::row));
    }
    if let Some(median) = table.column_mut(1) {
        median.set_cell_alignment(CellAlignment::Right);
    }
    table
}

// === impl Figure ===

impl Figure {
    fn row(&self) -> [String; 4] {
        let Spread { least, median, most } = self.spread;
        let [least, median, most] = [least, median, most].map(|value| self.unit.text(value));
        let spread = if least == most { String::new() } else { format!("{least} – {most}") };
        let target = match (self.target, self.verdict) {
            (Some(target), Some("missed")) => format!("{target}: MISSED"),
            (Some(target), Some(verdict)) => format!("{target}: {verdict}"),
            _ => String::new(),
        };
        [format!("  {}", self.name), median, spread, target]
    }
}

// === impl Figures ===

impl Figures {
    /// No figures of a measure yet.
    pub(crate) fn of(measure: &'static str) -> Self {
        Self { measure, all: Vec::new() }
    }

    /// The same with one more, from its value in each round. Where the system gives no values, there
    /// is no figure.
    pub(crate) fn add(
        mut self,
        name: impl Into<String>,
        unit: Unit,
        values: impl IntoIterator<Item = f64>,
    ) -> Self {
        let measure = self.measure;
        self.all.extend(Spread::from_values(values).map(|spread| Figure {
            measure,
            name: name.into(),
            unit,
            spread,
            target: None,
            verdict: None,
        }));
        self
    }

    /// The same with a target of the last one.
    pub(crate) fn with_target(mut self, target: Target) -> Self {
        if let Some(last) = self.all.last_mut() {
            last.verdict = Some(target.verdict(last.spread.median));
            last.target = Some(target);
        }
        self
    }

    /// The same with those of another measure.
    pub(crate) fn and(mut self, others: Self) -> Self {
        self.all.extend(others.all);
        self
    }
}

// === impl Unit ===

impl Unit {
    fn text(self, value: f64) -> String {
        match self {
            Self::PerSecond => format!("{}/s", whole(value)),
            Self::Ratio => format!("{value:.3}"),
            Self::Micros => format!("{value:.1} µs"),
            Self::Number => format!("{value:.4}"),
            Self::Whole => whole(value),
        }
    }
}

// === impl Target ===

impl Target {
    /// Whether it was reached by `value`, in a word.
    fn verdict(self, value: f64) -> &'static str {
        let reached = match self {
            Self::AtLeast(bound) => value >= bound,
            Self::AtMost(bound) => value <= bound,
            Self::Below(bound) => value < bound,
        };
        if reached { "reached" } else { "missed" }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(bound) => write!(f, "≥ {bound}"),
            Self::AtMost(bound) => write!(f, "≤ {bound}"),
            Self::Below(bound) => write!(f, "< {bound}"),
        }
    }
}

/// Rounded, with a comma before every three digits.
pub(crate) fn whole(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(median: f64) -> Figure {
        let figures = Figures::of("poll").add("ratio", Unit::Ratio, [0.8, 0.95, median]);
        figures.with_target(Target::AtLeast(0.85)).all.remove(0)
    }

    #[test]
    fn the_median_decides() {
        let [name, median, spread, target] = figure(0.85).row();
        assert_eq!((name.as_str(), median.as_str()), ("  ratio", "0.850"));
        assert_eq!((spread.as_str(), target.as_str()), ("0.800 – 0.950", "≥ 0.85: reached"));
        assert!(figure(0.84).row()[3].ends_with("MISSED"));
        assert_eq!(Target::Below(1.0).verdict(1.0), "missed");
        assert_eq!(Target::AtMost(1.0).verdict(1.0), "reached");
    }

    #[test]
    fn json_has_value_target_and_verdict() {
        let json = serde_json::to_value(figure(0.9)).unwrap();
        assert_eq!(json["median"], 0.9);
        assert_eq!(json["target"]["at_least"], 0.85);
        assert_eq!((&json["unit"], &json["verdict"]), (&"ratio".into(), &"reached".into()));
    }

    #[test]
    fn large_numbers_are_readable() {
        let texts = [0.4, 999.6, 12_345.0, 1_000_000.0].map(whole);
        assert_eq!(texts, ["0", "1,000", "12,345", "1,000,000"]);
    }
}
