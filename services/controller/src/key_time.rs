//! What time it is for the keys that sign. How long they are kept is in [`crate::longest_validity`].

use vestibule_store::StoreError;

use crate::state::Controller;

/// What time it is for keys, unix seconds: the deployment's time, or that of a room which is ahead of it, as one from a
/// backup may be. Tokens are dated, and their keys looked for, by the time of their room.
///
/// # Errors
/// See [`StoreError`].
pub(crate) async fn key_time(controller: &Controller) -> Result<u64, StoreError> {
    let now_ms = controller.store.now_ms().await?;
    let ahead_ms = controller.feed.rooms().iter().map(|room| room.now_ms()).max();
    Ok(now_ms.max(ahead_ms.unwrap_or(0)) / 1000)
}
