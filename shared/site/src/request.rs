//! A request as bypass rules and coverage need it, independent of how it was received. The caller
//! fills it in.

use std::{fmt, net::IpAddr};

use crate::{RequestPath, cookie_pairs};

/// A request as its gateway describes it.
#[derive(Clone)]
pub struct Request<'a> {
    /// The host it is for; case, port and a dot at the end do not matter.
    pub host: &'a str,
    /// The path.
    pub path: RequestPath,
    /// The query, encoded, without its `?`; empty: none.
    pub query: &'a str,
    /// The method.
    pub method: &'a str,
    /// The visitor's address; unspecified (`::`): it is not known.
    pub client: IpAddr,
    /// The headers, cookies among them.
    pub headers: &'a dyn Headers,
}

/// The headers of a request.
pub trait Headers {
    /// All values of the header of this name, compared without regard to case. A value that is not
    /// UTF-8 counts as an empty text.
    fn values(&self, name: &str) -> Vec<&str>;
}

// === impl Request ===

impl Request<'_> {
    /// The values of the query parameter of this name, decoded as form data.
    #[must_use]
    pub fn query_values(&self, name: &str) -> Vec<String> {
        let pairs = form_urlencoded::parse(self.query.as_bytes());
        pairs.filter(|(key, _)| key == name).map(|(_, value)| value.into_owned()).collect()
    }

    /// The values of the cookie of this name, as they were sent.
    #[must_use]
    pub fn cookie_values(&self, name: &str) -> Vec<&str> {
        let pairs = cookie_pairs(self.headers.values("cookie").into_iter());
        pairs.filter(|(key, _)| *key == name).map(|(_, value)| value).collect()
    }
}

impl fmt::Debug for Request<'_> {
    /// Without headers and query, which may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("host", &self.host)
            .field("path", &self.path)
            .field("method", &self.method)
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}
