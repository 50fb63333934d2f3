//! A stream that notes when bytes come, so that half a request is told from none, and whether the client takes what it is
//! sent.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use pin_project_lite::pin_project;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::activity::Activity;

pin_project! {
    /// The stream of one connection.
    pub(super) struct Heard<S> {
        #[pin]
        stream: S,
        activity: Arc<Activity>,
    }
}

// === impl Heard ===

impl<S> Heard<S> {
    pub(super) fn new(stream: S, activity: Arc<Activity>) -> Self {
        Self { stream, activity }
    }
}

impl<S: AsyncRead> AsyncRead for Heard<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.project();
        let before = buffer.filled().len();
        let read = ready!(this.stream.poll_read(cx, buffer));
        if buffer.filled().len() > before {
            this.activity.note_bytes();
        }
        Poll::Ready(read)
    }
}

impl<S: AsyncWrite> AsyncWrite for Heard<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.project();
        let written = this.stream.poll_write(cx, bytes);
        this.activity.note_write(written.is_pending());
        written
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.project();
        // TLS holds back what the client does not take.
        let flushed = this.stream.poll_flush(cx);
        this.activity.note_write(flushed.is_pending());
        flushed
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().stream.poll_shutdown(cx)
    }
}
