//! What was done in a room for good: which sessions have ended, and what operators' calls were answered. Whoever was there
//! has heard of it by push; whoever has started since reads it, so that a Redis that goes back can be told by those who
//! are there then.

use std::sync::PoisonError;

use serde::Deserialize;
use vestibule_domain::{RoomId, RoomSnapshot};

use super::{
    Feed, KnownRoom,
    known_room::{Generation, generation},
};
use crate::{AnsweredCall, StoreError};

/// A call that was answered, as `lib/once.lua` pushes it.
#[derive(Debug, Deserialize)]
pub(super) struct PushedCall {
    pub(super) room: RoomId,
    #[serde(flatten)]
    pub(super) call: AnsweredCall,
}

// === impl Feed ===

impl Feed {
    /// Reads that, once in each state of the room. `before`: the last snapshot; `revoked`: the places that operators have
    /// revoked.
    pub(super) async fn recall(
        &self,
        known: &KnownRoom,
        before: &RoomSnapshot,
        revoked: &[u64],
    ) -> Result<(), StoreError> {
        if known.is_recalled_in(generation(before)) {
            return Ok(());
        }
        let recalled = self.0.store.recall(&before.room, revoked).await;
        if recalled.as_ref().is_err_and(StoreError::is_of_another_type) {
            self.0.store.remove_foreign(&before.room).await?;
        }
        recalled?;
        self.0.store.inlet_alarm(&before.room).await?;
        known.note_recalled(generation(before));
        Ok(())
    }
}

// === impl KnownRoom ===

impl KnownRoom {
    pub(super) fn take_call(&self, call: AnsweredCall) {
        self.memory.take_call(call);
    }

    /// Whether what was done was read since the room was in this state.
    pub(super) fn is_recalled_in(&self, state: Generation) -> bool {
        *self.recalled_in.lock().unwrap_or_else(PoisonError::into_inner) == Some(state)
    }

    /// Something may have been missed: it is read again.
    pub(super) fn forget_recalled(&self) {
        *self.recalled_in.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn note_recalled(&self, state: Generation) {
        *self.recalled_in.lock().unwrap_or_else(PoisonError::into_inner) = Some(state);
    }
}
