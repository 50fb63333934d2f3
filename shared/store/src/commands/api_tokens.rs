//! The set of tokens that were made by calls, as one JSON text. What is in it is `vestibule_domain::access`'s; the
//! tokens themselves are not.

use serde::{Deserialize, Serialize};

use crate::{Store, StoreError, keys::API_TOKENS, scripts};

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
    /// The set's text, or `None` while there is none.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn api_tokens(&self) -> Result<Option<String>, StoreError> {
        self.query(redis::cmd("GET").arg(API_TOKENS)).await
    }

    /// Replaces the set's text by `text` if it is still `read`; returns whether it was.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn replace_api_tokens(
        &self,
        read: Option<&str>,
        text: &str,
    ) -> Result<bool, StoreError> {
        let arguments = Arguments { read, changed: text };
        let reply: Reply =
            self.call_on(&scripts::REPLACE_API_TOKENS, &[API_TOKENS], &arguments).await?;
        Ok(reply.replaced)
    }
}
