//! Ended spans on their way to the sender: a bounded queue. Who ends a span is never kept waiting.

use std::time::Duration;

use opentelemetry::Context;
use opentelemetry_sdk::{
    error::OTelSdkResult,
    trace::{Span, SpanData, SpanProcessor},
};
use tokio::sync::mpsc;

use super::sender::Counts;

/// Spans that may wait, a few hundred bytes each.
const LONGEST: usize = 8_192;

/// The end at which spans come in.
#[derive(Debug)]
pub(super) struct Queue {
    ended: mpsc::Sender<SpanData>,
    counts: Counts,
}

// === impl Queue ===

impl Queue {
    /// A queue, and the end at which spans come out.
    pub(super) fn new(counts: Counts) -> (Self, mpsc::Receiver<SpanData>) {
        let (ended, receiver) = mpsc::channel(LONGEST);
        (Self { ended, counts }, receiver)
    }
}

impl SpanProcessor for Queue {
    fn on_start(&self, _: &mut Span, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        if self.ended.try_send(span).is_err() {
            self.counts.drop_for("queue", 1);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}
