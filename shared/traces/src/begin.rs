//! Where traces begin: whether one is recorded is decided before anything of it is made.

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
};

use opentelemetry::{
    Context,
    trace::{SpanBuilder, SpanContext, TraceContextExt, Tracer},
};
use opentelemetry_sdk::trace::SdkTracer;
use tokio::time::Instant;

use crate::{Sampling, Span, sampling::Recent};

/// Whether anything in this process may be recorded: so that what is off costs a look at this.
static ON: AtomicBool = AtomicBool::new(false);

/// Begins traces, or none at all. Cloning is cheap.
#[derive(Clone, Default)]
pub struct Traces(Option<Arc<Beginner>>);

struct Beginner {
    tracer: SdkTracer,
    sampling: Sampling,
    draw: Box<dyn Fn() -> u64 + Send + Sync>,
    started: Instant,
    recent: Mutex<Recent>,
    left_out: AtomicU64,
}

/// What makes the spans of a trace: it travels with them.
#[derive(Debug, Clone)]
pub(crate) struct Origin(pub(crate) SdkTracer);

/// Whether anything may be recorded.
pub(crate) fn is_on() -> bool {
    ON.load(Relaxed)
}

// === impl Traces ===

impl Traces {
    /// Records nothing.
    #[must_use]
    pub fn off() -> Self {
        Self(None)
    }

    /// Records by `sampling` what `tracer` makes. `draw` gives numbers uniform over all of `u64`.
    pub fn new(
        tracer: SdkTracer,
        sampling: Sampling,
        draw: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Self {
        ON.store(true, Relaxed);
        Self(Some(Arc::new(Beginner {
            tracer,
            sampling,
            draw: Box::new(draw),
            started: Instant::now(),
            recent: Mutex::default(),
            left_out: AtomicU64::new(0),
        })))
    }

    /// Whether anything is recorded.
    #[must_use]
    pub fn are_on(&self) -> bool {
        self.0.is_some()
    }

    /// Traces that were wanted, and not begun because there were too many in that second.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.0.as_ref().map_or(0, |beginner| beginner.left_out.load(Relaxed))
    }

    /// Begins a span, if it is to be recorded. `parent`: the span of a caller that is believed.
    pub fn begin(
        &self,
        parent: Option<SpanContext>,
        describe: impl FnOnce() -> SpanBuilder,
    ) -> Option<Span> {
        let beginner = self.0.as_deref()?;
        let parent = parent.filter(SpanContext::is_valid);
        beginner.wants(parent.as_ref()).then(|| beginner.begin(parent, describe()))
    }
}

impl fmt::Debug for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.are_on() { "Traces(on)" } else { "Traces(off)" })
    }
}

// === impl Beginner ===

impl Beginner {
    fn wants(&self, parent: Option<&SpanContext>) -> bool {
        // What a caller's trace is called decides, so that all services that keep the same part keep the same traces.
        let draw = parent.map_or_else(|| (self.draw)(), low_half);
        let is_wanted = self.sampling.wants(parent.map(SpanContext::is_sampled), draw);
        is_wanted && self.is_free()
    }

    fn is_free(&self) -> bool {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let is_free = recent.take(self.started.elapsed(), self.sampling.per_second);
        if !is_free {
            self.left_out.fetch_add(1, Relaxed);
        }
        is_free
    }

    fn begin(&self, parent: Option<SpanContext>, described: SpanBuilder) -> Span {
        let origin = Context::new().with_value(Origin(self.tracer.clone()));
        let above = match parent {
            Some(parent) => origin.with_remote_span_context(parent),
            None => origin,
        };
        Span::new(&above, self.tracer.build_with_context(described, &above))
    }
}

/// The random half of a trace's id.
fn low_half(parent: &SpanContext) -> u64 {
    let id = parent.trace_id().to_bytes();
    id[8..].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
