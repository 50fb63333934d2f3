//! A load that goes on beside the measure, on a thread of its own, until it is stopped or dropped.

use std::thread;

use anyhow::{Context, Result, anyhow};
use tokio::{runtime, sync::oneshot};

/// The load. What is under way when it ends is given up.
#[derive(Debug)]
pub(super) struct Running {
    stop: oneshot::Sender<()>,
    thread: thread::JoinHandle<Result<()>>,
}

// === impl Running ===

impl Running {
    /// Starts what `work` does, which ends by itself only with an error.
    pub(super) fn start<W, F>(work: W) -> Self
    where
        W: FnOnce() -> F + Send + 'static,
        F: Future<Output = Result<()>>,
    {
        let (stop, stopped) = oneshot::channel();
        let thread = thread::spawn(move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build();
            runtime.context("no runtime")?.block_on(async {
                tokio::select! {
                    done = work() => done,
                    // Whoever drops the other end wants it to stop, too.
                    _ = stopped => Ok(()),
                }
            })
        });
        Self { stop, thread }
    }

    /// Stops it, and tells what it failed with, if it did.
    pub(super) fn stop(self) -> Result<()> {
        let Self { stop, thread } = self;
        drop(stop);
        thread.join().map_err(|_| anyhow!("the driver panicked"))?
    }
}

#[cfg(test)]
mod tests {
    use std::future;

    use anyhow::bail;

    use super::*;

    #[test]
    fn it_goes_on_until_it_is_stopped() {
        assert!(Running::start(future::pending).stop().is_ok());
    }

    #[test]
    fn what_it_fails_with_is_told() {
        let (begun, has_begun) = std::sync::mpsc::channel();
        let failing = Running::start(move || async move {
            begun.send(()).unwrap();
            bail!("no connection")
        });
        has_begun.recv().unwrap();
        assert_eq!(failing.stop().unwrap_err().to_string(), "no connection");
    }
}
