//! The parts of a URL exactly as they are written. A general URL parser decodes and normalizes
//! (`/a/../b`, upper case, default ports); here the checked text must be identical to the text that
//! was sent and is passed on.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The characters encoded in a path: all except RFC 3986's `pchar` and the slash.
const NOT_IN_PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

/// The parts of an absolute `http` or `https` URL. Only the scheme is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UrlParts<'a> {
    /// Scheme and authority: `https://shop.example:8443`.
    pub origin: &'a str,
    /// The part between scheme and path: the host, possibly with a user before and a port after it.
    pub authority: &'a str,
    /// The path; may be empty.
    pub path: &'a str,
    /// The query without its `?`; empty if there is none.
    pub query: &'a str,
}

// === impl UrlParts ===

impl<'a> UrlParts<'a> {
    /// Splits `url`; `None` if it is not an absolute `http` or `https` address. The fragment, which
    /// is never sent, is dropped.
    #[must_use]
    pub fn split(url: &'a str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            return None;
        }
        let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
        let origin = &url[..scheme.len() + "://".len() + authority.len()];
        let target = &url[origin.len()..];
        let target = target.split_once('#').map_or(target, |(target, _)| target);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Some(Self { origin, authority, path, query })
    }
}

/// The host of an authority or a `Host` header: `shop.example:8443` and `[::1]:8443` have a port,
/// `[::1]` has none.
#[must_use]
pub fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// `url` without the query parameter `name`, otherwise unchanged.
#[must_use]
pub fn without_parameter(url: &str, name: &str) -> String {
    let Some((path, query)) = url.split_once('?') else { return url.to_owned() };
    let is_named = |pair: &str| pair.split('=').next() == Some(name);
    let others: Vec<_> = query.split('&').filter(|pair| !is_named(pair)).collect();
    if others.is_empty() { path.to_owned() } else { format!("{path}?{}", others.join("&")) }
}

/// The percent-encoded form (`/%C3%BCber`) of a path in plain characters (`/über`).
#[must_use]
pub fn encode_path(path: &str) -> String {
    utf8_percent_encode(path, NOT_IN_PATH).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart_as_it_is_written() {
        let cases = [
            ("https://shop.example/sale?x=1", "shop.example", "/sale", "x=1"),
            ("HTTP://Shop.Example:8080", "Shop.Example:8080", "", ""),
            ("https://shop.example?x=/y", "shop.example", "", "x=/y"),
            ("https://shop.example/a/..%2fb//c#d?e", "shop.example", "/a/..%2fb//c", ""),
            ("https://shop.example/?a?b", "shop.example", "/", "a?b"),
            ("https://shop.example#/a?b", "shop.example", "", ""),
            ("https://[::1]:8080/x", "[::1]:8080", "/x", ""),
        ];
        for (url, authority, path, query) in cases {
            let parts = UrlParts::split(url).unwrap();
            assert_eq!((parts.authority, parts.path, parts.query), (authority, path, query));
        }
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let origin = |url| UrlParts::split(url).map(|parts| parts.origin);
        assert_eq!(origin("https://a.example:8443/x/y"), Some("https://a.example:8443"));
        assert_eq!(origin("http://a"), Some("http://a"));
        for other in ["nonsense", "/a?b=http://c", "ftp://a/", "https:/a", "//a"] {
            assert_eq!(origin(other), None, "{other}");
        }
    }

    #[test]
    fn a_parameter_is_taken_out_of_the_address_and_nothing_else() {
        let clean = |url: &str| without_parameter(url, "vestibule_lang");
        for same in ["http://a/b", "http://a/b?", "http://a/?x=red%20wine&y=+&lang=de&z"] {
            assert_eq!(clean(same), same);
        }
        assert_eq!(clean("http://a/b?vestibule_lang=de"), "http://a/b");
        assert_eq!(
            clean("http://a/?x=%20&vestibule_lang=de&y&vestibule_lang"),
            "http://a/?x=%20&y"
        );
    }

    #[test]
    fn paths_of_routes_are_written_as_addresses_have_them() {
        assert_eq!(encode_path("/sale/a-b_c~1!$&'()*+,;=:@"), "/sale/a-b_c~1!$&'()*+,;=:@");
        assert_eq!(encode_path("/über a\"<"), "/%C3%BCber%20a%22%3C");
    }
}
