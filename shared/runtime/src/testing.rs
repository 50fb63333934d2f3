//! What the tests of this crate share: reading answers, and sending bodies bit by bit. Compiled for tests only.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    body::{self, Body, Bytes, HttpBody},
    response::Response,
};
use hyper::body::Frame;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A body that is sent bit by bit.
struct Sent(UnboundedReceiver<Bytes>);

impl HttpBody for Sent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// A body, and what sends it; dropped, it ends.
pub(crate) fn sent_body() -> (UnboundedSender<Bytes>, Body) {
    let (rest, sent) = unbounded_channel();
    (rest, Body::new(Sent(sent)))
}

/// The body as text.
pub(crate) async fn body_text(response: Response) -> String {
    let bytes = body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The body as JSON.
pub(crate) async fn body_json(response: Response) -> Value {
    serde_json::from_str(&body_text(response).await).unwrap()
}
