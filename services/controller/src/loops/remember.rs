//! Remembering what Redis may lose of every room, beside what the feed remembers: its history, and who has entered.
//! Every controller does: none of them knows which will be left.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;

use super::{history, places};
use crate::state::Controller;

/// How often rooms are looked at. What came since the last look, the others may remember.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Remembers for as long as this instance runs.
pub(super) async fn run(controller: Arc<Controller>) {
    let mut readings = places::Readings::new();
    loop {
        if let Err(error) = history::look(&controller).await {
            tracing::debug!(%error, "the history of rooms could not be read");
        }
        places::look(&controller, &mut readings).await;
        let kept = i64::try_from(controller.last_days.kept()).unwrap_or(i64::MAX);
        controller.metrics.history_kept.set(kept);
        sleep(LOOK_EVERY).await;
    }
}
