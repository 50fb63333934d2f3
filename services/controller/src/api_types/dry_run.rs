//! A request that an operator makes up, and what would become of it. Nobody enters or waits.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr},
};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use vestibule_domain::{FieldError, RoomId};
use vestibule_runtime::{Problem, ProblemType};
use vestibule_site::{
    BypassRule, Coverage, Headers, Host, Request, RequestPath, Route, SiteBinding, UrlParts,
    Verdict, is_token,
};

use super::refuse;

/// A request to be looked at.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DryRunRequest {
    /// Its whole address, as a browser would send it: nothing is decoded or tidied up before the
    /// rules see it.
    #[schema(example = "https://shop.example/sale?x=1")]
    url: String,
    /// Its method.
    #[serde(default = "get")]
    #[schema(default = "GET")]
    method: String,
    /// Its headers by name, cookies among them.
    #[serde(default)]
    #[schema(example = json!({"Cookie": "a=1"}))]
    headers: BTreeMap<String, String>,
    /// The visitor's address; left out: 0.0.0.0.
    #[schema(value_type = Option<String>, example = "203.0.113.9")]
    client: Option<IpAddr>,
}

/// What would become of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Match {
    /// The room that covers it; null: none does, and it passes.
    #[schema(value_type = Option<String>)]
    room: Option<RoomId>,
    /// By which of its routes.
    route: Option<Route>,
    /// The rule by which it passes all the same; null: it needs a session.
    bypassed_by: Option<MatchedRule>,
    /// What each of the room's rules says, in their order.
    rules: Vec<RuleVerdict>,
}

/// The rule that lets a request pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct MatchedRule {
    /// Where it stands in the list, from 0.
    index: usize,
    /// Its name.
    name: String,
}

/// What one rule says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RuleVerdict {
    /// Where it stands in the list, from 0.
    index: usize,
    /// Its name.
    name: String,
    /// Whether it counts.
    enabled: bool,
    /// Whether it matches, be it enabled or not.
    matched: bool,
}

// === impl DryRunRequest ===

impl DryRunRequest {
    /// What would become of it among these rooms.
    ///
    /// # Errors
    /// A 400 that names each wrong field and the reason.
    pub fn look_at(&self, rooms: &[(RoomId, SiteBinding)]) -> Result<Match, Problem> {
        let request = self.request(self.checked()?);
        let coverage = Coverage::new(rooms.iter().map(|(room, binding)| (room, binding)));
        let covering = coverage.covering(request.host, &request.path);
        let covering = covering.map_err(|error| {
            Problem::new(ProblemType::InvalidRequest)
                .detail("such a request is refused")
                .field("url", error.to_string())
        })?;
        let Some((room, route)) = covering else {
            return Ok(Match { room: None, route: None, bypassed_by: None, rules: Vec::new() });
        };
        let binding = rooms.iter().find(|(name, _)| name == room).map(|(_, binding)| binding);
        let bypassed_by = binding.and_then(|binding| binding.bypassed_by(&request));
        let verdicts = binding.map(|binding| binding.verdicts(&request)).unwrap_or_default();
        Ok(Match {
            room: Some(room.clone()),
            route: Some(route.clone()),
            bypassed_by: bypassed_by.map(MatchedRule::from),
            rules: verdicts.into_iter().map(RuleVerdict::from).collect(),
        })
    }

    /// The parts of its address, and the path, if all of it is well.
    fn checked(&self) -> Result<(UrlParts<'_>, RequestPath), Problem> {
        let error = |field: String, reason: String| FieldError { field: field.into(), reason };
        let mut errors = Vec::new();
        let wrong_url = |reason| errors.push(error("url".into(), reason));
        let address = split(&self.url).map_err(wrong_url).ok();
        if !is_token(&self.method) {
            errors.push(error("method".into(), "must be a method such as GET".into()));
        }
        errors.extend(self.headers.iter().filter_map(|(name, value)| {
            let reason = wrong_header(name, value)?;
            Some(error(format!("headers.{name}"), reason.into()))
        }));
        let problem = || {
            Problem::new(ProblemType::InvalidRequest)
                .detail("this is not a request that a gateway would pass on")
        };
        refuse(problem(), errors)?;
        address.ok_or_else(problem)
    }

    fn request<'a>(&'a self, (address, path): (UrlParts<'a>, RequestPath)) -> Request<'a> {
        Request {
            host: address.authority,
            path,
            query: address.query,
            method: &self.method,
            client: self.client.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
            headers: self,
        }
    }
}

impl Headers for DryRunRequest {
    fn values(&self, name: &str) -> Vec<&str> {
        let named = self.headers.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str()).collect()
    }
}

fn get() -> String {
    "GET".into()
}

/// The parts of `url`, as they are written, and its path.
fn split(url: &str) -> Result<(UrlParts<'_>, RequestPath), String> {
    let whole = || "must be a whole address: https://shop.example/sale".to_owned();
    let parts = UrlParts::split(url).ok_or_else(whole)?;
    let name: Result<Host, _> = Host::from_request(parts.authority).parse();
    match name {
        Err(error) => Err(format!("names no host: a host {error}")),
        Ok(name) if name.is_wildcard() => Err("must name one host".into()),
        Ok(_) => {
            let path = RequestPath::parse(if parts.path.is_empty() { "/" } else { parts.path });
            let path = path.map_err(|error| format!("has a path that {error}"))?;
            Ok((parts, path))
        }
    }
}

fn wrong_header(name: &str, value: &str) -> Option<&'static str> {
    if !is_token(name) {
        Some("is not the name of a header")
    } else if value.contains(|c: char| c.is_control() && c != '\t') {
        Some("must not have control characters")
    } else {
        None
    }
}

// === impl MatchedRule ===

impl From<(usize, &BypassRule)> for MatchedRule {
    fn from((index, rule): (usize, &BypassRule)) -> Self {
        Self { index, name: rule.name.clone() }
    }
}

// === impl RuleVerdict ===

impl From<Verdict<'_>> for RuleVerdict {
    fn from(Verdict { index, rule, matched }: Verdict<'_>) -> Self {
        Self { index, name: rule.name.clone(), enabled: rule.enabled, matched }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(json: &str) -> Vec<String> {
        let request: DryRunRequest = serde_json::from_str(json).unwrap();
        let problem = request.look_at(&[]).unwrap_err();
        problem.errors().iter().map(|error| error.field.to_string()).collect()
    }

    #[test]
    fn an_address_is_taken_apart_as_it_is_written() {
        let cases = [
            ("https://shop.example/sale?x=1", "shop.example", "/sale", "x=1"),
            ("HTTP://Shop.Example:8080", "Shop.Example:8080", "/", ""),
            ("https://shop.example?x=/y", "shop.example", "/", "x=/y"),
            ("https://shop.example/a/..%2fb//c#d?e", "shop.example", "/a/..%2fb//c", ""),
            ("https://shop.example/?a?b", "shop.example", "/", "a?b"),
            ("https://[::1]:8080/x", "[::1]:8080", "/x", ""),
        ];
        for (url, host, path, query) in cases {
            let json = serde_json::json!({ "url": url });
            let given: DryRunRequest = serde_json::from_value(json).unwrap();
            let request = given.request(given.checked().unwrap());
            let read = (request.host, request.path.raw(), request.query);
            assert_eq!(read, (host, path, query), "{url}");
        }
    }

    #[test]
    fn the_wrong_field_is_named() {
        let long = format!("https://shop.example/{}", "x".repeat(RequestPath::MAX_LENGTH));
        let urls = [
            "",
            "/sale",
            "shop.example/sale",
            "ftp://shop.example/",
            "https:///sale",
            "https://user@shop.example/",
            "https://*.shop.example/",
            "https://shop example/",
            "https://shop.example:http/",
            &long,
        ];
        for url in urls {
            assert_eq!(wrong(&format!(r#"{{"url":"{url}"}}"#)), ["url"], "{url}");
        }
        let url = r#""url":"https://shop.example/""#;
        assert_eq!(wrong(&format!(r#"{{{url},"method":"A B"}}"#)), ["method"]);
        assert_eq!(wrong(&format!(r#"{{{url},"headers":{{"a b":""}}}}"#)), ["headers.a b"]);
        assert_eq!(wrong(&format!(r#"{{{url},"headers":{{"a":"b\nc"}}}}"#)), ["headers.a"]);
    }
}
