//! The webhooks, as one JSON text. What is in it is `vestibule_domain::webhook`'s; their secrets are sealed.

use serde::{Deserialize, Serialize};

use crate::{Store, StoreError, keys::WEBHOOKS, scripts};

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
    /// The webhooks' text, or `None` while there was never one.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn webhooks(&self) -> Result<Option<String>, StoreError> {
        self.query(redis::cmd("GET").arg(WEBHOOKS)).await
    }

    /// Replaces the text by `text` if it is still `read`; returns whether it was.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn replace_webhooks(
        &self,
        read: Option<&str>,
        text: &str,
    ) -> Result<bool, StoreError> {
        let arguments = Arguments { read, changed: text };
        let reply: Reply =
            self.call_on(&scripts::REPLACE_WEBHOOKS, &[WEBHOOKS], &arguments).await?;
        Ok(reply.replaced)
    }
}
