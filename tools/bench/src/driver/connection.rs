//! One keep-alive connection with one request at a time: two system calls per request.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail, ensure};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{Answer, answer::Malformed};

/// Larger than any answer; filling it is an error.
const BUFFER: usize = 16 * 1024;

/// A connection to a service.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    buffer: Box<[u8]>,
}

// === impl Connection ===

impl Connection {
    /// Connects to `address`.
    pub(super) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await;
        let stream = stream.with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; BUFFER].into() })
    }

    /// Sends `request` and waits for its answer.
    pub(super) async fn exchange(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        self.stream.write_all(request).await.context("the service hung up")?;
        let mut filled = 0;
        loop {
            ensure!(
                filled < BUFFER,
                "an answer is too long: {}",
                self.buffer[..200].escape_ascii()
            );
            let read = self.stream.read(&mut self.buffer[filled..]).await?;
            ensure!(read > 0, "the service hung up after {filled} bytes of an answer");
            filled += read;
            match Answer::parse(&self.buffer[..filled]) {
                Ok(None) => {}
                Ok(Some(_)) => break,
                Err(Malformed) => bail!("not an answer: {}", self.buffer[..filled].escape_ascii()),
            }
        }
        // Once more, since the buffer cannot be lent for long before it is filled; far cheaper than a
        // system call.
        Answer::parse(&self.buffer[..filled]).ok().flatten().context("not an answer")
    }
}
