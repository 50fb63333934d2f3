//! The request ids whose AWS-style tokens have expired.

use vestibule_domain::RoomId;

use super::keys;
use crate::{Store, StoreError, keys::Part, scripts};

impl Store {
    /// Request ids whose tokens have expired, earliest first, completed and abandoned ones
    /// included; of the last 24 hours.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn expired_tokens(&self, room: &RoomId) -> Result<Vec<String>, StoreError> {
        let keys = keys(room, [Part::Tokens, Part::Records]);
        self.run(&self.timed(&scripts::EXPIRED_TOKENS, &keys)).await
    }
}
