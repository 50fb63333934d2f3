//! Services announce which formats they read: see [`Formats`].

use serde::{Deserialize, Serialize};
use vestibule_domain::Formats;

use crate::{Store, StoreError, document, keys::FORMATS, scripts};

/// A service counts as stopped if it has not announced anything for so long, ms.
const SEEN_WITHIN_MS: u64 = 60_000;

#[derive(Serialize)]
struct Arguments<'a> {
    instance: &'a str,
    formats: String,
    seen_within_ms: u64,
}

#[derive(Deserialize)]
struct Reply {
    formats: Vec<String>,
}

impl Store {
    /// Announces that `instance` reads these versions; returns what every running service reads.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn announce(&self, instance: &str, formats: Formats) -> Result<Formats, StoreError> {
        let arguments = Arguments {
            instance,
            formats: document::text(&formats)?,
            seen_within_ms: SEEN_WITHIN_MS,
        };
        let reply: Reply =
            self.call_on(&scripts::ANNOUNCE, &[FORMATS.to_owned()], &arguments).await?;
        let announced = reply.formats.iter().map(|text| document::decode(text).unwrap_or_default());
        Ok(announced.fold(formats, Formats::common))
    }
}
