//! The conditions of a bypass rule: tests of parts of a request, combined by all, any and not.

use std::cell::OnceCell;

use serde::{Deserialize, Serialize};

use super::{
    Network, TextTest,
    text::{NotOne, one_of},
};
use crate::{
    Request,
    spelling::{forms, in_one_case, is_passed_over},
};

/// What is asked of a request: exactly one of these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", try_from = "Fields")]
pub enum Condition {
    /// Each of these holds.
    #[cfg_attr(feature = "openapi", schema(no_recursion))]
    All(Vec<Condition>),
    /// At least one of these holds.
    #[cfg_attr(feature = "openapi", schema(no_recursion))]
    Any(Vec<Condition>),
    /// This does not hold.
    #[cfg_attr(feature = "openapi", schema(no_recursion))]
    Not(Box<Condition>),
    /// The path, decoded; it must hold however servers may read the path.
    Path(TextTest),
    /// The method, in capitals.
    Method(TextTest),
    /// A parameter of the query, decoded; any of several values may match.
    Query(NamedTest),
    /// A header; the case of its name does not matter, and any of several values may match.
    Header(NamedTest),
    /// A cookie, as it was sent.
    Cookie(NamedTest),
    /// The visitor's address.
    Client(ClientTest),
    /// What the header named by `country_header` tells; the case of its letters does not matter.
    Country(TextTest),
}

/// What is asked of something that has a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(try_from = "NamedFields")]
pub struct NamedTest {
    /// Its name.
    pub name: String,
    /// What is asked of its value.
    #[serde(flatten)]
    pub test: TextTest,
}

/// Addresses and networks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ClientTest {
    /// The address is in one of these.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>, example = json!(["10.0.0.0/8", "2001:db8::/32"])))]
    pub r#in: Vec<Network>,
}

/// A condition in JSON, with every field optional, so that the error can name what is missing.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Fields {
    all: Option<Vec<Condition>>,
    any: Option<Vec<Condition>>,
    not: Option<Box<Condition>>,
    path: Option<TextTest>,
    method: Option<TextTest>,
    query: Option<NamedTest>,
    header: Option<NamedTest>,
    cookie: Option<NamedTest>,
    client: Option<ClientTest>,
    country: Option<TextTest>,
}

/// A reading of the path, and its forms, made when they are first needed.
#[derive(Debug)]
struct Reading<'a> {
    path: &'a str,
    forms: OnceCell<[String; 4]>,
}

/// Not exactly one condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "needs exactly one of `all`, `any`, `not`, `path`, `method`, `query`, `header`, `cookie`, \
     `client`, `country`, and has {0}"
)]
struct NotOneCondition(usize);

/// A [`NamedTest`] in JSON. Every field is listed, so that unknown ones are refused.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedFields {
    name: String,
    is: Option<String>,
    r#in: Option<Vec<String>>,
    starts_with: Option<String>,
    ends_with: Option<String>,
    contains: Option<String>,
    present: Option<bool>,
}

// === impl Condition ===

impl Condition {
    /// Whether it holds for `request` when its path is read as `path`. `country` is the name of the
    /// header that contains the country.
    pub(super) fn holds(&self, request: &Request<'_>, path: &str, country: Option<&str>) -> bool {
        self.holds_as(false, request, &Reading { path, forms: OnceCell::new() }, country)
    }

    /// As [`Self::holds`]; `loosely` also where some server may take the path for one for which it holds, and where
    /// nobody knows whether it does. What a path must not be it must not be in any spelling.
    fn holds_as(
        &self,
        loosely: bool,
        request: &Request<'_>,
        path: &Reading<'_>,
        country: Option<&str>,
    ) -> bool {
        let holds = |part: &Self| part.holds_as(loosely, request, path, country);
        match self {
            Self::All(parts) => parts.iter().all(holds),
            Self::Any(parts) => parts.iter().any(holds),
            Self::Not(part) => !part.holds_as(!loosely, request, path, country),
            Self::Path(test) if loosely => test.folded(in_one_case).holds(path.forms()),
            Self::Path(test) => test.holds(&[path.path]) && !path.ends_elsewhere(test),
            Self::Method(test) => test.holds(&[request.method]),
            Self::Query(test) => test.test.holds(&request.query_values(&test.name)),
            Self::Header(test) => test.test.holds(&request.headers.values(&test.name)),
            Self::Cookie(test) => test.test.holds(&request.cookie_values(&test.name)),
            Self::Client(test) => test.has(request).unwrap_or(loosely),
            Self::Country(test) => in_country(test, request, country).unwrap_or(loosely),
        }
    }
}

// === impl Reading ===

impl Reading<'_> {
    /// Whether a test of what is at the end of the path, or somewhere in it, may have found it in what no server looks at:
    /// behind a script, which is given the rest (`/buy.php/x.css`), or behind the end of a name.
    fn ends_elsewhere(&self, test: &TextTest) -> bool {
        if !matches!(test, TextTest::EndsWith(_) | TextTest::Contains(_)) {
            return false;
        }
        let (before, last) = self.path.rsplit_once('/').unwrap_or(("", self.path));
        before.split('/').any(is_passed_over) || last.contains(|c: char| c.is_control() || c == ':')
    }

    fn forms(&self) -> &[String] {
        self.forms.get_or_init(|| forms(self.path))
    }
}

/// Whether the visitor's country is such a one. `None`: the header tells several, and nobody knows which of them the
/// gateway has put there and which the visitor.
fn in_country(test: &TextTest, request: &Request<'_>, header: Option<&str>) -> Option<bool> {
    let countries = header.map(|name| request.headers.values(name)).unwrap_or_default();
    if countries.len() > 1 || countries.iter().any(|country| country.contains(',')) {
        return None;
    }
    let countries: Vec<_> = countries.iter().map(|country| country.to_ascii_uppercase()).collect();
    Some(test.folded(|text| text.to_ascii_uppercase().into()).holds(&countries))
}

impl TryFrom<Fields> for Condition {
    type Error = NotOneCondition;

    fn try_from(fields: Fields) -> Result<Self, NotOneCondition> {
        let given = [
            fields.all.map(Self::All),
            fields.any.map(Self::Any),
            fields.not.map(Self::Not),
            fields.path.map(Self::Path),
            fields.method.map(Self::Method),
            fields.query.map(Self::Query),
            fields.header.map(Self::Header),
            fields.cookie.map(Self::Cookie),
            fields.client.map(Self::Client),
            fields.country.map(Self::Country),
        ];
        one_of(given).map_err(NotOneCondition)
    }
}

// === impl NamedTest ===

impl TryFrom<NamedFields> for NamedTest {
    type Error = NotOne;

    fn try_from(fields: NamedFields) -> Result<Self, NotOne> {
        let given = [
            fields.is.map(TextTest::Is),
            fields.r#in.map(TextTest::In),
            fields.starts_with.map(TextTest::StartsWith),
            fields.ends_with.map(TextTest::EndsWith),
            fields.contains.map(TextTest::Contains),
            fields.present.map(TextTest::Present),
        ];
        Ok(Self { name: fields.name, test: one_of(given).map_err(NotOne)? })
    }
}

// === impl ClientTest ===

impl ClientTest {
    /// Whether the visitor's address is one of these; `None`: it is not known.
    fn has(&self, request: &Request<'_>) -> Option<bool> {
        let has = || self.r#in.iter().any(|network| network.contains(request.client));
        (!request.client.is_unspecified()).then(has)
    }
}
