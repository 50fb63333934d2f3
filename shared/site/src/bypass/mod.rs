//! Bypass rules: which covered requests pass without waiting and without being counted. Where a
//! visitor chooses what is tested (a header, a cookie, the query), a rule lets in everyone who
//! knows the value.

mod condition;
mod errors;
mod network;
mod text;

use serde::{Deserialize, Serialize};

pub use self::{
    condition::{ClientTest, Condition, NamedTest},
    network::Network,
    text::TextTest,
};
use super::{Request, SiteBinding};

/// Requests that pass uncounted although the room covers them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct BypassRule {
    /// For people.
    #[cfg_attr(feature = "openapi", schema(example = "static files"))]
    pub name: String,
    /// Whether it is looked at; one that is not is kept for later.
    #[serde(default = "enabled")]
    #[cfg_attr(feature = "openapi", schema(default = true))]
    pub enabled: bool,
    /// What it asks of a request.
    pub when: Condition,
}

/// The result of one rule for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict<'a> {
    /// The index of the rule in the list, from 0.
    pub index: usize,
    /// The rule.
    pub rule: &'a BypassRule,
    /// Whether it matches, enabled or not.
    pub matched: bool,
}

// === impl SiteBinding ===

impl SiteBinding {
    /// The first enabled rule that matches, with its index in the list, from 0.
    #[must_use]
    pub fn bypassed_by(&self, request: &Request<'_>) -> Option<(usize, &BypassRule)> {
        let rules = self.bypass_rules.iter().enumerate();
        rules.filter(|(_, rule)| rule.enabled).find(|(_, rule)| self.matches(rule, request))
    }

    /// The results of all rules, enabled or not, in their order.
    #[must_use]
    pub fn verdicts(&self, request: &Request<'_>) -> Vec<Verdict<'_>> {
        let verdict = |(index, rule)| Verdict { index, rule, matched: self.matches(rule, request) };
        self.bypass_rules.iter().enumerate().map(verdict).collect()
    }

    /// Whether the rule matches with every reading of the path. The site may read the path
    /// differently than the gateway; if the readings disagree, the request is held, which is the
    /// safe side. So is one whose path goes back (`..`), which no browser sends: there are more ways of reading it than
    /// are known.
    fn matches(&self, rule: &BypassRule, request: &Request<'_>) -> bool {
        let country = self.country_header.as_deref();
        !request.path.goes_back()
            && request.path.readings().all(|path| rule.when.holds(request, path, country))
    }
}

fn enabled() -> bool {
    true
}

#[cfg(test)]
mod tests;
