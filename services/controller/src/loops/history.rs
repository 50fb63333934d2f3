//! Remembering the last day of every room's history, and putting it back after Redis has lost it. Every controller
//! does both.
//!
//! A minute that is over can be put back at any time, because nobody is counted in it any more, and a count only comes
//! to what was seen. The one under way is put back by the leader before anybody comes again: see [`put_back_newest`].

use futures_util::{StreamExt, stream};
use vestibule_domain::{RoomId, RoomSnapshot};
use vestibule_store::StoreError;

use super::ROOMS_AT_ONCE;
use crate::{away::Away, last_day::Due, state::Controller};

/// Looks at every room once. A room to which nobody has come is not read, and one that cannot be read keeps nobody from the
/// others.
pub(super) async fn look(controller: &Controller) -> Result<(), StoreError> {
    let Controller { feed, last_days, store, .. } = controller;
    last_days.forget(&feed.buried().await, |room| feed.room(room.as_str()).is_some());
    let (regions, away) = (&store.region_names().await?, &Away::default());
    let all = stream::iter(feed.rooms());
    let followed = all.for_each_concurrent(ROOMS_AT_ONCE, |known| async move {
        // Read before its counts are: whoever comes meanwhile is found the next time.
        let last = known.snapshot();
        pass_over(
            &last.room,
            away.ask(store, &last.room, follow(controller, &last, regions)).await,
        );
    });
    followed.await;
    Ok(())
}

fn pass_over(room: &RoomId, done: Result<(), StoreError>) {
    match done {
        // It is about to be brought to its latest state.
        Ok(()) | Err(StoreError::RoomMissing | StoreError::Rewound) => {}
        Err(error) => tracing::debug!(%room, %error, "the last day of a room cannot be read"),
    }
}

/// Does what is due of a room that is known as `last`.
async fn follow(
    controller: &Controller,
    last: &RoomSnapshot,
    regions: &[String],
) -> Result<(), StoreError> {
    let Controller { last_days, store, .. } = controller;
    let room = &last.room;
    match last_days.due(last) {
        Due::Nothing => {}
        Due::PutBack => {
            let restored = store.restore_traffic(room, &last_days.all(last)).await?;
            last_days.was_put_back(last);
            if restored > 0 {
                tracing::info!(%room, restored, "counts of the last day were put back");
            }
        }
        Due::ReadWhole(first) => {
            let minutes = store.history(room, first, u64::MAX).await?;
            last_days.take_whole(last, &minutes);
        }
        Due::Read(first, to) => {
            let traffic = store.read_traffic(room, first..=to, regions).await?;
            last_days.take(last, &traffic);
        }
    }
    Ok(())
}

/// Puts back what was counted in the minute in which Redis lost the room, which was last known as `last`. Until the
/// leader opens the room nobody is counted in it, so this is exact, if this instance has seen it all.
///
/// # Errors
/// See [`StoreError`].
pub(super) async fn put_back_newest(
    controller: &Controller,
    room: &RoomId,
    last: &RoomSnapshot,
) -> Result<(), StoreError> {
    let newest = controller.last_days.newest(last);
    controller.store.restore_traffic(room, &newest).await.map(drop)
}
