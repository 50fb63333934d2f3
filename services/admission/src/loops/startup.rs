//! The start: waits for Redis and a key, and says when the instance is ready.

use std::{sync::Arc, time::Duration};

use tokio::time::{sleep, timeout};
use vestibule_domain::Announcement;
use vestibule_issuance::{KeyError, wait_for_redis};
use vestibule_runtime::{Condition, Lifecycle, Readiness};

use crate::state::Admission;

const RETRY: Duration = Duration::from_millis(250);
/// Rooms that cannot be read keep nobody from starting for longer than this.
const ROOMS: Duration = Duration::from_secs(2);
/// So long what no room covers, as far as is known, is refused because of rooms that cannot be read; then it passes.
const COVERAGE: Duration = Duration::from_secs(15);
/// How often the region's index is written again, in case Redis was wiped.
const REGION: Duration = Duration::from_secs(2);

/// What the instance still needs before it is ready.
#[derive(Debug)]
pub(super) struct Startup {
    redis: Condition,
    key: Condition,
    rooms: Condition,
}

// === impl Startup ===

impl Startup {
    /// Makes the instance not ready until [`Self::run`] has met the conditions.
    pub(super) fn new(readiness: &Readiness) -> Self {
        Self {
            redis: readiness.condition("redis"),
            key: readiness.condition("signing key"),
            rooms: readiness.condition("rooms"),
        }
    }

    /// Until then nobody can be told that a room does not exist.
    async fn know_every_room(&self, admission: &Admission) {
        let known = async {
            while !admission.feed.knows_every_room() {
                sleep(RETRY).await;
            }
        };
        let _ = timeout(ROOMS, known).await;
        self.rooms.set(true);
    }

    /// Until then nothing passes for the reason that no room covers it.
    async fn know_every_route(admission: &Admission) {
        let coverage = &admission.authorizer.coverage;
        let known = async {
            while !coverage.is_whole() {
                sleep(RETRY).await;
            }
        };
        if timeout(COVERAGE, known).await.is_err() {
            tracing::warn!("not every room could be read: what they cover passes");
            coverage.take_for_whole();
        }
    }

    /// Makes the instance ready as soon as it can answer, and stays until the stop. Ends by itself,
    /// which stops the process, when this release cannot work on the keyspace.
    pub(super) async fn run(self, admission: Arc<Admission>, lifecycle: Lifecycle) {
        let startup = async {
            if let Err(error) = wait_for_redis(|| check(&admission)).await {
                tracing::error!(%error, "this admission cannot work on this keyspace");
                return;
            }
            self.redis.set(true);
            tokio::join!(Self::know_every_route(&admission), self.become_ready(&admission));
        };
        tokio::select! {
            biased;
            () = startup => {}
            () = lifecycle.soft().cancelled() => {}
        }
    }

    async fn become_ready(&self, admission: &Admission) {
        while admission.keys.current().is_err() {
            sleep(RETRY).await;
        }
        self.key.set(true);
        self.know_every_room(admission).await;
        tracing::info!("ready");
        loop {
            sleep(REGION).await;
            // An outage of Redis is noticed elsewhere; the index is only a label.
            let _ = admission.flows.region.learn_index(&admission.store).await;
        }
    }
}

async fn check(admission: &Admission) -> Result<(), KeyError> {
    admission.store.check_schema().await?;
    admission.store.check_formats(Announcement::OURS).await?;
    admission.store.learn_time().await?;
    admission.flows.region.learn_index(&admission.store).await?;
    let coverage = &admission.authorizer.coverage;
    admission.feed.take_in_changes(|| coverage.bring_up_to_date()).await?;
    admission.keys.refresh().await.map(drop)
}
