//! The report for people: aligned text, one section per question an operator asks. It shows the
//! figures and calculates none.

use std::fmt::{Display, Write};

use super::{
    estimates::{Accuracy, Calibration},
    sections::Figures,
    spread::{Latency, Waits},
};
use crate::{duration::human, method::QueueingMethod, number::whole};

/// Rows of one section, with a value and a remark each.
#[derive(Debug, Default)]
struct Section {
    title: &'static str,
    rows: Vec<(String, String, String)>,
}

/// The whole report as text, with what was wrong at its end, where it is seen.
pub(crate) fn text(figures: &Figures, problems: &[String]) -> String {
    let sections = [
        visitors(figures),
        admissions(figures),
        inside(figures),
        order(figures),
        calls(figures),
        errors(figures),
        estimates(figures),
        simulation(figures),
    ];
    let mut out = headline(figures);
    for section in sections.iter().filter(|s| !s.rows.is_empty()) {
        section.write(&mut out);
    }
    out.push('\n');
    match problems {
        [] => out.push_str("All visits finished, and nothing was wrong.\n"),
        some => some.iter().for_each(|problem| line(&mut out, &format!("WRONG: {problem}"))),
    }
    out
}

// === impl Section ===

impl Section {
    fn new(title: &'static str) -> Self {
        Self { title, rows: Vec::new() }
    }

    fn row(mut self, label: &str, value: impl Display, remark: impl Into<String>) -> Self {
        self.rows.push((label.to_owned(), value.to_string(), remark.into()));
        self
    }

    fn maybe<T>(self, label: &str, value: Option<T>, show: impl Fn(T) -> (String, String)) -> Self {
        match value.map(show) {
            Some((value, remark)) => self.row(label, value, remark),
            None => self,
        }
    }

    fn write(&self, out: &mut String) {
        line(out, &format!("\n{}", self.title));
        for (label, value, remark) in &self.rows {
            line(out, format!("  {label:<34}{value:>12}  {remark}").trim_end());
        }
    }
}

fn line(out: &mut String, text: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "{text}");
}

fn headline(figures: &Figures) -> String {
    let setting = &figures.setting;
    let limit = |limit: Option<u32>| limit.map_or("none".to_owned(), |limit| limit.to_string());
    format!(
        "{}: {} visitors {}, staying {}; ceiling {}, per minute {}; took {} (seed {})\n",
        setting.what(),
        setting.visitors,
        setting.arrival(),
        human(setting.stay_seconds),
        limit(setting.ceiling),
        limit(setting.rate_per_minute),
        human(figures.duration_seconds),
        setting.seed,
    )
}

fn visitors(figures: &Figures) -> Section {
    let seen = &figures.visitors;
    let waits = figures.waiting.waits;
    let spread = format!(
        "half waited up to {}, nine of ten up to {}, the longest {}",
        human(waits.p50_seconds),
        human(waits.p90_seconds),
        human(waits.max_seconds)
    );
    let mut section = Section::new("Visitors")
        .row("arrived", seen.arrived, format!("{:.0} joins/s", figures.joins_per_second))
        .row("admitted", seen.admitted, format!("{} at once", seen.admitted_at_once))
        .row(
            "waited and were admitted",
            waits.count,
            if waits.count > 0 { spread } else { String::new() },
        )
        .row("closed the tab while waiting", seen.abandoned, "")
        .row("never admitted", seen.never_admitted, "");
    let rest = [
        ("told `expired`", seen.expired),
        ("told `closed`", seen.closed),
        ("gave up after errors", seen.failed),
        ("still on their way at the end", seen.unfinished),
    ];
    for (label, count) in rest.into_iter().filter(|(_, count)| *count > 0) {
        section = section.row(label, count, "");
    }
    let correlation = figures.waiting.correlation_with_arrival;
    section.row("most waiting at once", figures.waiting.highest, "").maybe(
        "correlation of arrival and wait",
        correlation,
        |r| (format!("{r:+.3}"), String::new()),
    )
}

fn admissions(figures: &Figures) -> Section {
    let seen = &figures.admissions;
    let limit = figures.setting.rate_per_minute;
    let remark = limit.map_or(String::new(), |limit| format!("limit {limit}"));
    Section::new("Admissions per minute")
        .maybe("mean while people waited", seen.per_minute_while_waiting, |mean| {
            (format!("{mean:.1}"), String::new())
        })
        .row("most in 60 s, visitors' view", seen.highest_in_a_minute, remark.clone())
        .maybe("most in 60 s, controller's view", seen.highest_in_a_minute_controller, |most| {
            (most.to_string(), remark.clone())
        })
        .maybe("share of the limit while waiting", seen.share_of_rate_while_waiting, |share| {
            (percent(share), String::new())
        })
}

fn inside(figures: &Figures) -> Section {
    let seen = &figures.inside;
    let limit = figures.setting.ceiling;
    let remark = limit.map_or(String::new(), |limit| format!("ceiling {limit}"));
    let measured = format!("over {}, after the first stay", human(seen.measured_seconds));
    let share = |share| (percent(share), measured.clone());
    Section::new("Inside")
        .row("most at once, visitors' view", seen.highest, remark.clone())
        .maybe("most at once, controller's view", seen.highest_controller, |most| {
            (most.to_string(), remark.clone())
        })
        .maybe("share of the ceiling while waiting", seen.share_of_ceiling_while_waiting, share)
        .maybe(
            "the same, controller's view",
            seen.share_of_ceiling_while_waiting_controller,
            |share| (percent(share), "as far as it answered".to_owned()),
        )
        .maybe("a free seat was taken again after", seen.seat_taken_again, |spans: Waits| {
            let rest = format!(
                "at the median; nine of ten {}, longest {}, {} seats",
                human(spans.p90_seconds),
                human(spans.max_seconds),
                spans.count
            );
            (human(spans.p50_seconds), rest)
        })
}

fn order(figures: &Figures) -> Section {
    let seen = &figures.order;
    let far = format!(
        "at most {} places ahead, and at most {} sooner",
        seen.largest_overtaking_places,
        human(seen.largest_overtaking_seconds)
    );
    let numbers = figures.identities.duplicate_queue_numbers;
    let section = Section::new("Order").row("queue numbers held twice", numbers, "");
    if !figures.setting.method.is_none_or(QueueingMethod::keeps_order) {
        return section;
    }
    section.row("admitted before an earlier visitor", seen.admitted_out_of_order, far).row(
        "overtaken by a later visitor",
        seen.overtaken,
        "",
    )
}

fn calls(figures: &Figures) -> Section {
    let mut section = Section::new("Calls");
    for (name, latency) in figures.latency.iter().filter(|(_, latency)| latency.count > 0) {
        section = section.row(name, latency.count, spread(latency));
    }
    let mean = figures.mean_polls_per_second;
    let mean = mean.map_or(String::new(), |mean| format!("{mean:.1}/s in the mean, "));
    let remark = format!("{mean}{} calls/s of any kind", figures.peak_calls_per_second);
    let section = section.row("most check-ins in a second", figures.peak_polls_per_second, remark);
    if figures.simulation.is_some() {
        return section;
    }
    let longest = human(figures.longest_wait_for_connection_ms / 1000.0);
    let remark = "in this tool; raise --connections if it is long";
    section.row("longest wait for a connection", longest, remark)
}

fn spread(latency: &Latency) -> String {
    let [p50, p90, p99, max] = [latency.p50_ms, latency.p90_ms, latency.p99_ms, latency.max_ms]
        .map(|ms| human(ms / 1000.0));
    format!("p50 {p50}, p90 {p90}, p99 {p99}, max {max}")
}

fn errors(figures: &Figures) -> Section {
    let mut section = Section::new("Errors");
    for (kind, count) in &figures.errors {
        section = section.row(kind, count, "");
    }
    section
}

fn estimates(figures: &Figures) -> Section {
    let seen = &figures.estimates;
    let told = seen.known + seen.unknown;
    let mut section = Section::new("Wait estimates");
    if told > 0 {
        let unknown = format!("{} said that it is unknown", seen.unknown);
        section = section.row("answers that told a wait", seen.known, unknown);
    }
    let labels = ["first told", "told halfway", "all"];
    for (label, accuracy) in labels.into_iter().zip([seen.first, seen.halfway, seen.all]) {
        section = section.maybe(&format!("{label}: median error"), accuracy, off);
        let calibration = accuracy.and_then(|accuracy| accuracy.calibration);
        section = section.maybe("  waits within p25, p50, p75", calibration, quartiles);
    }
    section
}

fn simulation(figures: &Figures) -> Section {
    let section = Section::new("Simulation");
    let Some(seen) = &figures.simulation else { return section };
    let queued = seen.queued_while_a_slot_was_free;
    let mut section = section
        .row("took in reality", human(seen.real_seconds), "")
        .row("moments of visitors", seen.moments, format!("{} calls to Redis", seen.redis_calls))
        .row("queued while a slot was free", queued, "newcomers, while nobody else waited");
    for (name, region) in &seen.regions {
        let at_once = format!(
            "{} admitted at once: {} by its own slots, {} by anyone's, {} lent",
            region.admitted_at_once, region.own_slots, region.anywhere_slots, region.lent_slots
        );
        section = section.row(&format!("from {name}"), region.arrived, at_once);
    }
    section
}

fn off(accuracy: Accuracy) -> (String, String) {
    let bias = whole(accuracy.bias * 100.0);
    let remark = format!(
        "of the wait ({}); nine of ten within {:.0}%; bias {bias:+}%; {} judged, told 10 s ahead \
         or more",
        human(accuracy.median_error_seconds),
        accuracy.p90_error_share * 100.0,
        accuracy.judged,
    );
    (percent(accuracy.median_error_share), remark)
}

fn quartiles(calibration: Calibration) -> (String, String) {
    let [p25, p50, p75] =
        [calibration.within_p25, calibration.within_p50, calibration.within_p75].map(percent);
    (p50, format!("{p25} within p25, {p75} within p75; right would be 50%, 25% and 75%"))
}

fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_what_is_known_and_leaves_out_the_rest() {
        let mut figures = Figures::default();
        figures.inside.share_of_ceiling_while_waiting = Some(0.9942);
        figures.errors.insert("503".into(), 12);
        let text = text(&figures, &["something".to_owned()]);
        assert!(text.contains("99.42%") && text.contains("WRONG: something"));
        assert!(!text.contains("controller's view"));
        assert!(text.lines().any(|line| line.split_whitespace().eq(["503", "12"])));
        assert!(text.lines().all(|line| line.trim_end() == line));
    }
}
