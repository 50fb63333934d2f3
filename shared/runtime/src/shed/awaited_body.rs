//! A request's body that has not come yet. While it is awaited its request has no place in flight: only the client has
//! something to do, and could keep places from others by doing nothing. When the body is there, a place is taken again.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::{
    Error,
    body::{Body, Bytes, HttpBody},
};
use hyper::body::{Frame, SizeHint};

use super::gate::Permit;

/// The body of one request.
#[derive(Debug)]
pub(super) struct AwaitedBody {
    body: Body,
    permit: Arc<Permit>,
}

/// All places are taken by now. The layer says so instead of what the handler makes of it.
#[derive(Debug, thiserror::Error)]
#[error("too many requests are in flight")]
struct NoPlace;

// === impl AwaitedBody ===

impl AwaitedBody {
    pub(super) fn new(body: Body, permit: &Arc<Permit>) -> Self {
        Self { body, permit: Arc::clone(permit) }
    }
}

impl HttpBody for AwaitedBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.body).poll_frame(cx);
        if polled.is_pending() {
            this.permit.give_back();
        }
        let frame = ready!(polled);
        let is_there = frame.is_none() || this.body.is_end_stream();
        if is_there && !this.permit.take_again() {
            return Poll::Ready(Some(Err(Error::new(NoPlace))));
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
