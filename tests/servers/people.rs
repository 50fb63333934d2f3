//! People who are told to come again, and do.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use anyhow::{Result, ensure};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};
use vestibule_tests::{Deployment, Visitor};

use crate::SOON;

const PAUSE: Duration = Duration::from_millis(20);

/// Newcomers of a room, one after the other, and how they were answered.
pub(crate) struct Newcomers {
    stop: Arc<AtomicBool>,
    task: JoinHandle<Result<Vec<(Instant, u16)>>>,
}

/// Joins and claims until inside, whatever it takes. Anything but an answer or a 503 is a failure.
pub(crate) async fn enter(mut visitor: Visitor) -> Result<Visitor> {
    let deadline = Instant::now() + SOON;
    loop {
        let has_place = !visitor.ticket().is_empty();
        let reply = if has_place { visitor.claim().await? } else { visitor.join().await? };
        if reply.says("admitted") {
            return Ok(visitor);
        }
        if reply.status != 200 {
            reply.expect_retry_later()?;
        }
        ensure!(Instant::now() < deadline, "nobody lets it in: {}", reply.text);
        sleep(PAUSE).await;
    }
}

// === impl Newcomers ===

impl Newcomers {
    pub(crate) fn come(deployment: &Deployment, room: &str) -> Self {
        let (newcomer, stop) = (deployment.visitor(room), Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop);
        let task = tokio::spawn(async move {
            let mut answers = Vec::new();
            while !stopped.load(SeqCst) {
                let reply = newcomer.clone().join().await?;
                answers.push((Instant::now(), reply.status));
                if reply.status != 200 {
                    reply.expect_retry_later()?;
                }
                sleep(PAUSE).await;
            }
            Ok(answers)
        });
        Self { stop, task }
    }

    /// No more come: when each was answered, and how.
    pub(crate) async fn end(self) -> Result<Vec<(Instant, u16)>> {
        self.stop.store(true, SeqCst);
        self.task.await?
    }
}
