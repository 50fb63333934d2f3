//! One route: a host and a path of a site that a room covers.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Host;

/// A host and a path that a room covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// A host without a port, or `*.` and a host for everything below it.
    #[cfg_attr(feature = "openapi", schema(value_type = String, example = "shop.example", max_length = 253))]
    pub host: Host,
    /// A path, not percent-encoded, and everything below it by whole segments. The case of its letters does not
    /// matter, nor do extensions (`/sale.json`), and what servers pass over at the end of a name.
    #[serde(default = "everything")]
    #[cfg_attr(feature = "openapi", schema(default = "/", example = "/sale"))]
    pub path: String,
}

// === impl Route ===

impl Route {
    /// The path without a slash at its end, which has no meaning; `/` becomes empty.
    #[must_use]
    pub fn stem(&self) -> &str {
        self.path.strip_suffix('/').unwrap_or(&self.path)
    }

    /// Of two routes that cover a request, the one of which this is more is preferred: that of the host itself to a wildcard,
    /// the longer wildcard, then the longer path.
    pub(super) fn precedence(&self) -> (bool, usize, usize) {
        (!self.host.is_wildcard(), self.host.name().len(), self.stem().len())
    }

    /// Whether both cover the same host and path.
    #[must_use]
    pub fn is_same_place(&self, other: &Self) -> bool {
        self.host == other.host && self.stem() == other.stem()
    }

    /// The error in the path, if there is one.
    pub(super) fn path_error(&self) -> Option<&'static str> {
        let path = self.path.as_str();
        let segments = || path.split('/').skip(1);
        let is_pattern =
            path.contains(['*', '{', '}']) || segments().any(|part| part.starts_with(':'));
        let empty = self.stem().split('/').skip(1).any(str::is_empty);
        if !path.starts_with('/') {
            Some("must start with /")
        } else if path.contains(['?', '#']) {
            Some("must be a path without a query: bypass rules can look at the query")
        } else if is_pattern {
            // Taken as it is written it would be the path of no request, and so cover nothing.
            Some("must be no pattern, without *, {} and :name: `/sale` covers all below it, too")
        } else if path.contains('%') {
            Some("must be written as it reads, not percent-encoded: `/über`, not `/%C3%BCber`")
        } else if empty || path.contains('\\') || segments().any(|part| matches!(part, "." | ".."))
        {
            Some("must be a plain path, without //, \\ and segments of dots")
        } else if path.contains(|c: char| c.is_control() || c == ';') {
            Some("must not have control characters or ;")
        } else {
            None
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.host, self.path)
    }
}

fn everything() -> String {
    "/".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(host: &str, path: &str) -> Route {
        Route { host: host.parse().unwrap(), path: path.into() }
    }

    #[test]
    fn the_path_is_everything_unless_it_is_said() {
        let read: Route = serde_json::from_str(r#"{"host":"Shop.Example"}"#).unwrap();
        assert_eq!(read, route("shop.example", "/"));
        assert_eq!(read.to_string(), "shop.example/");
    }

    #[test]
    fn a_slash_at_the_end_does_not_matter() {
        assert!(route("a.example", "/sale").is_same_place(&route("a.example", "/sale/")));
        assert!(!route("a.example", "/sale").is_same_place(&route("a.example", "/Sale")));
        assert!(!route("a.example", "/sale").is_same_place(&route("*.a.example", "/sale")));
        assert_eq!(route("a.example", "/").stem(), "");
    }

    #[test]
    fn paths_that_no_request_has_are_refused() {
        for path in ["/", "/sale", "/sale/", "/sale/now", "/über/a b", "/a..b", "/...", "/a:1"] {
            assert_eq!(route("a.example", path).path_error(), None, "{path}");
        }
        let cases = [
            ("", "start with /"),
            ("sale", "start with /"),
            ("/sale?x", "without a query"),
            ("/sale#x", "without a query"),
            ("/%73ale", "percent-encoded"),
            ("//", "plain path"),
            ("/a//b", "plain path"),
            ("/a//", "plain path"),
            ("/a\\b", "plain path"),
            ("/a/../b", "plain path"),
            ("/a/..", "plain path"),
            ("/./a", "plain path"),
            ("/a\0", "control characters"),
            ("/a;b", "control characters"),
            ("/Sale*", "no pattern"),
            ("/sale/**", "no pattern"),
            ("/sale/{id}/x", "no pattern"),
            ("/sale/:id", "no pattern"),
        ];
        for (path, reason) in cases {
            let error = route("a.example", path).path_error();
            assert!(error.is_some_and(|error| error.contains(reason)), "{path}: {error:?}");
        }
    }
}
