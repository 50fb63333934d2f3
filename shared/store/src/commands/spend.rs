//! What newcomers have shown is used, once: solutions of puzzles, and passes for one place.

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;

use crate::{Store, StoreError, scripts};

/// By what it is remembered that something was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Spending {
    /// Short, and another one for everything else that expires in the same minute.
    pub name: String,
    /// For how long it is valid, unix seconds.
    pub expires_at: u64,
    /// That it was not used after all: what it was used for was refused.
    pub is_taken_back: bool,
}

#[derive(Serialize)]
struct Arguments<'a> {
    marks: &'a [Spending],
}

#[derive(Deserialize)]
struct Reply {
    is_first: Vec<bool>,
}

impl Store {
    /// Uses each of `marks`, or takes that back; returns for each whether it was not used before. Whatever a reset deletes, this
    /// is remembered.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`]. Then some may have been used.
    pub async fn spend(&self, room: &RoomId, marks: &[Spending]) -> Result<Vec<bool>, StoreError> {
        let reply: Reply = self.call(&scripts::SPEND, room, &Arguments { marks }).await?;
        if reply.is_first.len() != marks.len() {
            return Err(StoreError::unexpected("spend: not an answer for each mark"));
        }
        Ok(reply.is_first)
    }
}
