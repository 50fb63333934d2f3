//! What operators' calls were answered (`scripts/lib/once.lua`), when Redis may have lost it.

use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Serialize;
use vestibule_domain::RoomId;

use crate::{
    Store, StoreError, document,
    keys::RoomKeys,
    memory::{AnsweredCall, RoomMemory},
};

/// So many are put back at once.
const AT_ONCE: usize = 32;

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
        stream::iter(calls).map(Ok).try_for_each_concurrent(AT_ONCE, restore).await
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
