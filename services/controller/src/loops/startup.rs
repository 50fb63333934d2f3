//! The start: waits for Redis, starts the other loops, and says when the instance is ready.

use std::{sync::Arc, time::Duration};

use tokio::time::{sleep, timeout};
use vestibule_domain::Announcement;
use vestibule_issuance::{KeyError, wait_for_redis};
use vestibule_runtime::{Condition, Lifecycle, Readiness};

use crate::state::Controller;

const RETRY: Duration = Duration::from_millis(250);
/// For how long readiness waits for all rooms to be read.
const ROOMS: Duration = Duration::from_secs(2);

/// What the instance still needs before it is ready.
#[derive(Debug)]
pub(super) struct Startup {
    redis: Condition,
    keyspace: Condition,
}

// === impl Startup ===

impl Startup {
    /// Makes the instance not ready until [`Self::run`] has met the conditions.
    pub(super) fn new(readiness: &Readiness) -> Self {
        Self { redis: readiness.condition("redis"), keyspace: readiness.condition("keyspace") }
    }

    /// Makes the instance ready as soon as it can answer, and stays until the stop. Ends by itself,
    /// which stops the process, if the keyspace is newer than this release or belongs to another
    /// secret.
    pub(super) async fn run(self, controller: Arc<Controller>, lifecycle: Lifecycle) {
        let startup = async {
            if let Err(error) = wait_for_redis(|| check(&controller)).await {
                tracing::error!(%error, "this controller cannot work on this keyspace");
                return;
            }
            controller.note_keyspace_known();
            self.redis.set(true);
            super::spawn_all(&controller, &lifecycle);
            while !is_usable(&controller).await {
                sleep(RETRY).await;
            }
            know_every_room(&controller).await;
            controller.note_keyspace_whole();
            self.keyspace.set(true);
            tracing::info!("ready");
            std::future::pending::<()>().await;
        };
        super::until(lifecycle.soft().clone(), startup).await;
    }
}

async fn check(controller: &Controller) -> Result<(), KeyError> {
    controller.store.check_schema().await?;
    controller.store.check_formats(Announcement::OURS).await?;
    controller.store.learn_time().await?;
    controller.keys.refresh().await.map(drop)
}

/// Until then AWS-style clients cannot be told that there is no such event. A room that cannot be read delays nobody for
/// long.
async fn know_every_room(controller: &Controller) {
    let known = async {
        while !controller.feed.knows_every_room() {
            sleep(RETRY).await;
        }
    };
    let _ = timeout(ROOMS, known).await;
}

/// Whether a leader has made the keyspace whole and this instance has what requests need.
async fn is_usable(controller: &Controller) -> bool {
    let stamped = matches!(controller.store.schema().await, Ok(version) if version > 0);
    let has_key = !matches!(controller.keys.current(), Err(KeyError::Missing));
    stamped && has_key && controller.feed.has_begun()
}
