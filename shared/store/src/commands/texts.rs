//! What is of the whole deployment and kept as one JSON text: the tokens that were made by calls, and the webhooks. Whoever
//! changes one has read it. What is in them is `vestibule_domain`'s: of tokens only hashes, and other secrets sealed.

use serde::{Deserialize, Serialize};

use crate::{
    Store, StoreError,
    keys::{API_TOKENS, WEBHOOKS},
    scripts,
};

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
    /// The text of the set of tokens, or `None` while there is none.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn api_tokens(&self) -> Result<Option<String>, StoreError> {
        self.text(API_TOKENS).await
    }

    /// Replaces the text of the tokens by `text` if it is still `read`; returns whether it was.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn replace_api_tokens(
        &self,
        read: Option<&str>,
        text: &str,
    ) -> Result<bool, StoreError> {
        self.replace_text(API_TOKENS, read, text).await
    }

    /// The webhooks' text, or `None` while there was never one.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn webhooks(&self) -> Result<Option<String>, StoreError> {
        self.text(WEBHOOKS).await
    }

    /// Replaces the webhooks' text by `text` if it is still `read`; returns whether it was.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn replace_webhooks(
        &self,
        read: Option<&str>,
        text: &str,
    ) -> Result<bool, StoreError> {
        self.replace_text(WEBHOOKS, read, text).await
    }

    async fn text(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.query(redis::cmd("GET").arg(key)).await
    }

    async fn replace_text(
        &self,
        key: &str,
        read: Option<&str>,
        changed: &str,
    ) -> Result<bool, StoreError> {
        let arguments = Arguments { read, changed };
        let reply: Reply = self.call_on(&scripts::REPLACE_TEXT, &[key], &arguments).await?;
        Ok(reply.replaced)
    }
}
