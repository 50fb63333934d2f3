//! One connection of a gateway: it has its place until it ends, and ends if HTTP/2 does not begin on it in time. hyper
//! pings only those who have begun.

use std::{
    io::{self, ErrorKind},
    pin::Pin,
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Duration, Sleep, sleep},
};
use tonic::transport::server::Connected;

use super::metrics::Place;

/// What a client begins HTTP/2 with.
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The stream of one connection.
#[derive(Debug)]
pub(super) struct Connection<S> {
    stream: S,
    awaited: Option<Awaited>,
    _place: Place,
}

/// A preface that has not come as a whole.
#[derive(Debug)]
struct Awaited {
    bytes: usize,
    end: Pin<Box<Sleep>>,
}

// === impl Connection ===

impl<S> Connection<S> {
    pub(super) fn new(stream: S, place: Place, patience: Duration) -> Self {
        let awaited = Awaited { bytes: PREFACE.len(), end: Box::pin(sleep(patience)) };
        Self { stream, awaited: Some(awaited), _place: place }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(cx, buffer);
        let Some(awaited) = &mut this.awaited else { return read };
        if read.is_pending() {
            return awaited.end.as_mut().poll(cx).map(|()| Err(ErrorKind::TimedOut.into()));
        }
        awaited.bytes = awaited.bytes.saturating_sub(buffer.filled().len() - before);
        if awaited.bytes == 0 {
            this.awaited = None;
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

impl<S: Connected> Connected for Connection<S> {
    type ConnectInfo = S::ConnectInfo;

    fn connect_info(&self) -> S::ConnectInfo {
        self.stream.connect_info()
    }
}
