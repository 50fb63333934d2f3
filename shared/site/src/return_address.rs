//! The address that a visitor wanted to visit, checked so that it cannot lead out of the site.
//!
//! Deliberately not a general URL parser: only addresses in the plainest form are accepted, which
//! all browsers read alike. Everything else is refused, and the caller uses another address.

use crate::{Origin, UrlParts};

/// A checked address: a path of this origin, or an absolute address of a host of the site.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReturnAddress(String);

/// The longest address that is accepted, in bytes.
pub const MAX_RETURN_ADDRESS: usize = 4_096;

// === impl ReturnAddress ===

impl ReturnAddress {
    /// Checks `text`: a path that starts with a single `/`, or an absolute `http` or `https`
    /// address of an origin that `is_known`.
    #[must_use]
    pub fn parse(text: &str, is_known: impl Fn(&Origin) -> bool) -> Option<Self> {
        if text.len() > MAX_RETURN_ADDRESS || !text.bytes().all(is_plain) {
            return None;
        }
        if let Some(path) = text.strip_prefix('/') {
            return (!path.starts_with('/')).then(|| Self(text.to_owned()));
        }
        host_of(text)?;
        let origin = UrlParts::split(text)?.origin.parse().ok()?;
        is_known(&origin).then(|| Self(text.to_owned()))
    }

    /// The address for use in a link: it contains nothing that could end an attribute or a header.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The host, if the address is absolute.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        host_of(&self.0)
    }

    /// Scheme, host and port, if the address is absolute.
    #[must_use]
    pub fn origin(&self) -> Option<&str> {
        UrlParts::split(&self.0).map(|parts| parts.origin)
    }
}

/// Printable ASCII, without characters that end attributes, and without the backslash, which
/// browsers read as a slash.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'"' | b'<' | b'>')
}

/// The host of an absolute address, without a user and with a numeric port or none.
fn host_of(text: &str) -> Option<&str> {
    let authority = UrlParts::split(text)?.authority;
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    let port_is_sound = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    (host.split('.').all(is_label) && port_is_sound).then_some(host)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Option<ReturnAddress> {
        ReturnAddress::parse(text, |origin| origin.host() == "shop.example")
    }

    #[test]
    fn paths_and_addresses_of_the_site_are_taken_as_they_are() {
        for sound in [
            "/",
            "/sale?x=1&y=%20#top",
            "/a/../b",
            "https://shop.example",
            "https://SHOP.example:8443/sale?x=https://evil.example/",
            "HTTP://shop.example/",
            "/sale?next=//evil.example",
            "/sale?filter={%22a%22:[1]}|^`",
        ] {
            assert_eq!(parse(sound).map(|w| w.as_str().to_owned()).as_deref(), Some(sound));
        }
        let wanted = parse("https://shop.example:8443/sale").unwrap();
        assert_eq!(wanted.host(), Some("shop.example"));
        assert_eq!(wanted.origin(), Some("https://shop.example:8443"));
        assert_eq!(parse("/a?b=http://c").unwrap().origin(), None);
        assert_eq!(parse("/sale").unwrap().host(), None);
    }

    #[test]
    fn addresses_that_lead_out_of_the_site_are_refused() {
        for trick in [
            "",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "https:evil.example",
            "https:/evil.example",
            "https:///evil.example",
            "https://evil.example",
            "https://shop.example@evil.example/",
            "https://shop.example:80@evil.example/",
            "https://user@shop.example/",
            "https://shop.example.evil.example/",
            "https://evil-shop.example/",
            "https://shop.example\\@evil.example",
            "https://shop.example%2eevil.example/",
            "https://shop.example:/x",
            "https://shop.example:99999/x",
            "https://shop.example./x",
            "https://[::1]/",
            "javascript:alert(1)",
            "javascript://shop.example/%0aalert(1)",
            "JaVaScRiPt:alert(1)",
            "data:text/html,x",
            "ftp://shop.example/",
            "/\t/evil.example",
            "/\n/evil.example",
            "/ /evil.example",
            "\t//evil.example",
            " /sale",
            "/sale\r\nSet-Cookie: a=b",
            "/sale\0",
            "／／evil.example",
            "/\u{2215}evil.example",
            "//\u{ff0f}evil.example",
            "https://shop。example/",
            "https://shop.example\u{202e}/",
            "/\"><script>",
            "sale",
            "?return=/",
            "#",
        ] {
            assert_eq!(parse(trick), None, "{trick:?}");
        }
        assert_eq!(parse(&format!("/{}", "a".repeat(MAX_RETURN_ADDRESS))), None);
    }

    proptest! {
        #[test]
        fn every_accepted_address_stays_in_the_site(text in "(https?:)?[/\\\\]{0,3}[a-z@:.\\\\/?#\t ]{0,24}") {
            if let Some(wanted) = parse(&text) {
                let stays = match wanted.origin() {
                    None => text.starts_with('/') && !text[1..].starts_with(['/', '\\']),
                    Some(_) => wanted.host() == Some("shop.example"),
                };
                prop_assert!(stays, "{text:?}");
            }
        }
    }
}
