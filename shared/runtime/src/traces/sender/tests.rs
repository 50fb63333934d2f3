//! What becomes of spans when the collector takes them, refuses them, and says nothing.

use std::sync::{Arc, Mutex};

use opentelemetry::trace::{Tracer, TracerProvider};
use opentelemetry_sdk::{
    error::{OTelSdkError, OTelSdkResult},
    trace::{SdkTracer, SdkTracerProvider},
};

use super::*;
use crate::{metrics::encode, traces::queue::Queue};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mood {
    Takes,
    Refuses,
    Hangs,
}

/// A collector that notes how many spans each message has.
#[derive(Debug, Clone)]
struct Fake {
    mood: Mood,
    messages: Arc<Mutex<Vec<usize>>>,
}

impl SpanExporter for Fake {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.messages.lock().unwrap().push(batch.len());
        match self.mood {
            Mood::Takes => Ok(()),
            Mood::Refuses => Err(OTelSdkError::InternalFailure("no".into())),
            Mood::Hangs => std::future::pending().await,
        }
    }
}

struct Stage {
    tracer: SdkTracer,
    messages: Arc<Mutex<Vec<usize>>>,
    registry: Registry,
    stop: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

impl Stage {
    fn new(mood: Mood) -> Self {
        let counts = Counts::default();
        let mut registry = Registry::default();
        counts.register(&mut registry);
        let (queue, ended) = Queue::new(counts.clone());
        let provider = SdkTracerProvider::builder().with_span_processor(queue).build();
        let messages = Arc::<Mutex<Vec<usize>>>::default();
        let exporter = Fake { mood, messages: Arc::clone(&messages) };
        let sending = Sending::new(ended, exporter, LastFailure::default(), counts);
        let stop = CancellationToken::new();
        let task = tokio::spawn(sending.run(stop.clone()));
        Self { tracer: provider.tracer("test"), messages, registry, stop, task }
    }

    fn end_spans(&self, count: usize) {
        for _ in 0..count {
            drop(self.tracer.start("span"));
        }
    }

    fn messages(&self) -> Vec<usize> {
        self.messages.lock().unwrap().clone()
    }

    fn counted(&self, series: &str) -> bool {
        encode(&self.registry).unwrap().lines().any(|line| line == series)
    }
}

#[tokio::test(start_paused = true)]
async fn spans_of_a_moment_travel_together() {
    let stage = Stage::new(Mood::Takes);
    stage.end_spans(3);
    sleep(GATHER / 2).await;
    stage.end_spans(TOGETHER);
    sleep(GATHER * 3).await;
    assert_eq!(stage.messages(), [TOGETHER, 3]);
    assert!(stage.counted("traces_spans_sent_total 515"));
    stage.end_spans(2);
    stage.stop.cancel();
    stage.task.await.unwrap();
    assert_eq!(stage.messages.lock().unwrap().last(), Some(&2), "what is left is sent at the stop");
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_is_dropped_and_counted() {
    let stage = Stage::new(Mood::Refuses);
    stage.end_spans(7);
    sleep(GATHER * 2).await;
    assert!(stage.counted("traces_spans_dropped_total{reason=\"collector\"} 7"));
    assert!(stage.counted("traces_spans_sent_total 0"));
}

#[tokio::test(start_paused = true)]
async fn a_collector_that_says_nothing_fills_the_queue_and_holds_no_stop_for_long() {
    let stage = Stage::new(Mood::Hangs);
    stage.end_spans(TOGETHER);
    sleep(GATHER * 2).await;
    assert_eq!(stage.messages(), [TOGETHER]);
    stage.end_spans(8_192 + 5);
    assert!(stage.counted("traces_spans_dropped_total{reason=\"queue\"} 5"));
    let start = Instant::now();
    stage.stop.cancel();
    stage.task.await.unwrap();
    assert_eq!(start.elapsed(), FLUSH);
    let text = encode(&stage.registry).unwrap();
    assert!(text.contains("reason=\"stop\"} 8704"), "{text}");
}
