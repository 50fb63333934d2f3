//! Origins: scheme, host and port, as browsers name them. Two that are equal are the same origin.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{Host, HostError, UrlParts, without_port};

/// Scheme, host and port of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Origin {
    https: bool,
    /// In lower case.
    host: String,
    /// None: the usual one of the scheme.
    port: Option<u16>,
}

/// Why a text is no origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OriginError {
    /// It has no scheme, or more than a scheme, a host and a port.
    #[error("must be an origin, without a path: `https://shop.example`, or with a port after it")]
    Form,
    /// Its host is wrong.
    #[error("names no host: it {0}")]
    Host(#[from] HostError),
    /// It stands for several hosts.
    #[error("must name one host: name each that is meant")]
    Wildcard,
}

// === impl Origin ===

impl Origin {
    /// Whether it is encrypted.
    #[must_use]
    pub const fn is_https(&self) -> bool {
        self.https
    }

    /// The host, in lower case and without a port.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether it is at the usual port of its scheme.
    #[must_use]
    pub const fn has_usual_port(&self) -> bool {
        self.port.is_none()
    }

    /// Whether a request with this `Host` header, sent by its scheme, is for this origin.
    #[must_use]
    pub fn is_at(&self, authority: &str) -> bool {
        Self::new(self.https, authority).is_ok_and(|other| other == *self)
    }

    fn new(https: bool, authority: &str) -> Result<Self, OriginError> {
        let name = without_port(authority);
        let port = match authority[name.len()..].strip_prefix(':') {
            Some(port) => {
                Some(port.parse().ok().filter(|port| *port > 0).ok_or(OriginError::Form)?)
            }
            None => None,
        };
        let host: Host = name.parse()?;
        if host.is_wildcard() {
            return Err(OriginError::Wildcard);
        }
        let usual = if https { 443 } else { 80 };
        Ok(Self { https, host: host.name().to_owned(), port: port.filter(|port| *port != usual) })
    }
}

impl FromStr for Origin {
    type Err = OriginError;

    fn from_str(text: &str) -> Result<Self, OriginError> {
        let parts = UrlParts::split(text).filter(|parts| parts.origin == text);
        let parts = parts.ok_or(OriginError::Form)?;
        let https = text.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
        Self::new(https, parts.authority)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.https { "https" } else { "http" }, self.host)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl TryFrom<String> for Origin {
    type Error = OriginError;

    fn try_from(text: String) -> Result<Self, OriginError> {
        text.parse()
    }
}

impl From<Origin> for String {
    fn from(origin: Origin) -> Self {
        origin.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_written_as_browsers_write_it() {
        for (text, written) in [
            ("https://shop.example", "https://shop.example"),
            ("HTTPS://Shop.Example:8443", "https://shop.example:8443"),
            ("https://shop.example:443", "https://shop.example"),
            ("http://shop.example:443", "http://shop.example:443"),
            ("http://[::1]:80", "http://[::1]"),
        ] {
            assert_eq!(text.parse::<Origin>().map(String::from).as_deref(), Ok(written));
        }
    }

    #[test]
    fn what_is_no_origin_is_refused_with_the_reason() {
        let form = Err(OriginError::Form);
        for text in
            ["", "null", "*", "shop.example", "https://shop.example/", "ftp://a", "https://a:0"]
        {
            assert_eq!(text.parse::<Origin>(), form, "{text}");
        }
        assert_eq!("https://*.a.example".parse::<Origin>(), Err(OriginError::Wildcard));
        assert_eq!("https://".parse::<Origin>(), Err(HostError::Empty.into()));
        assert!("https://me@a".parse::<Origin>().is_err());
    }

    #[test]
    fn a_host_header_names_the_origin_whatever_its_case_and_port() {
        let origin: Origin = "https://shop.example".parse().unwrap();
        assert!(origin.is_at("Shop.example") && origin.is_at("shop.example:443"));
        assert!(!origin.is_at("shop.example:80") && !origin.is_at("x.shop.example"));
        assert!(!origin.is_at(""));
    }
}
