//! Which page made a browser send a request. Cookies come along with requests that pages of other origins make, so for
//! those a cookie does not speak. What is no browser says nothing of this and sends cookies on purpose.

use axum::http::{
    HeaderMap,
    header::{HOST, ORIGIN},
};
use vestibule_site::{Origin, SiteBinding, UrlParts};

const SITE: &str = "sec-fetch-site";
const MODE: &str = "sec-fetch-mode";

/// Whose page made a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Initiator {
    /// One of this service's own origin.
    Own,
    /// One of an origin that the room's operator has named.
    Named,
    /// One of another origin, be it a sibling of the same site.
    Foreign,
    /// Nobody says: the visitor itself, by an address or an app, or a browser of before 2023 that loads something.
    Untold,
}

// === impl Initiator ===

impl Initiator {
    /// Who made a request with these headers to the service at `public_url`, for a room with this `binding`.
    pub(crate) fn of(headers: &HeaderMap, public_url: &str, binding: &SiteBinding) -> Self {
        let origin = text(headers, ORIGIN.as_str());
        match (text(headers, SITE), origin) {
            (Some("same-origin"), _) => Self::Own,
            (Some("none"), _) | (None, None) => Self::Untold,
            (None, Some(origin)) if is_own(origin, headers, public_url) => Self::Own,
            (_, Some(origin)) if is_named(origin, binding) => Self::Named,
            (Some(_), _) | (None, Some(_)) => Self::Foreign,
        }
    }
}

/// Whether a browser opens this address in the place of a page, as by a link.
pub(crate) fn is_navigation(headers: &HeaderMap) -> bool {
    text(headers, MODE) == Some("navigate")
}

/// Whether a form of another site's page has led the browser here. The visitor's cookie does not come along with that, and
/// yet one that is set replaces it.
pub(crate) fn is_form_of_another_site(headers: &HeaderMap) -> bool {
    let is_cross_site = text(headers, SITE) == Some("cross-site");
    // Browsers name the origin with a navigation only if it sends something.
    is_cross_site && is_navigation(headers) && headers.contains_key(ORIGIN)
}

/// Whether the room's operator lets pages of `origin` use the visitor's cookie.
pub(crate) fn is_named(origin: &str, binding: &SiteBinding) -> bool {
    let origin: Option<Origin> = origin.parse().ok();
    origin.is_some_and(|origin| binding.cors_origins.contains(&origin))
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("not ASCII"))
}

/// Whether `origin` is that of this service. A page without encryption does not speak for a service with it.
fn is_own(origin: &str, headers: &HeaderMap, public_url: &str) -> bool {
    let Ok(origin) = origin.parse::<Origin>() else { return false };
    let public = UrlParts::split(public_url).and_then(|parts| parts.origin.parse::<Origin>().ok());
    let is_downgraded = !origin.is_https() && public.as_ref().is_some_and(Origin::is_https);
    let is_host = text(headers, HOST.as_str()).is_some_and(|host| origin.is_at(host));
    public.as_ref() == Some(&origin) || is_host && !is_downgraded
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    fn initiator(pairs: &[(&'static str, &'static str)]) -> Initiator {
        let header = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        let headers: HeaderMap = pairs.iter().map(header).collect();
        let named = vec!["https://shop.example".parse().unwrap()];
        let binding = SiteBinding { cors_origins: named, ..SiteBinding::default() };
        Initiator::of(&headers, "https://wait.example/x", &binding)
    }

    #[test]
    fn a_browser_says_it_in_one_of_two_ways() {
        use Initiator::{Foreign, Named, Own, Untold};
        let cases: [(&[(&'static str, &'static str)], Initiator); 19] = [
            (&[], Untold),
            (&[("sec-fetch-site", "none")], Untold),
            (&[("sec-fetch-site", "same-origin")], Own),
            (&[("sec-fetch-site", "same-site")], Foreign),
            (&[("sec-fetch-site", "cross-site")], Foreign),
            (&[("sec-fetch-site", "")], Foreign),
            (&[("sec-fetch-site", "cross-site"), ("origin", "https://h"), ("host", "h")], Foreign),
            (&[("sec-fetch-site", "cross-site"), ("origin", "https://shop.example")], Named),
            (&[("origin", "https://shop.example"), ("host", "h")], Named),
            (&[("origin", "https://shop.example:8443"), ("host", "h")], Foreign),
            (&[("origin", "http://shop.example"), ("host", "h")], Foreign),
            (&[("origin", "https://h:8080"), ("host", "H:8080")], Own),
            (&[("origin", "http://h:8080"), ("host", "h:8080")], Foreign),
            (&[("origin", "https://wait.example"), ("host", "inside:1")], Own),
            (&[("origin", "https://wait.exam"), ("host", "h")], Foreign),
            (&[("origin", "https://evil.example"), ("host", "h")], Foreign),
            (&[("origin", "null"), ("host", "null")], Foreign),
            (&[("origin", "null"), ("host", "")], Foreign),
            (&[("origin", ""), ("host", "")], Foreign),
        ];
        for (headers, expected) in cases {
            assert_eq!(initiator(headers), expected, "{headers:?}");
        }
    }
}
