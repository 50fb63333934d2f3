//! All that is to be said of a history: every violation with its evidence, and the figures. As JSON by
//! `serde`, and for people.

use std::fmt;

use serde::Serialize;

use crate::{Bounds, Event, Figures, Judge, Violation, WaitFigures};

/// All that is to be said of a history.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// What contradicts the promises, in the order in which it was found.
    pub violations: Vec<Violation>,
    /// How well.
    pub figures: Figures,
}

// === impl Report ===

impl Report {
    /// Judges a whole history.
    ///
    /// # Errors
    /// The first event that cannot be had.
    pub fn judge<E>(
        bounds: Bounds,
        events: impl IntoIterator<Item = Result<Event, E>>,
    ) -> Result<Self, E> {
        let mut judge = Judge::new(bounds);
        let mut violations = Vec::new();
        for event in events {
            violations.extend(judge.observe(&event?));
        }
        let verdict = judge.finish();
        violations.extend(verdict.violations);
        Ok(Self { violations, figures: verdict.figures })
    }

    /// Whether nothing contradicts the promises.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.figures.violations.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let figures = &self.figures;
        self.violations.iter().try_for_each(|violation| writeln!(f, "{violation}"))?;
        rows(figures)
            .into_iter()
            .try_for_each(|(name, value)| writeln!(f, "{name:<24} {value}"))?;
        if figures.events == 0 {
            return writeln!(f, "\nThere is nothing in these histories.");
        } else if self.holds() {
            return writeln!(f, "\nNothing contradicts the promises.");
        }
        let counts = figures.violations.iter().map(|(code, count)| format!("{count} {code}"));
        writeln!(f, "\nVIOLATIONS: {}", counts.collect::<Vec<_>>().join(", "))
    }
}

fn rows(figures: &Figures) -> Vec<(&'static str, String)> {
    let seconds = |ms: u64| format!("{}.{} s", ms / 1000, ms % 1000 / 100);
    let mut rows = vec![
        ("events", figures.events.to_string()),
        ("span", seconds(figures.span_ms)),
        ("rooms", figures.rooms.to_string()),
        ("numbers handed out", figures.numbers.to_string()),
        ("entries", figures.entries.to_string()),
        ("ended early", figures.ended.to_string()),
        ("unknown outcomes", figures.unknown.to_string()),
        ("overtaken at the door", figures.overtaken.to_string()),
    ];
    if figures.judged < figures.events {
        rows.push(("judged, until a loss", figures.judged.to_string()));
    }
    if figures.overtaken > 0 {
        rows.push(("longest overtaking", seconds(figures.longest_overtaking_ms)));
    }
    if let Some(used) = figures.used {
        let measured = seconds(figures.measured_ms);
        rows.push(("ceiling used", format!("{:.2} % of {measured} of asking", used * 100.0)));
    }
    let waits =
        [("first waits told", &figures.first_waits), ("all waits told", &figures.all_waits)];
    rows.extend(waits.into_iter().filter_map(|(name, figures)| Some((name, waits_row(figures)?))));
    rows
}

fn waits_row(waits: &WaitFigures) -> Option<String> {
    let (error, bias) = (waits.median_error?, waits.bias?);
    let (error, bias) = (error * 100.0, bias * 100.0);
    Some(format!("{}: median error {error:.0} %, bias {bias:+.0} %", waits.count))
}
