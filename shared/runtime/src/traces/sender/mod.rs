//! The task that sends ended spans to the collector.
//!
//! | metric | type | what |
//! |---|---|---|
//! | `vestibule_traces_spans_sent_total` | counter | spans that the collector has taken |
//! | `vestibule_traces_spans_dropped_total` | counter | spans that it has not, label `reason`: `queue` (too many at a time), `collector` (it was away, or refused them), `stop` (the process has ended before) |
//! | `vestibule_traces_left_out_total` | counter | traces that were not begun because there were too many in that second |

use std::fmt;

use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{
        counter::{ConstCounter, Counter},
        family::Family,
    },
};
use tokio::{
    sync::mpsc,
    time::{Duration, Instant, sleep, timeout_at},
};
use tokio_util::sync::CancellationToken;
use vestibule_traces::Traces;

use super::client::LastFailure;
use crate::{Lifecycle, Sparingly, metrics::Registry};

/// Spans in a message.
const TOGETHER: usize = 512;
/// For how long spans are gathered.
const GATHER: Duration = Duration::from_secs(1);
/// How long the stop waits until all are sent.
const FLUSH: Duration = Duration::from_secs(3);
/// How often a failure is said.
const SAY: Duration = Duration::from_mins(1);

/// Sends the spans of this instance, if any are recorded.
#[derive(Debug, Default)]
pub struct TraceSender(Option<Box<Parts>>);

/// What it is made of.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) traces: Traces,
    pub(super) ended: mpsc::Receiver<SpanData>,
    pub(super) exporter: opentelemetry_otlp::SpanExporter,
    pub(super) failure: LastFailure,
    pub(super) counts: Counts,
}

/// What became of spans.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    sent: Counter,
    dropped: Family<[(&'static str, &'static str); 1], Counter>,
}

#[derive(Debug)]
struct LeftOut(Traces);

struct Sending<E> {
    ended: mpsc::Receiver<SpanData>,
    exporter: E,
    failure: LastFailure,
    counts: Counts,
    gathered: Vec<SpanData>,
    /// Spans that the collector is being sent.
    under_way: usize,
    failures: Sparingly,
}

// === impl TraceSender ===

impl TraceSender {
    pub(super) fn new(parts: Parts) -> Self {
        Self(Some(Box::new(parts)))
    }

    /// Registers what is counted, and sends from now on, until the last request was answered and for three seconds more
    /// at most. Without traces it does nothing.
    pub fn start(self, registry: &mut Registry, lifecycle: &Lifecycle) {
        let Some(parts) = self.0 else { return };
        let Parts { traces, ended, exporter, failure, counts } = *parts;
        counts.register(registry);
        registry.register_collector(Box::new(LeftOut(traces)));
        let sending = Sending::new(ended, exporter, failure, counts);
        lifecycle.spawn("traces", sending.run(lifecycle.drained().clone()));
    }
}

// === impl Counts ===

impl Counts {
    fn register(&self, registry: &mut Registry) {
        let help = "Spans that the collector has taken";
        registry.register("traces_spans_sent", help, self.sent.clone());
        // Each is told from the beginning, so that a rise from nothing is seen.
        for reason in ["queue", "collector", "stop"] {
            self.drop_for(reason, 0);
        }
        let help = "Spans that were dropped";
        registry.register("traces_spans_dropped", help, self.dropped.clone());
    }

    pub(super) fn drop_for(&self, reason: &'static str, spans: usize) {
        let spans = u64::try_from(spans).unwrap_or(u64::MAX);
        self.dropped.get_or_create(&[("reason", reason)]).inc_by(spans);
    }
}

// === impl LeftOut ===

impl Collector for LeftOut {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let count = ConstCounter::new(self.0.left_out());
        let help = "Traces that were not begun because there were too many in that second";
        let kind = count.metric_type();
        count.encode(encoder.encode_descriptor("traces_left_out", help, None, kind)?)
    }
}

// === impl Sending ===

impl<E: SpanExporter> Sending<E> {
    fn new(
        ended: mpsc::Receiver<SpanData>,
        exporter: E,
        failure: LastFailure,
        counts: Counts,
    ) -> Self {
        let failures = Sparingly::new(SAY);
        Self { ended, exporter, failure, counts, gathered: Vec::new(), under_way: 0, failures }
    }

    /// Sends until `stop`, and then what is left.
    async fn run(mut self, stop: CancellationToken) {
        let limit = async {
            stop.cancelled().await;
            sleep(FLUSH).await;
        };
        tokio::select! {
            biased;
            () = self.send_until(&stop) => {}
            () = limit => {}
        }
        let left = self.under_way + self.gathered.len() + self.ended.len();
        if left > 0 {
            self.counts.drop_for("stop", left);
            tracing::warn!(
                spans = left,
                "the collector of traces did not take the last spans in time"
            );
        }
    }

    async fn send_until(&mut self, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = self.gather() => self.send().await,
            }
        }
        while !self.gathered.is_empty() || !self.ended.is_empty() {
            self.take(Instant::now()).await;
            self.send().await;
        }
    }

    /// Gathers a message: what comes within a moment of its first span. Given up, it loses nothing.
    async fn gather(&mut self) {
        if self.gathered.is_empty() && self.ended.recv_many(&mut self.gathered, TOGETHER).await == 0
        {
            // Nobody is left who could end a span.
            std::future::pending::<()>().await;
        }
        self.take(Instant::now() + GATHER).await;
    }

    async fn take(&mut self, until: Instant) {
        while self.gathered.len() < TOGETHER {
            let more = TOGETHER - self.gathered.len();
            match timeout_at(until, self.ended.recv_many(&mut self.gathered, more)).await {
                Ok(1..) => {}
                Ok(0) | Err(_) => return,
            }
        }
    }

    async fn send(&mut self) {
        let batch = std::mem::take(&mut self.gathered);
        self.under_way = batch.len();
        let sent = self.exporter.export(batch).await;
        let spans = std::mem::take(&mut self.under_way);
        let Err(error) = sent else {
            self.counts.sent.inc_by(u64::try_from(spans).unwrap_or(u64::MAX));
            return;
        };
        self.counts.drop_for("collector", spans);
        if let Some(times) = self.failures.note(Instant::now()) {
            let error = self.failure.take().unwrap_or_else(|| error.to_string());
            tracing::warn!(%error, times, "traces cannot be sent: their spans are dropped");
        }
    }
}

#[cfg(test)]
mod tests;
