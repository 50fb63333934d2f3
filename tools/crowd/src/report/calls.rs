//! The calls of the crowd: how many, how long they took, and which failed.

use std::collections::BTreeMap;

use serde::Serialize;

use super::layout::Section;
use crate::{
    crowd::{Call, duration::human, number::real64},
    record::{CallLog, Quantiles},
};

/// What became of the calls.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Calls {
    /// How long each kind of call took.
    pub(crate) latency: BTreeMap<&'static str, Latency>,
    /// The longest that a call waited for one of this tool's own connections, in milliseconds.
    pub(crate) longest_wait_for_connection_ms: f64,
    /// Failed calls by status, or by how the connection failed.
    pub(crate) errors: BTreeMap<String, u64>,
    /// Check-ins in the busiest second.
    pub(crate) peak_polls_per_second: u32,
    /// Check-ins per second, as a mean from the first who waited to the last.
    pub(crate) mean_polls_per_second: Option<f64>,
    /// Calls of any kind in the busiest second.
    pub(crate) peak_calls_per_second: u32,
}

/// How long calls of one kind took, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Latency {
    /// Calls that were answered.
    pub(crate) count: u64,
    /// Half of them took no longer.
    pub(crate) p50_ms: f64,
    /// Nine of ten took no longer.
    pub(crate) p90_ms: f64,
    /// 99 of 100 took no longer.
    pub(crate) p99_ms: f64,
    /// The longest.
    pub(crate) max_ms: f64,
}

// === impl Calls ===

impl Calls {
    /// Sums them up; people waited in `span`.
    pub(super) fn new(calls: &CallLog, span: Option<(f64, f64)>) -> Self {
        let latency = |call: Call| Latency::new(&calls.latencies[call as usize]);
        let polls: f64 = calls.polls.iter().copied().map(f64::from).sum();
        let most = |per_second: &[u32]| per_second.iter().copied().max().unwrap_or(0);
        Self {
            latency: Call::ALL.map(|call| (call.name(), latency(call))).into(),
            longest_wait_for_connection_ms: real64(calls.longest_queued) / 1000.0,
            errors: calls.errors.clone(),
            peak_polls_per_second: most(&calls.polls),
            mean_polls_per_second: span
                .filter(|(from, until)| until > from)
                .map(|(from, until)| polls / (until - from)),
            peak_calls_per_second: most(&calls.all),
        }
    }

    /// The section for people. A simulation has no connections.
    pub(super) fn section(&self, simulated: bool) -> Section {
        let mut section = Section::new("Calls");
        for (name, latency) in self.latency.iter().filter(|(_, latency)| latency.count > 0) {
            section = section.row(name, latency.count, latency.spread());
        }
        let mean = self.mean_polls_per_second;
        let mean = mean.map_or(String::new(), |mean| format!("{mean:.1}/s in the mean, "));
        let remark = format!("{mean}{} calls/s of any kind", self.peak_calls_per_second);
        section = section.row("most check-ins in a second", self.peak_polls_per_second, remark);
        if simulated {
            return section;
        }
        let longest = human(self.longest_wait_for_connection_ms / 1000.0);
        let remark = "in this tool; raise --connections if it is long";
        section.row("longest wait for a connection", longest, remark)
    }

    /// The section of those that failed.
    pub(super) fn errors_section(&self) -> Section {
        let section = Section::new("Errors");
        self.errors.iter().fold(section, |section, (kind, count)| section.row(kind, count, ""))
    }
}

// === impl Latency ===

impl Latency {
    fn new(micros: &Quantiles) -> Self {
        let [p50_ms, p90_ms, p99_ms, max_ms] =
            [0.5, 0.9, 0.99, 1.0].map(|share| micros.at(share) / 1000.0);
        Self { count: micros.count(), p50_ms, p90_ms, p99_ms, max_ms }
    }

    fn spread(&self) -> String {
        let [p50, p90, p99, max] =
            [self.p50_ms, self.p90_ms, self.p99_ms, self.max_ms].map(|ms| human(ms / 1000.0));
        format!("p50 {p50}, p90 {p90}, p99 {p99}, max {max}")
    }
}
