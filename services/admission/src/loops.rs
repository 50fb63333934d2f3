//! What goes on beside the requests: opening, the feed, the key ring, the counts of presence.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;
use vestibule_entry::KeyError;
use vestibule_runtime::Lifecycle;
use vestibule_store::StoreError;

use crate::state::Admission;

const RETRY: Duration = Duration::from_millis(250);
/// One in so many failed attempts is worth a line in the log.
const LOG_EVERY: usize = 40;
/// How often the region's index is seen to: Redis may have been wiped.
const REGION: Duration = Duration::from_secs(2);

/// Starts the loops; they end when the last request was answered.
pub(crate) fn spawn(admission: &Arc<Admission>, lifecycle: &Lifecycle) {
    lifecycle.spawn("opening", open(Arc::clone(admission), lifecycle.clone()));
    lifecycle.spawn("live", end_streams(Arc::clone(admission), lifecycle.clone()));
    for (name, task) in [("feed", Task::Feed), ("keys", Task::Keys), ("check-ins", Task::CheckIns)]
    {
        let (admission, drained) = (Arc::clone(admission), lifecycle.drained().clone());
        lifecycle.spawn(name, async move {
            tokio::select! { () = task.run(&admission) => {}, () = drained.cancelled() => {} }
            task.finish(&admission).await;
        });
    }
}

/// Streams would last through the stop: they end when it begins.
async fn end_streams(admission: Arc<Admission>, lifecycle: Lifecycle) {
    lifecycle.soft().cancelled().await;
    admission.live.close();
}

#[derive(Debug, Clone, Copy)]
enum Task {
    Feed,
    Keys,
    CheckIns,
}

// === impl Task ===

impl Task {
    async fn run(self, admission: &Admission) {
        match self {
            Self::Feed => Box::pin(admission.feed.clone().run()).await,
            Self::Keys => admission.keys.clone().run().await,
            Self::CheckIns => admission.check_ins.run().await,
        }
    }

    async fn finish(self, admission: &Admission) {
        if matches!(self, Self::CheckIns) {
            // The last counts, of the visitors whom this instance has just answered.
            admission.check_ins.send().await;
        }
    }
}

/// Makes the instance ready as soon as it can answer, and stays until the stop. Ends by itself,
/// which stops the process, when this release cannot work on the keyspace.
async fn open(admission: Arc<Admission>, lifecycle: Lifecycle) {
    let redis = lifecycle.readiness().condition("redis");
    let key = lifecycle.readiness().condition("signing key");
    let opening = async {
        if let Err(error) = reach_redis(&admission).await {
            tracing::error!(%error, "this admission cannot work on this keyspace");
            return;
        }
        redis.set(true);
        while admission.keys.current().is_err() {
            sleep(RETRY).await;
        }
        key.set(true);
        tracing::info!("ready");
        loop {
            sleep(REGION).await;
            // Whether Redis answers is told elsewhere; the index is only a label.
            let _ = admission.learn_region().await;
        }
    };
    tokio::select! { () = opening => {}, () = lifecycle.soft().cancelled() => {} }
}

/// Waits as long as it takes, unless waiting cannot help.
async fn reach_redis(admission: &Admission) -> Result<(), KeyError> {
    for attempt in 0_usize.. {
        match look(admission).await {
            Ok(()) => break,
            Err(error) if is_hopeless(&error) => return Err(error),
            Err(error) if attempt % LOG_EVERY == 0 => tracing::warn!(%error, "waiting for redis"),
            Err(_) => {}
        }
        sleep(RETRY).await;
    }
    Ok(())
}

async fn look(admission: &Admission) -> Result<(), KeyError> {
    admission.store.check_schema().await?;
    admission.learn_region().await?;
    admission.feed.refresh().await?;
    admission.keys.refresh().await.map(drop)
}

fn is_hopeless(error: &KeyError) -> bool {
    match error {
        KeyError::Store(error) => matches!(error, StoreError::NewerSchema { .. }),
        KeyError::Ring(_) | KeyError::Text(_) => true,
        KeyError::Key(_) | KeyError::Missing | KeyError::Interrupted => false,
    }
}
