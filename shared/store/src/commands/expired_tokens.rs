//! The request ids whose AWS-style tokens have expired.

use serde::{Deserialize, Serialize};
use vestibule_domain::RoomId;

use crate::{Store, StoreError, scripts};

/// What a page is asked for with: after which token it begins. Nothing: it is the first one.
#[derive(Debug, Default, Serialize)]
struct Arguments {
    after: Option<u64>,
    told: Option<u64>,
}

#[derive(Deserialize)]
struct Page {
    request_ids: Vec<String>,
    #[serde(default)]
    after: Option<u64>,
    #[serde(default)]
    told: Option<u64>,
}

impl Store {
    /// Request ids whose tokens have expired, earliest first, completed and abandoned ones
    /// included; of the last 24 hours. Read page by page, so what expires meanwhile may be among them.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn expired_tokens(&self, room: &RoomId) -> Result<Vec<String>, StoreError> {
        let (mut arguments, mut request_ids) = (Arguments::default(), Vec::new());
        loop {
            let page: Page = self.call(&scripts::EXPIRED_TOKENS, room, &arguments).await?;
            request_ids.extend(page.request_ids);
            if page.after.is_none() {
                return Ok(request_ids);
            }
            arguments = Arguments { after: page.after, told: page.told };
        }
    }
}
