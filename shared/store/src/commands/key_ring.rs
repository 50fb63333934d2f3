//! The sealed key ring, as one JSON text. `vestibule-token` defines and seals its contents.

use serde::{Deserialize, Serialize};
use vestibule_history::Call;

use crate::{Store, StoreError, keys::KEY_RING, recording::answers, scripts};

#[derive(Serialize)]
struct Arguments<'a> {
    read: Option<&'a str>,
    changed: &'a str,
}

#[derive(Deserialize)]
struct Reply {
    replaced: bool,
}

impl Store {
    /// The key ring's text, or `None` while there is none.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn key_ring(&self) -> Result<Option<String>, StoreError> {
        let noting = self.noting(None, || vec![Call::ReadKeys]).await;
        let text: Result<Option<String>, _> = self.query(redis::cmd("GET").arg(KEY_RING)).await;
        if let Some(noting) = noting {
            noting.settle(&text, |_| None, |text| answers::keys_read(text.as_deref()));
        }
        text
    }

    /// Replaces the key ring's text by `text` if it is still `read`, `None`: if there is none; returns whether it was.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn replace_key_ring(
        &self,
        read: Option<&str>,
        text: &str,
    ) -> Result<bool, StoreError> {
        let (keys, arguments) = ([KEY_RING], Arguments { read, changed: text });
        let noting = self.noting(None, || answers::change_keys(text)).await;
        let reply: Result<Reply, _> =
            self.call_on(&scripts::REPLACE_KEY_RING, &keys, &arguments).await;
        if let Some(noting) = noting {
            let changed = |reply: &Reply| answers::keys_changed(text, reply.replaced);
            noting.settle(&reply, |_| None, changed);
        }
        Ok(reply?.replaced)
    }

    /// Writes the first key ring, unless there is one; returns the one that is there.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn create_key_ring(&self, text: &str) -> Result<String, StoreError> {
        let noting = self.noting(None, || answers::change_keys(text)).await;
        self.query::<()>(redis::cmd("SETNX").arg(KEY_RING).arg(text)).await?;
        if let Some(noting) = noting {
            noting.note(Vec::new());
        }
        let ring = self.key_ring().await?;
        ring.ok_or_else(|| StoreError::unexpected("the key ring vanished"))
    }
}
