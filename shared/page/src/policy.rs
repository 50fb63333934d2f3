//! Content security policies of the pages.
//!
//! The default page may do nothing but what it contains: its style and its script are named by
//! their hashes, pictures are inline, calls and forms go to its own origin. A custom page is its
//! operator's: it may have scripts and styles of its own, and pictures, fonts, styles and scripts
//! from addresses with https; it still cannot send forms or calls elsewhere, load plugins, or
//! change where relative addresses lead.

use std::sync::LazyLock;

use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

use crate::PageView;

/// The style of the default page.
pub(crate) const STYLE: &str = include_str!("../assets/page.css");
/// The script of the default page.
pub(crate) const SCRIPT: &str = include_str!("../assets/page.js");

/// What the default page may do, without what depends on the visitor.
static OF_PAGE: LazyLock<String> = LazyLock::new(|| {
    let (style, script) = (hash(STYLE), hash(SCRIPT));
    format!(
        "default-src 'none'; style-src '{style}'; script-src '{script}'; img-src data:; \
         connect-src 'self'; base-uri 'none'"
    )
});

const OF_CUSTOM_PAGE: &str = "default-src 'none'; style-src 'unsafe-inline' https:; \
     script-src 'unsafe-inline' https:; img-src data: https:; font-src data: https:; \
     media-src data: https:; connect-src 'self'; base-uri 'none'";

/// The policy of the default page for `view`.
pub(crate) fn of_page(view: &PageView) -> String {
    with_frames_and_forms(&OF_PAGE, view)
}

/// The policy of a custom page for `view`.
pub(crate) fn of_custom_page(view: &PageView) -> String {
    with_frames_and_forms(OF_CUSTOM_PAGE, view)
}

/// Forms go to this origin; that which enters is sent on to the wanted page, which some browsers
/// count as the form's target too. Frames of other sites are let in where the cookie is made for
/// them.
fn with_frames_and_forms(policy: &str, view: &PageView) -> String {
    let frame = &view.frame;
    let wanted = frame.wanted.as_ref().filter(|_| frame.enter.is_some());
    let wanted = wanted.and_then(|wanted| wanted.origin()).map(|origin| format!(" {origin}"));
    let ancestors = if frame.is_framed_anywhere { "*" } else { "'self'" };
    let wanted = wanted.unwrap_or_default();
    format!("{policy}; form-action 'self'{wanted}; frame-ancestors {ancestors}")
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}
