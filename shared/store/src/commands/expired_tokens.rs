//! The request ids whose AWS-style tokens have expired.

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;

use crate::{Store, StoreError, scripts};

#[derive(Serialize)]
struct Arguments {}

#[derive(Deserialize)]
struct Reply {
    request_ids: Vec<String>,
}

impl Store {
    /// Request ids whose tokens have expired, earliest first, completed and abandoned ones
    /// included; of the last 24 hours.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn expired_tokens(&self, room: &RoomId) -> Result<Vec<String>, StoreError> {
        let reply: Reply = self.call(&scripts::EXPIRED_TOKENS, room, &Arguments {}).await?;
        Ok(reply.request_ids)
    }
}
