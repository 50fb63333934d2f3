//! The state of a visitor in the form of Cloudflare's waiting rooms: 25 keys, in every state. Apps
//! read them as JSON under `cfWaitingRoom`, custom pages as variables of their template.

use std::time::{Duration, UNIX_EPOCH};

use serde::Serialize;
use vestibule_domain::QueueingMethod;

use crate::{PageState, PageView};

const UNAVAILABLE: &str = "unavailable";
/// Longer waits are not shown: the queue counts as full.
const LONGEST_SECONDS: u64 = 24 * 3600;

/// The object that Cloudflare's apps and pages read. Waits and times are whole minutes.
#[derive(Debug, Clone, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
#[expect(
    clippy::struct_excessive_bools,
    missing_docs,
    reason = "the form is defined by Cloudflare"
)]
pub struct CfWaitingRoom {
    pub in_waiting_room: bool,
    pub wait_time_known: bool,
    pub wait_time: u64,
    #[serde(rename = "waitTime25Percentile")]
    pub wait_time_p25: u64,
    #[serde(rename = "waitTime50Percentile")]
    pub wait_time_p50: u64,
    #[serde(rename = "waitTime75Percentile")]
    pub wait_time_p75: u64,
    pub wait_time_formatted: String,
    pub queue_is_full: bool,
    pub queue_all: bool,
    pub last_updated: String,
    pub refresh_interval_seconds: u64,
    pub queueing_method: &'static str,
    #[serde(rename = "isFIFOQueue")]
    pub is_fifo_queue: bool,
    pub is_random_queue: bool,
    pub is_passthrough_queue: bool,
    pub is_reject_queue: bool,
    pub is_event_active: bool,
    pub is_event_prequeueing: bool,
    pub time_until_event_start: u64,
    pub time_until_event_start_formatted: String,
    pub time_until_event_end: u64,
    pub time_until_event_end_formatted: String,
    pub shuffle_at_event_start: bool,
    pub turnstile: &'static str,
    pub infinite_queue: bool,
}

// === impl CfWaitingRoom ===

impl CfWaitingRoom {
    /// The values for `view`.
    #[must_use]
    pub fn from_view(view: &PageView) -> Self {
        let inside = view.state == PageState::Inside;
        let wait = view.wait_seconds.filter(|_| !inside);
        let full = wait.is_some_and(|seconds| seconds > LONGEST_SECONDS);
        let known = wait.is_some() && !full;
        let shown = |seconds: Option<u64>| seconds.filter(|_| known).map_or(0, minutes);
        let [p25, p50, p75] = view.quartiles.map_or([None; 3], |all| all.map(Some));
        let [wait, p25, p50, p75] = [wait, p25, p50, p75].map(shown);
        let [until_start, until_end] = times_of(view);
        let written = |minutes: Option<u64>| minutes.map_or(UNAVAILABLE.into(), formatted);
        let event = view.event.as_ref();
        Self {
            in_waiting_room: !inside,
            wait_time_known: known,
            wait_time: wait,
            wait_time_p25: p25,
            wait_time_p50: p50,
            wait_time_p75: p75,
            wait_time_formatted: match view.quartiles {
                _ if !known => UNAVAILABLE.into(),
                Some(_) if p25 < p75 => format!("{} to {}", formatted(p25), formatted(p75)),
                Some(_) => formatted(p75),
                None => formatted(wait),
            },
            queue_is_full: full,
            queue_all: view.queue_all,
            last_updated: timestamp(view.now_ms),
            refresh_interval_seconds: match view.interval_ms {
                _ if inside => 0,
                ms => u64::from(ms.div_ceil(1000)),
            },
            queueing_method: view.method.name(),
            is_fifo_queue: view.method == QueueingMethod::Fifo,
            is_random_queue: view.method == QueueingMethod::Random,
            is_passthrough_queue: view.method == QueueingMethod::Passthrough,
            is_reject_queue: view.method == QueueingMethod::Reject,
            is_event_active: event.is_some(),
            is_event_prequeueing: event.is_some_and(|event| event.prequeueing),
            time_until_event_start: until_start.unwrap_or(0),
            time_until_event_start_formatted: written(until_start),
            time_until_event_end: until_end.unwrap_or(0),
            time_until_event_end_formatted: written(until_end),
            shuffle_at_event_start: event.is_some_and(|event| event.draw),
            turnstile: "",
            infinite_queue: false,
        }
    }
}

/// Minutes until the start of the event, while the pre-queue is open, and until its end.
fn times_of(view: &PageView) -> [Option<u64>; 2] {
    let until = |seconds: u64| minutes(seconds.saturating_sub(view.now_ms / 1000));
    let event = view.event.as_ref();
    let start = event.filter(|event| event.prequeueing).map(|event| until(event.start));
    [start, event.map(|event| until(event.end))]
}

fn minutes(seconds: u64) -> u64 {
    seconds.div_ceil(60)
}

/// A duration in English words, as in Cloudflare's form.
fn formatted(minutes: u64) -> String {
    let plural =
        |count: u64, unit: &str| format!("{count} {unit}{}", if count == 1 { "" } else { "s" });
    match (minutes / 60, minutes % 60) {
        (0, minutes) => plural(minutes, "minute"),
        (hours, 0) => plural(hours, "hour"),
        (hours, minutes) => format!("{} {}", plural(hours, "hour"), plural(minutes, "minute")),
    }
}

/// The last moment of the year 9999.
const LAST_MS: u64 = 253_402_300_799_999;

fn timestamp(ms: u64) -> String {
    let moment = UNIX_EPOCH + Duration::from_millis(ms.min(LAST_MS));
    humantime::format_rfc3339_millis(moment).to_string()
}

#[cfg(test)]
mod tests;
