//! The hosts of routes. They are never resolved.

use std::{borrow::Cow, fmt, net::Ipv6Addr, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::url::without_port;

/// A host (`shop.example`), or all hosts below one (`*.shop.example`), in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Host {
    wildcard: bool,
    /// Without the `*.` of a wildcard.
    name: String,
}

/// Why a text is not a host of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    /// `https://…`
    #[error("must be a host without a scheme: `shop.example`")]
    Scheme,
    /// `shop.example/sale`
    #[error("must be a host without a path: the path is a field of its own")]
    Path,
    /// `shop.example:8443`
    #[error("must be a host without a port: a room covers every port")]
    Port,
    /// Empty, or an empty label between dots.
    #[error("must be a host: `shop.example`, or `*.shop.example` for all below it")]
    Empty,
    /// A `*` that is not the whole first label.
    #[error("must have `*` only as its whole first label: `*.shop.example`")]
    Wildcard,
    /// Characters beyond ASCII.
    #[error("must be in ASCII: write an international name in its `xn--` form")]
    International,
    /// A character that is not allowed in hosts.
    #[error("must have only letters, digits, `-`, `_` and dots, not {0:?}")]
    Character(char),
    /// Over 253 characters, or a label over 63.
    #[error("must have at most 253 characters, and at most 63 between dots")]
    Length,
}

// === impl Host ===

impl Host {
    /// The longest name, in characters, without the `*.` of a wildcard.
    pub const MAX_LENGTH: usize = 253;
    const MAX_LABEL: usize = 63;

    /// Whether it covers all hosts below its name (but not the name itself).
    #[must_use]
    pub const fn is_wildcard(&self) -> bool {
        self.wildcard
    }

    /// The name, without the `*.` of a wildcard.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it covers `host`, given in lower case and without a port.
    #[must_use]
    pub fn covers(&self, host: &str) -> bool {
        if !self.wildcard {
            return host == self.name;
        }
        let below = host.strip_suffix(&self.name);
        below.is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
    }

    /// Whether `authority` names a host as browsers do, perhaps with a port. What names none is not a request for some
    /// other host: nobody can tell what a gateway or a site makes of it.
    #[must_use]
    pub fn is_named_by(authority: &str) -> bool {
        let host = without_port(authority);
        address_of(host).is_some() || check(host.strip_suffix('.').unwrap_or(host)).is_ok()
    }

    /// The host of a request in the form of routes: in lower case, without a port and without the
    /// dot at the end. An address of IPv6 is written as RFC 5952 has it.
    #[must_use]
    pub fn from_request(host: &str) -> Cow<'_, str> {
        let host = without_port(host);
        let host = host.strip_suffix('.').unwrap_or(host);
        if let Some(address) = address_of(host) {
            format!("[{address}]").into()
        } else if host.bytes().any(|byte| byte.is_ascii_uppercase()) {
            host.to_ascii_lowercase().into()
        } else {
            host.into()
        }
    }
}

impl FromStr for Host {
    type Err = HostError;

    fn from_str(text: &str) -> Result<Self, HostError> {
        let (wildcard, name) = match text.strip_prefix("*.") {
            Some(name) => (true, name),
            None => (false, text),
        };
        let name = name.strip_suffix('.').unwrap_or(name);
        if !wildcard && let Some(address) = address_of(name) {
            return Ok(Self { wildcard, name: format!("[{address}]") });
        }
        check(name)?;
        Ok(Self { wildcard, name: name.to_ascii_lowercase() })
    }
}

/// The address of IPv6 that a host in brackets is. It can be written in many ways.
fn address_of(host: &str) -> Option<Ipv6Addr> {
    host.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
}

fn check(name: &str) -> Result<(), HostError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.contains("://") {
        return Err(HostError::Scheme);
    }
    match name.chars().find(|c| !allowed(*c)) {
        None => {}
        Some('/') => return Err(HostError::Path),
        Some(':') => return Err(HostError::Port),
        Some('*') => return Err(HostError::Wildcard),
        Some(c) if !c.is_ascii() => return Err(HostError::International),
        Some(c) => return Err(HostError::Character(c)),
    }
    if name.split('.').any(str::is_empty) {
        return Err(HostError::Empty);
    }
    let long = name.split('.').any(|label| label.len() > Host::MAX_LABEL);
    if long || name.len() > Host::MAX_LENGTH { Err(HostError::Length) } else { Ok(()) }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.wildcard { "*." } else { "" }, self.name)
    }
}

impl TryFrom<String> for Host {
    type Error = HostError;

    fn try_from(text: String) -> Result<Self, HostError> {
        text.parse()
    }
}

impl From<Host> for String {
    fn from(host: Host) -> Self {
        host.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_and_written_in_lower_case() {
        let cases = [
            ("shop.example", "shop.example"),
            ("Shop.EXAMPLE", "shop.example"),
            ("*.Shop.example", "*.shop.example"),
            ("shop.example.", "shop.example"),
            ("localhost", "localhost"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("192.0.2.1", "192.0.2.1"),
            ("[::1]", "[::1]"),
            ("[0:0:0::1]", "[::1]"),
            ("a_b.example", "a_b.example"),
        ];
        for (text, host) in cases {
            assert_eq!(text.parse::<Host>().map(String::from).as_deref(), Ok(host));
        }
        assert!("*.a.example".parse::<Host>().unwrap().is_wildcard());
        let long = format!("{}.ab", vec!["x".repeat(49); 5].join("."));
        assert_eq!(long.len(), 252);
        assert!(format!("{long}c").parse::<Host>().is_ok());
        assert!(format!("*.{long}c").parse::<Host>().is_ok());
        assert_eq!(format!("{long}cd").parse::<Host>(), Err(HostError::Length));
    }

    #[test]
    fn what_is_no_host_is_refused_with_the_reason() {
        let cases = [
            ("https://shop.example", HostError::Scheme),
            ("shop.example/sale", HostError::Path),
            ("shop.example:8443", HostError::Port),
            ("*.shop.example:8443", HostError::Port),
            ("", HostError::Empty),
            (".", HostError::Empty),
            ("*.", HostError::Empty),
            ("*", HostError::Wildcard),
            ("a..b", HostError::Empty),
            ("shop.example..", HostError::Empty),
            (".shop.example", HostError::Empty),
            ("a.*.example", HostError::Wildcard),
            ("*shop.example", HostError::Wildcard),
            ("*.*.example", HostError::Wildcard),
            ("bücher.example", HostError::International),
            ("shop example", HostError::Character(' ')),
            (" shop.example", HostError::Character(' ')),
            ("shop.example?x", HostError::Character('?')),
            ("user@shop.example", HostError::Character('@')),
            ("[::1", HostError::Character('[')),
        ];
        for (text, error) in cases {
            assert_eq!(text.parse::<Host>(), Err(error), "{text}");
        }
        assert_eq!("x".repeat(64).parse::<Host>(), Err(HostError::Length));
    }

    #[test]
    fn a_wildcard_covers_what_is_below_its_name() {
        let covers = |route: &str, host| route.parse::<Host>().unwrap().covers(host);
        assert!(covers("a.example", "a.example") && !covers("a.example", "b.a.example"));
        assert!(covers("*.a.example", "b.a.example") && covers("*.a.example", "c.b.a.example"));
        for host in ["a.example", ".a.example", "ba.example", ""] {
            assert!(!covers("*.a.example", host), "{host}");
        }
    }

    #[test]
    fn the_host_of_a_request_is_normalized_to_that_of_a_route() {
        let cases = [
            ("shop.example", "shop.example"),
            ("Shop.Example:8443", "shop.example"),
            ("shop.example.:80", "shop.example"),
            ("shop.example.", "shop.example"),
            ("shop.example:", "shop.example"),
            ("[::1]:8443", "[::1]"),
            ("[::1]", "[::1]"),
            ("[2001:db8:0::1]", "[2001:db8::1]"),
            ("[2001:0db8::1]:8443", "[2001:db8::1]"),
            ("[2001:db8::0.0.0.1]", "[2001:db8::1]"),
            ("[2001:DB8::A]", "[2001:db8::a]"),
            ("[::ffff:c000:201]", "[::ffff:192.0.2.1]"),
            ("[Shop.example]", "[shop.example]"),
            ("[", "["),
            ("", ""),
        ];
        for (given, host) in cases {
            assert_eq!(Host::from_request(given), host, "{given}");
        }
    }

    #[test]
    fn an_address_of_ipv6_is_one_host_however_it_is_written() {
        let spellings = ["[2001:db8::1]", "[2001:0db8:0::1]", "[2001:DB8::0.0.0.1]"];
        for (route, asked) in spellings.iter().flat_map(|one| spellings.map(|other| (one, other))) {
            let host: Host = route.parse().unwrap();
            assert!(host.covers(&Host::from_request(asked)), "{route} {asked}");
        }
        let ordinary = Host::from_request("shop.example:8443");
        assert!(matches!(ordinary, Cow::Borrowed(_)), "nothing is copied for an ordinary host");
    }

    #[test]
    fn an_authority_names_a_host_as_browsers_do() {
        for sound in [
            "shop.example",
            "SHOP.example.:8443",
            "a_b.example",
            "localhost:",
            "10.0.0.1:80",
            "[2001:db8::1]:443",
            "[::1]",
        ] {
            assert!(Host::is_named_by(sound), "{sound}");
        }
        let long = ["a"; 200].join(".");
        for wrong in [
            "",
            ":80",
            "shop.example:x",
            "shop.example:80x",
            "shop.example:0x50",
            "shop.example:+80",
            "shop.example:80:80",
            "shop.example..",
            ".shop.example",
            "shop..example",
            "a@shop.example",
            "[shop.example]",
            "[shop.example]:80",
            "[::1",
            "::1",
            "shop.example, other.example",
            "shop.example/",
            "shop%2eexample",
            "*.shop.example",
            &long,
        ] {
            assert!(!Host::is_named_by(wrong), "{wrong}");
        }
    }
}
