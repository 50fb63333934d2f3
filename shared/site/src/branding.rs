//! The operator's own page and logo, as uploaded and checked. They are rendered in
//! `vestibule-page`.

use serde::{Deserialize, Serialize};

/// The operator's own page and logo; without them the page is the default one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Branding {
    /// The page, a Mustache template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    /// The logo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logo: Option<Logo>,
}

/// An image that is embedded in the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Logo {
    /// Such as `image/svg+xml`.
    pub media_type: String,
    /// Its bytes, in base64.
    pub base64: String,
}

// === impl Branding ===

impl Branding {
    /// Whether the operator has set neither page nor logo.
    #[must_use]
    pub const fn is_default(&self) -> bool {
        self.html.is_none() && self.logo.is_none()
    }
}
