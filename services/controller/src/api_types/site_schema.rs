//! A room's place in front of a site, for the API's documentation: the same JSON as that of
//! `vestibule_domain::front`, which is what is read and written.
#![expect(dead_code, reason = "only their schemas are used")]

use std::net::IpAddr;

use serde::Serialize;
use utoipa::ToSchema;

/// A host and a path that a room covers.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Route {
    /// A host without a port, or `*.` and a host for everything below it.
    #[schema(example = "shop.example", max_length = 253)]
    host: String,
    /// A path, case-sensitive, and everything below it by whole segments.
    #[schema(default = "/", example = "/sale")]
    path: String,
}

/// Requests that pass uncounted although the room covers them.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct BypassRule {
    /// For people.
    #[schema(example = "static files")]
    name: String,
    /// Whether it is looked at.
    #[schema(default = true)]
    enabled: bool,
    /// What it asks of a request.
    when: Condition,
}

/// What is asked of a request: exactly one of these.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Condition {
    /// Each of these holds.
    #[schema(no_recursion)]
    all: Option<Vec<Condition>>,
    /// At least one of these holds.
    #[schema(no_recursion)]
    any: Option<Vec<Condition>>,
    /// This does not hold.
    #[schema(no_recursion)]
    not: Option<Box<Condition>>,
    /// The path, as it was sent and as a careful server reads it: both.
    path: Option<TextTest>,
    /// The method.
    method: Option<TextTest>,
    /// A parameter of the query; any of several values may match.
    query: Option<NamedTest>,
    /// A header; any of several values may match.
    header: Option<NamedTest>,
    /// A cookie.
    cookie: Option<NamedTest>,
    /// The visitor's address.
    client: Option<Networks>,
    /// What the header named by `country_header` tells.
    country: Option<TextTest>,
}

/// What is asked of a text: exactly one of these.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum TextTest {
    /// It is this.
    Is(String),
    /// It is one of these.
    In(Vec<String>),
    /// It starts with this.
    StartsWith(String),
    /// It ends with this.
    EndsWith(String),
    /// This is in it.
    Contains(String),
    /// It is there at all, or not. Not for paths and methods.
    Present(bool),
}

/// What is asked of something that has a name.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct NamedTest {
    /// Its name.
    name: String,
    /// What is asked of its value.
    #[serde(flatten)]
    test: TextTest,
}

/// Addresses and networks.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Networks {
    /// The address is in one of these.
    #[schema(value_type = Vec<String>, example = json!(["10.0.0.0/8", "2001:db8::/32"]))]
    r#in: Vec<IpAddr>,
}

/// How a browser is asked to keep the ticket: `vestibule_{suffix or room}`, with `__Host-` before it
/// whenever it is Secure; always `HttpOnly`, for the host alone.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CookieAttributes {
    /// `auto`: none if partitioned, else lax. `none` is lax where the cookie is not Secure.
    #[schema(default = "auto")]
    same_site: SameSite,
    /// `auto`: when visitors come over https.
    #[schema(default = "auto")]
    secure: Secure,
    /// For pages that are shown in frames of other sites.
    #[schema(default = false)]
    partitioned: bool,
    /// In the place of the room's name: 1 to 32 of `A-Za-z0-9_-`.
    #[schema(default = json!(null))]
    suffix: Option<String>,
}

/// To which requests a browser adds the cookie.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum SameSite {
    /// As suits the other attributes.
    Auto,
    /// To those of the site itself, and to links to it.
    Lax,
    /// To all, also those of frames.
    None,
    /// To those of the site itself only.
    Strict,
}

/// Whether the cookie travels over https only.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Secure {
    /// When visitors come over https.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What a site may order by a header of its answers.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum OriginCommand {
    /// `Vestibule-Command: revoke` ends the visitor's session.
    Revoke,
}
