//! Finishing deletions that were cut short, or that a server has lost.

use std::{
    collections::BTreeSet,
    ops::Bound::{Excluded, Unbounded},
};

use futures_util::{StreamExt, stream};
use vestibule_domain::RoomId;
use vestibule_store::StoreError;

use super::ROOMS_AT_ONCE;
use crate::{away::Away, state::Controller};

/// Of so many rooms that are on no list it is looked each time whether they are really gone.
const AT_A_TIME: usize = 8;

/// Looks whether rooms that were deleted are there all the same: a server has gone back to before their deletion.
#[derive(Debug, Default)]
pub(super) struct Deletions {
    /// The last that was on no list and was looked at.
    looked_at: Option<RoomId>,
}

// === impl Deletions ===

impl Deletions {
    /// Looks at all that are `listed`, and at some of those that are not: where rooms are on several servers, that of a
    /// room can go back alone. Nobody knows it then, and nobody can make a room of its name.
    ///
    /// One that cannot be looked at keeps nobody from the others, nor from what comes after: its shard may be away for long,
    /// and it is its turn again.
    pub(super) async fn finish(&mut self, controller: &Controller, listed: &BTreeSet<RoomId>) {
        let buried = controller.feed.buried().await;
        let after = self.looked_at.take().map_or(Unbounded, Excluded);
        let ahead = buried.range((after, Unbounded));
        let unlisted = ahead.filter(|(room, _)| !listed.contains(*room));
        let some: Vec<_> = unlisted.take(AT_A_TIME).collect();
        self.looked_at = some.last().map(|(room, _)| (*room).clone());
        let on_lists = buried.iter().filter(|(room, _)| listed.contains(*room));
        let (store, away) = (&controller.store, &Away::default());
        let all = stream::iter(on_lists.chain(some));
        let finished = all.for_each_concurrent(ROOMS_AT_ONCE, |(room, epoch)| async move {
            if let Err(error) = away.ask(store, room, finish(controller, room, *epoch)).await {
                tracing::debug!(%room, %error, "whether a room that was deleted is gone cannot be told");
            }
        });
        finished.await;
    }
}

async fn finish(controller: &Controller, room: &RoomId, epoch: u64) -> Result<(), StoreError> {
    if controller.store.is_buried(room, epoch).await? {
        controller.store.finish_deletion(room, epoch).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tokio::time::{Duration, Instant};
    use vestibule_domain::schedule::RoomConfig;
    use vestibule_store::ManualClock;

    use super::*;
    use crate::parted::{Parted, START_MS};

    #[tokio::test(start_paused = true)]
    async fn a_deletion_whose_shard_is_away_keeps_nobody_from_the_others() {
        let (parted, controller) = Parted::with_controller(&ManualClock::at(START_MS));
        let there = RoomId::new("b-1").unwrap();
        controller.store.create_room(&there, &RoomConfig::default()).await.unwrap();
        for room in ["a-1", "a-2", "a-3", "a-4", "b-1"] {
            controller.feed.bury(RoomId::new(room).unwrap(), START_MS + 1).await;
        }
        parted.take_away(&["a-"]);
        let (mut deletions, begun) = (Deletions::default(), Instant::now());
        deletions.finish(&controller, &BTreeSet::new()).await;
        assert!(begun.elapsed() <= Duration::from_secs(1), "{:?}", begun.elapsed());
        assert!(!controller.store.is_buried(&there, u64::MAX).await.unwrap(), "it is gone");
        assert!(parted.calls_in_vain() > 0);

        parted.take_away(&[]);
        let back = RoomId::new("a-1").unwrap();
        controller.store.create_room(&back, &RoomConfig::default()).await.unwrap();
        // It is not the latest that was buried.
        controller.feed.bury(back.clone(), START_MS + 1_000).await;
        for _ in 0..2 {
            deletions.finish(&controller, &BTreeSet::new()).await;
        }
        assert!(!controller.store.is_buried(&back, u64::MAX).await.unwrap(), "its turn came again");
    }
}
