//! What `check-history` prints: every violation with its evidence, then the figures.

use serde::Serialize;
use vestibule_history::{Figures, Violation, WaitFigures};

#[derive(Serialize)]
struct Report<'a> {
    violations: &'a [Violation],
    figures: &'a Figures,
}

pub(super) fn json(violations: &[Violation], figures: &Figures) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&Report { violations, figures })
}

pub(super) fn text(violations: &[Violation], figures: &Figures) -> String {
    let mut lines: Vec<_> = violations.iter().map(ToString::to_string).collect();
    lines.extend(rows(figures).into_iter().map(|(name, value)| format!("{name:<24} {value}")));
    lines.push(String::new());
    lines.push(if figures.events == 0 {
        "There is nothing in these histories.".to_owned()
    } else if figures.violations.is_empty() {
        "Nothing contradicts the promises.".to_owned()
    } else {
        let counts = figures.violations.iter().map(|(code, count)| format!("{count} {code}"));
        format!("VIOLATIONS: {}", counts.collect::<Vec<_>>().join(", "))
    });
    lines.push(String::new());
    lines.join("\n")
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
