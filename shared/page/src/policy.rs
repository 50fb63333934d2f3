//! Content security policies of the pages.
//!
//! The default page may load only what it contains: its style and its script are allowed by their
//! hashes, images are inline or from its own origin, and requests and forms go to its own origin. Where the visitor has to solve the
//! challenge of a provider first, that provider's origins are allowed, too. A custom page may have
//! scripts and styles of its own, and images, fonts, styles and scripts from https addresses. It
//! still cannot send forms or requests elsewhere, load plugins, or change the base of relative
//! addresses.

use std::sync::LazyLock;

use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

use crate::{LogoSource, PageView, challenge::Widget};

/// The style of the default page.
pub(crate) const STYLE: &str = include_str!("../assets/page.css");
/// The script of the default page, without its comments: every newcomer loads it.
pub(crate) static SCRIPT: LazyLock<String> =
    LazyLock::new(|| without_comments(include_str!("../assets/page.js")));

/// What the default page's policy allows by hashes: its style and its script.
static OWN: LazyLock<(String, String)> =
    LazyLock::new(|| (format!("'{}'", hash(STYLE)), format!("'{}'", hash(&SCRIPT))));

const CUSTOM_PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline' https:; \
     script-src 'unsafe-inline' https:; img-src 'self' data: https:; font-src data: https:; \
     media-src data: https:; connect-src 'self'; base-uri 'none'";

/// The policy of the default page for `view`.
pub(crate) fn for_page(view: &PageView) -> String {
    let (style, script) = &*OWN;
    let accent = view.frame.accent.map(|accent| format!(" '{}'", hash(&accent.style())));
    let style = format!("{style}{}", accent.unwrap_or_default());
    let images = match view.frame.logo {
        Some(LogoSource::Origin(_)) => "data: 'self'",
        Some(LogoSource::Page(_)) | None => "data:",
    };
    let policy = match view.widget() {
        Some(widget) => with_widget(&widget, (&style, script, images)),
        None => format!(
            "default-src 'none'; style-src {style}; script-src {script}; img-src {images}; \
             connect-src 'self'; base-uri 'none'"
        ),
    };
    // The worker comes from the page itself: no other address can be had in the place of any page.
    let worker = if view.has_puzzle() { "; worker-src blob:" } else { "" };
    with_frames_and_forms(&format!("{policy}{worker}"), view)
}

/// The policy of the default page with the widget of another provider: what that one documents.
fn with_widget(
    Widget { origins, styles, .. }: &Widget<'_>,
    (style, script, images): (&str, &str, &str),
) -> String {
    format!(
        "default-src 'none'; style-src {style}{styles}; script-src {script} {origins}; \
         frame-src {origins}; img-src {images}; connect-src 'self' {origins}; base-uri 'none'"
    )
}

/// `script` without the lines that are comments and nothing else.
fn without_comments(script: &str) -> String {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    script.split_inclusive('\n').filter(is_code).collect()
}

/// The policy of a custom page for `view`.
pub(crate) fn for_custom_page(view: &PageView) -> String {
    with_frames_and_forms(CUSTOM_PAGE_POLICY, view)
}

/// Adds the targets of forms and the allowed ancestors. Forms go to this origin; the form that
/// enters is redirected to the wanted page, which some browsers count as its target too. Other
/// sites may frame the page if the cookie is made for that.
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
