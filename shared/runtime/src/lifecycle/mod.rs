//! The life of a process: which tasks run, what stops them, and in which order.
//!
//! A first signal, or a task that failed, starts the soft stop:
//! 1. readiness goes false;
//! 2. [`Lifecycle::soft`]: servers accept no more, and finish the requests they have;
//! 3. [`Lifecycle::drained`]: no request is left, so what requests rely on (batches, feeds, the
//!    lease) may end;
//! 4. [`Lifecycle::hard`]: everything that is left is dropped, the admin server last of all.
//!
//! A second signal, or the end of the grace, goes to 4 at once. Tasks are never restarted: the
//! orchestrator restarts the process.

use std::{
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::time::{sleep, timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{health::Readiness, signals::Signals};

/// How long dropped tasks may take to end.
const AFTER_HARD: Duration = Duration::from_secs(1);

/// The life of the process. Clones are handles to the same.
#[derive(Debug, Clone)]
pub struct Lifecycle {
    inner: Arc<Inner>,
}

/// Why the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It was asked to: exit code 0.
    Asked,
    /// A task panicked or ended by itself: exit code 1.
    TaskFailed,
}

#[derive(Debug)]
struct Inner {
    readiness: Readiness,
    grace: Duration,
    soft: CancellationToken,
    drained: CancellationToken,
    hard: CancellationToken,
    servers: TaskTracker,
    tasks: TaskTracker,
    last: TaskTracker,
    failed: AtomicBool,
}

/// When a task is waited for during the stop.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stage {
    /// It ends after the soft stop.
    Server,
    /// It ends when the servers are drained.
    Task,
    /// It goes on until the very end.
    Last,
}

// === impl Lifecycle ===

impl Lifecycle {
    /// A process that gives requests and tasks the time `grace` to end.
    #[must_use]
    pub fn new(readiness: Readiness, grace: Duration) -> Self {
        Self {
            inner: Arc::new(Inner {
                readiness,
                grace,
                soft: CancellationToken::new(),
                drained: CancellationToken::new(),
                hard: CancellationToken::new(),
                servers: TaskTracker::new(),
                tasks: TaskTracker::new(),
                last: TaskTracker::new(),
                failed: AtomicBool::new(false),
            }),
        }
    }

    /// The readiness that the stop turns off.
    #[must_use]
    pub fn readiness(&self) -> &Readiness {
        &self.inner.readiness
    }

    /// Cancelled when the process begins to stop: take on nothing new.
    #[must_use]
    pub fn soft(&self) -> &CancellationToken {
        &self.inner.soft
    }

    /// Cancelled when the last request was answered: background tasks end now.
    #[must_use]
    pub fn drained(&self) -> &CancellationToken {
        &self.inner.drained
    }

    /// Cancelled when what is left is dropped.
    #[must_use]
    pub fn hard(&self) -> &CancellationToken {
        &self.inner.hard
    }

    /// Runs a background task for the life of the process.
    ///
    /// It should end soon after [`Self::drained`] (or [`Self::soft`], if no request needs it). If
    /// it panics, or ends before the stop, the process stops with [`Exit::TaskFailed`]; so it must not be
    /// used for work that ends.
    pub fn spawn(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        self.supervise(Stage::Task, name, task);
    }

    /// Begins the soft stop, as the first signal does.
    pub fn stop(&self) {
        self.inner.readiness.drain();
        self.inner.soft.cancel();
    }

    /// Drops everything at once, as the end of the process would.
    pub fn abort(&self) {
        self.inner.soft.cancel();
        self.inner.drained.cancel();
        self.inner.hard.cancel();
    }

    /// Runs until it is time to end, and through the stop.
    pub async fn run(self, mut signals: Signals) -> Exit {
        tokio::select! {
            biased;
            signal = signals.next() => tracing::info!(signal, "stopping"),
            () = self.inner.soft.cancelled() => tracing::info!("stopping"),
        }
        self.stop();
        tokio::select! {
            biased;
            () = self.wind_down() => tracing::info!("stopped"),
            signal = signals.next() => tracing::warn!(signal, "stopping at once"),
            () = sleep(self.inner.grace) => tracing::warn!("the grace is over, stopping at once"),
        }
        self.inner.drained.cancel();
        self.inner.hard.cancel();
        if timeout(AFTER_HARD, self.all_gone()).await.is_err() {
            tracing::warn!("some tasks did not end");
        }
        if self.inner.failed.load(Relaxed) { Exit::TaskFailed } else { Exit::Asked }
    }

    pub(crate) fn supervise(
        &self,
        stage: Stage,
        name: &'static str,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        let tracker = match stage {
            Stage::Server => &self.inner.servers,
            Stage::Task => &self.inner.tasks,
            Stage::Last => &self.inner.last,
        };
        tracker.spawn(self.clone().watch(name, task));
    }

    async fn watch(self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        // A task of its own, so that its panic comes back as a value.
        let mut handle = tokio::spawn(task);
        let result = tokio::select! {
            biased;
            result = &mut handle => result,
            () = self.inner.hard.cancelled() => {
                handle.abort();
                handle.await
            }
        };
        match result {
            Err(error) if error.is_panic() => self.fail(name, "panicked"),
            Ok(()) if !self.inner.soft.is_cancelled() => self.fail(name, "ended by itself"),
            _ => {}
        }
    }

    fn fail(&self, task: &'static str, what: &'static str) {
        tracing::error!(task, "a task {what}: stopping the process");
        self.inner.failed.store(true, Relaxed);
        self.stop();
    }

    /// After [`Self::stop`]: ends when no request and no task is left.
    pub async fn wind_down(&self) {
        gone(&self.inner.servers).await;
        self.inner.drained.cancel();
        gone(&self.inner.tasks).await;
    }

    async fn all_gone(&self) {
        self.wind_down().await;
        gone(&self.inner.last).await;
    }
}

// === impl Exit ===

impl Exit {
    /// The code of the process.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Asked => 0,
            Self::TaskFailed => 1,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

async fn gone(tracker: &TaskTracker) {
    tracker.close();
    tracker.wait().await;
}

#[cfg(test)]
mod tests;
