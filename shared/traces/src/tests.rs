//! What is recorded of calls, and what is not.

use std::sync::{Arc, Mutex};

use opentelemetry::trace::{SpanBuilder, SpanContext, SpanId, TraceFlags, TraceId, TraceState};
use opentelemetry_sdk::{
    error::OTelSdkResult,
    trace::{SdkTracerProvider, SpanData, SpanExporter},
};

use crate::{Sampling, Span, Traces, child, current, ids, note, shared, spanned, within};

/// Keeps what has ended. (OpenTelemetry has one, whose feature has every crate below built twice: for services and
/// for tests.)
#[derive(Debug, Clone, Default)]
struct Ended(Arc<Mutex<Vec<SpanData>>>);

impl SpanExporter for Ended {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.0.lock().unwrap().extend(batch);
        Ok(())
    }
}

/// Traces, and where they end up.
fn recorded(fraction: f64, per_second: u32) -> (Traces, Ended) {
    use opentelemetry::trace::TracerProvider;

    let exporter = Ended::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    let sampling = Sampling { fraction, by_parent: true, per_second };
    (Traces::new(provider.tracer("test"), sampling, || u64::MAX / 2), exporter)
}

fn caller(trace: u128, recorded: bool) -> SpanContext {
    let flags = if recorded { TraceFlags::SAMPLED } else { TraceFlags::NOT_SAMPLED };
    let (trace, span) = (TraceId::from(trace), SpanId::from(5));
    SpanContext::new(trace, span, flags, true, TraceState::default())
}

fn named(name: &'static str) -> impl FnOnce() -> SpanBuilder {
    move || SpanBuilder::from_name(name)
}

fn spans(exporter: &Ended) -> Vec<SpanData> {
    exporter.0.lock().unwrap().clone()
}

fn id(span: &Span) -> SpanId {
    span.context().span_id()
}

#[tokio::test]
async fn what_is_off_or_not_drawn_builds_nothing() {
    let never = || -> SpanBuilder { unreachable!() };
    assert!(Traces::off().begin(Some(caller(7, true)), never).is_none());
    let (traces, exporter) = recorded(0.1, 9);
    assert!(traces.begin(None, never).is_none());
    assert!(traces.begin(Some(caller(7, false)), never).is_none());
    spanned(None, async {
        assert!(current().is_none() && ids().is_none() && child(never).is_none());
        note(|_| unreachable!());
    })
    .await;
    assert!(spans(&exporter).is_empty());
}

#[tokio::test]
async fn a_span_is_below_the_callers_and_what_is_done_in_it_is_below_it() {
    let (traces, exporter) = recorded(0.0, 9);
    let span = traces.begin(Some(caller(7, true)), named("call")).unwrap();
    let work = async {
        note(|span| span.set("room", "sale"));
        let script = child(named("script"));
        tokio::task::yield_now().await;
        spanned(script, async { tokio::task::yield_now().await }).await;
        ids()
    };
    let (trace, parent) = spanned(Some(span.clone()), work).await.unwrap();
    assert_eq!((trace, parent), (TraceId::from(7), id(&span)));
    assert!(current().is_none());
    let spans = spans(&exporter);
    let [script, call] = &*spans else { panic!("{spans:?}") };
    assert_eq!((&*script.name, script.parent_span_id), ("script", id(&span)));
    assert_eq!((&*call.name, call.parent_span_id), ("call", SpanId::from(5)));
    assert_eq!(call.attributes[0].key.as_str(), "room");
    assert!(spans.iter().all(|span| span.span_context.trace_id() == TraceId::from(7)));
}

#[tokio::test]
async fn work_for_several_is_below_the_first_and_linked_with_all() {
    let (traces, exporter) = recorded(1.0, 9);
    let [first, other] = [1, 2].map(|_| traces.begin(None, named("call")).unwrap());
    assert!(shared(&[], named("none")).is_none());
    let batch = shared(&[&first, &other], named("batch")).unwrap();
    spanned(Some(batch.clone()), async {}).await;
    first.end();
    other.end();
    let spans = spans(&exporter);
    let [done, below, beside] = &*spans else { panic!("{spans:?}") };
    let links = |span: &SpanData| {
        span.links.iter().map(|link| link.span_context.span_id()).collect::<Vec<_>>()
    };
    assert_eq!((done.parent_span_id, links(done)), (id(&first), vec![id(&other)]));
    assert_eq!((links(below), links(beside)), (vec![id(&batch)], vec![id(&batch)]));
}

#[tokio::test]
async fn a_span_ends_with_its_work_also_when_that_is_given_up() {
    let (traces, exporter) = recorded(1.0, 9);
    let span = traces.begin(None, named("call"));
    within(span.clone(), async {}).await;
    assert!(spans(&exporter).is_empty(), "it goes on");
    drop(spanned(span, std::future::pending::<()>()));
    assert_eq!(spans(&exporter).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_caller_cannot_have_more_recorded_than_the_limit() {
    let (traces, _) = recorded(0.0, 2);
    let begun =
        || (0..9).filter_map(|_| traces.begin(Some(caller(7, true)), named("call"))).count();
    assert_eq!((begun(), traces.left_out()), (2, 7));
    tokio::time::advance(std::time::Duration::from_secs(1)).await;
    assert_eq!((begun(), traces.left_out()), (2, 14));
}
