//! A request's body on its way in: until it is there as a whole, its connection says since when it is awaited.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use pin_project_lite::pin_project;

use super::activity::Activity;

pin_project! {
    /// The body of one request.
    pub(super) struct Receiving {
        #[pin]
        body: Incoming,
        awaited: Awaited,
    }
}

/// A body that has not come as a whole: until it is dropped, its connection knows.
struct Awaited(Option<Arc<Activity>>);

// === impl Receiving ===

impl Receiving {
    pub(super) fn new(body: Incoming, activity: &Arc<Activity>) -> Self {
        // Most requests have none, and cost nothing here.
        let awaited = (!body.is_end_stream()).then(|| Arc::clone(activity));
        if let Some(activity) = &awaited {
            activity.await_body();
        }
        Self { body, awaited: Awaited(awaited) }
    }
}

impl Body for Receiving {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        let this = self.project();
        let frame = ready!(this.body.poll_frame(cx));
        if frame.is_none() {
            this.awaited.end();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

// === impl Awaited ===

impl Awaited {
    fn end(&mut self) {
        if let Some(activity) = self.0.take() {
            activity.end_body();
        }
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        self.end();
    }
}
