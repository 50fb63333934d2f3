//! Remembers for how long tokens may be valid, while settings by which they are longer are in force.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;

use crate::state::Controller;

/// No event is shorter.
const PERIOD: Duration = Duration::from_secs(1);

/// Notes it until it is dropped, by the time of the rooms.
pub(super) async fn run(controller: Arc<Controller>) {
    loop {
        let now_ms = controller.feed.rooms().iter().map(|room| room.now_ms()).max();
        if let Some(now_ms) = now_ms {
            controller.validities.note(&controller.feed, now_ms / 1000);
        }
        sleep(PERIOD).await;
    }
}
