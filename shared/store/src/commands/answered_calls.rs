//! What operators' calls were answered (`scripts/lib/once.lua`), when Redis may have lost it.

use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Serialize;
use vestibule_domain::RoomId;

use crate::{
    Store, StoreError, document,
    keys::{Part, RoomKeys},
    memory::{AnsweredCall, RoomMemory},
};

/// So many are put back at once.
const AT_ONCE: usize = 32;
const LISTED_AT_ONCE: usize = 500;
/// As `lib/listed.lua`.
pub(super) const LISTS_KEPT_SECONDS: u64 = 1_296_000;

/// For how long operators' calls are kept, s: the same in `lib/once.lua`.
pub(super) const KEPT_SECONDS: u64 = 86_400;

impl Store {
    /// Puts back what calls were answered, where Redis does not know it.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn restore_calls(
        &self,
        room: &RoomId,
        calls: &[AnsweredCall],
    ) -> Result<(), StoreError> {
        let restore = async |call: &AnsweredCall| {
            let mut set = redis::cmd("SET");
            set.arg(RoomKeys(room).call(&call.name)).arg(&*call.answer).arg("NX");
            set.arg("EX").arg(call.kept_seconds);
            // Nothing comes back where Redis knows of it.
            self.query::<Option<String>>(&set).await.map(drop)
        };
        stream::iter(calls).map(Ok).try_for_each_concurrent(AT_ONCE, restore).await?;
        self.list_calls(room, calls).await
    }

    /// As `LISTED.note` in `scripts/lib/listed.lua`.
    async fn list_calls(&self, room: &RoomId, calls: &[AnsweredCall]) -> Result<(), StoreError> {
        let (list, now_ms) = (RoomKeys(room).key(Part::Calls), self.now_ms_in(room).await?);
        for some in calls.chunks(LISTED_AT_ONCE) {
            let mut add = redis::cmd("ZADD");
            add.arg(&list);
            for call in some {
                add.arg(now_ms + call.kept_seconds * 1000).arg(&call.name);
            }
            self.query::<()>(&add).await?;
            self.query::<()>(redis::cmd("EXPIRE").arg(&list).arg(LISTS_KEPT_SECONDS)).await?;
        }
        Ok(())
    }
}

/// Takes in what the call of this kind and name was answered.
pub(super) fn remember(
    memory: &RoomMemory,
    (kind, name): (&str, &str),
    kept_seconds: u64,
    answer: &impl Serialize,
) -> Result<(), StoreError> {
    let (name, answer) = (format!("{kind}:{name}"), document::text(answer)?.into());
    memory.take_call(AnsweredCall { name, answer, kept_seconds });
    Ok(())
}
