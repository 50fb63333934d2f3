//! The sealed key ring, as one JSON text. What is in it, and its sealing, is `vestibule-token`'s.

use crate::{Store, StoreError, keys::KEY_RING, scripts};

impl Store {
    /// The key ring's text, or `None` while there is none.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn key_ring(&self) -> Result<Option<String>, StoreError> {
        self.query(redis::cmd("GET").arg(KEY_RING)).await
    }

    /// Puts `text` in the place of the key ring's text, if that is still `read`. Says whether it
    /// was.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn replace_key_ring(&self, read: &str, text: &str) -> Result<bool, StoreError> {
        let mut call = Self::untimed(&scripts::REPLACE_KEY_RING, &[KEY_RING.to_owned()]);
        self.run(call.arg(read).arg(text)).await
    }

    /// Writes the first key ring, unless there is one; returns the one that is there.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn create_key_ring(&self, text: &str) -> Result<String, StoreError> {
        self.query::<()>(redis::cmd("SETNX").arg(KEY_RING).arg(text)).await?;
        let ring = self.key_ring().await?;
        ring.ok_or_else(|| StoreError::unexpected("the key ring vanished"))
    }
}
