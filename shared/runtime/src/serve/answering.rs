//! One request's answer, from the request to the last byte that is given to hyper: for so long the connection
//! is busy. A stream of news is busy until it ends.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
};

use axum::{body::Body, response::Response, routing::future::RouteFuture};
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::activity::UnderWay;

pin_project! {
    /// The answer to come. It never comes if the connection was closed before the request.
    pub(super) struct Answering {
        #[pin]
        answer: RouteFuture<Infallible>,
        under_way: Option<UnderWay>,
    }
}

pin_project! {
    /// The body of an answer.
    #[derive(Debug)]
    pub(super) struct AnswerBody {
        #[pin]
        body: Body,
        under_way: UnderWay,
    }
}

// === impl Answering ===

impl Answering {
    pub(super) fn new(answer: RouteFuture<Infallible>, under_way: Option<UnderWay>) -> Self {
        Self { answer, under_way }
    }
}

impl Future for Answering {
    type Output = Result<axum::http::Response<AnswerBody>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if this.under_way.is_none() {
            return Poll::Pending;
        }
        let answer: Response = ready!(this.answer.poll(cx))?;
        let Some(under_way) = this.under_way.take() else { return Poll::Pending };
        Poll::Ready(Ok(answer.map(|body| AnswerBody { body, under_way })))
    }
}

// === impl AnswerBody ===

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.project().body.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
