//! Work that is done in a span.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use pin_project_lite::pin_project;

use crate::Span;

pin_project! {
    /// Work in a span, if there is one.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct InSpan<F> {
        #[pin]
        work: F,
        span: Option<Span>,
        end: Option<End>,
    }
}

/// Ends a span, also when its work is given up.
#[derive(Debug)]
struct End(Span);

/// Does `work` in `span`, and ends the span with it.
pub fn spanned<F: Future>(span: Option<Span>, work: F) -> InSpan<F> {
    let end = span.clone().map(End);
    InSpan { work, span, end }
}

/// Does `work` in `span`, which goes on.
pub fn within<F: Future>(span: Option<Span>, work: F) -> InSpan<F> {
    InSpan { work, span, end: None }
}

// === impl InSpan ===

impl<F: Future> Future for InSpan<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let Some(span) = this.span else { return this.work.poll(cx) };
        let entered = span.enter();
        let done = ready!(this.work.poll(cx));
        drop(entered);
        drop(this.end.take());
        Poll::Ready(done)
    }
}

// === impl End ===

impl Drop for End {
    fn drop(&mut self) {
        self.0.end();
    }
}
