//! Closing minutes: two seconds after a minute ends, the leader moves its counts into the traffic
//! history.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;
use vestibule_store::StoreError;

use crate::state::Controller;

const MINUTE_MS: u64 = 60_000;
const MINUTES_PER_DAY: u64 = 24 * 60;
/// How long after its end a minute is closed.
const AFTER_MS: u64 = 2_000;
const RETRY: Duration = Duration::from_secs(1);

/// Closes minutes for as long as this instance leads.
pub(super) async fn run(controller: Arc<Controller>) {
    let mut role = controller.leadership.watch();
    loop {
        let leading = role.see().leading();
        let Some(epoch) = leading else {
            role.changed().await;
            continue;
        };
        let pause = match controller.store.now_ms().await {
            Ok(now_ms) => {
                close_minutes(&controller, epoch, now_ms).await;
                until_next(now_ms)
            }
            Err(_) => RETRY,
        };
        tokio::select! {
            biased;
            () = role.changed() => {}
            () = sleep(pause) => {}
        }
    }
}

/// Closes the minutes before the current one, in every room.
async fn close_minutes(controller: &Controller, epoch: u64, now_ms: u64) {
    let last = (now_ms / MINUTE_MS).saturating_sub(1);
    for known in controller.feed.rooms() {
        let room = known.snapshot().room.clone();
        for day in days(last) {
            match controller.store.roll_up(&room, epoch, day, last).await {
                Ok(_) | Err(StoreError::RoomMissing) => {}
                Err(StoreError::Fenced { epoch: by }) => {
                    return controller.leadership.overtaken(epoch, by);
                }
                Err(error) => tracing::warn!(%room, %error, "minutes could not be closed"),
            }
        }
    }
}

/// The day before that of `minute`, which may have open minutes left, and the day of `minute`.
fn days(minute: u64) -> [u64; 2] {
    let today = minute / MINUTES_PER_DAY;
    [today.saturating_sub(1), today]
}

fn until_next(now_ms: u64) -> Duration {
    Duration::from_millis(MINUTE_MS - now_ms % MINUTE_MS + AFTER_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_are_closed_just_after_they_end() {
        assert_eq!(until_next(120_000), Duration::from_secs(62));
        assert_eq!(until_next(179_999), Duration::from_millis(2_001));
        assert_eq!(days(MINUTES_PER_DAY * 5 - 1), [3, 4]);
        assert_eq!(days(MINUTES_PER_DAY * 5), [4, 5]);
    }
}
