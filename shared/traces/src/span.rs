//! A span that is recorded, and the one of the present task.

use opentelemetry::{
    Context, ContextGuard, KeyValue, Value,
    trace::{SpanBuilder, SpanContext, SpanId, Status, TraceContextExt, TraceId, Tracer},
};
use opentelemetry_sdk::trace::Span as SdkSpan;

use crate::begin::{Origin, is_on};

/// A span that is recorded, until it is [ended](Self::end). Clones are the same span.
#[derive(Debug, Clone)]
pub struct Span(Context);

/// The span of the present task, if it is recorded.
#[must_use]
pub fn current() -> Option<Span> {
    if !is_on() {
        return None;
    }
    Context::map_current(|context| context.has_active_span().then(|| Span(context.clone())))
}

/// The ids of the present task's span, if it is recorded.
#[must_use]
pub fn ids() -> Option<(TraceId, SpanId)> {
    current().map(|span| {
        let context = span.context();
        (context.trace_id(), context.span_id())
    })
}

/// Adds something to the span of the present task, if it is recorded.
pub fn note(add: impl FnOnce(&Span)) {
    if let Some(span) = current() {
        add(&span);
    }
}

/// Begins a span below that of the present task, if it is recorded.
#[must_use]
pub fn child(describe: impl FnOnce() -> SpanBuilder) -> Option<Span> {
    current()?.child(describe)
}

/// Begins the span of work that is done for several at once, if any of them is recorded: it is below that of the
/// first. Each of theirs links to it, and it links to those of the others.
#[must_use]
pub fn shared(of: &[&Span], describe: impl FnOnce() -> SpanBuilder) -> Option<Span> {
    let (first, others) = of.split_first()?;
    let span = first.child(describe)?;
    for one in of {
        one.link_to(&span);
    }
    for other in others {
        span.link_to(other);
    }
    Some(span)
}

// === impl Span ===

impl Span {
    /// What is recorded in `span`, which has begun below `above`.
    pub(crate) fn new(above: &Context, span: SdkSpan) -> Self {
        Self(above.with_span(span))
    }

    /// Begins a span below it.
    fn child(&self, describe: impl FnOnce() -> SpanBuilder) -> Option<Self> {
        // Whoever began the trace has left its tracer there.
        let Origin(tracer) = self.0.get()?;
        Some(Self::new(&self.0, tracer.build_with_context(describe(), &self.0)))
    }

    /// What it is called.
    #[must_use]
    pub fn context(&self) -> SpanContext {
        self.0.span().span_context().clone()
    }

    /// Notes an attribute.
    pub fn set(&self, key: &'static str, value: impl Into<Value>) {
        self.0.span().set_attribute(KeyValue::new(key, value));
    }

    /// Notes that it went wrong: `kind` is one of a few words.
    pub fn fail(&self, kind: &'static str) {
        self.set("error.type", kind);
        self.0.span().set_status(Status::error(""));
    }

    /// Notes that another span has to do with it.
    fn link_to(&self, other: &Self) {
        self.0.span().add_link(other.context(), Vec::new());
    }

    /// Ends it.
    pub fn end(&self) {
        self.0.span().end();
    }

    /// Makes it that of the present task, until the guard is dropped. It must not be held over an `await`.
    #[must_use]
    pub fn enter(&self) -> ContextGuard {
        self.0.clone().attach()
    }
}
