//! A gateway that runs for the length of a test.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;
use tokio::net::TcpStream;

use super::{Addresses, Browser, Kind, Scheme, replay::Replay};
use crate::{Process, eventually};

const START: Duration = Duration::from_secs(30);

/// A running gateway.
#[derive(Debug)]
pub struct Gateway {
    port: u16,
    scheme: Scheme,
    engine: Engine,
    _dir: TempDir,
}

#[derive(Debug)]
enum Engine {
    Program(Process),
    Replay { _running: Replay },
}

// === impl Gateway ===

impl Gateway {
    /// Starts it, and waits until it lets visitors in.
    pub async fn start(kind: Kind, addresses: &Addresses) -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let engine = match (kind.command(dir.path(), addresses)?, kind) {
            (Some(mut command), _) => {
                Engine::Program(Process::start(&mut command, &dir.path().join("log"))?)
            }
            (None, Kind::Replayed(whose)) => {
                Engine::Replay { _running: Replay::start(whose, addresses).await? }
            }
            (None, _) => bail!("{kind:?} is neither run nor replayed"),
        };
        let Addresses { port, scheme, .. } = *addresses;
        let mut gateway = Self { port, scheme, engine, _dir: dir };
        gateway.listens().await.with_context(|| format!("{kind:?} does not start"))?;
        Ok(gateway)
    }

    /// A new visitor's browser.
    pub fn browser(&self) -> Result<Browser> {
        Browser::new(self.scheme, self.port)
    }

    /// The end of what it has printed, for the message of a failure.
    #[must_use]
    pub fn log_end(&self) -> String {
        match &self.engine {
            Engine::Program(process) => process.log_end(),
            Engine::Replay { .. } => String::new(),
        }
    }

    async fn listens(&mut self) -> Result<()> {
        let port = self.port;
        eventually(START, "the gateway", || {
            let running = match &mut self.engine {
                Engine::Program(process) => process.check_running(),
                Engine::Replay { .. } => Ok(()),
            };
            async move {
                if running.is_err() {
                    return Ok(running);
                }
                TcpStream::connect(("127.0.0.1", port)).await?;
                Ok(Ok(()))
            }
        })
        .await?
    }
}
