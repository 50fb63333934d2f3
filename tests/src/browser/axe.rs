//! axe-core, which finds what keeps people with disabilities from using a page.

use std::fmt;

use anyhow::{Result, ensure};
use serde::Deserialize;

use super::{Chromium, found};

const RUN: &str = "axe.run(document, { resultTypes: ['violations'], runOnly: { type: 'tag', values: \
    ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] } })\
    .then(({ violations, passes }) => ({ passed: passes.length, found: violations.map(\
    ({ id, help, nodes }) => ({ id, help, elements: nodes.map(node => node.html) })) }))";

/// What is wrong with a page.
#[derive(Debug, Deserialize)]
pub struct Violations {
    passed: u32,
    found: Vec<Violation>,
}

#[derive(Debug, Deserialize)]
struct Violation {
    id: String,
    help: String,
    elements: Vec<String>,
}

// === impl Chromium ===

impl Chromium {
    /// What is wrong with the page in front, by WCAG 2.2 A and AA and by best practice.
    pub async fn violations(&self) -> Result<Violations> {
        if self.eval("typeof axe").await? != "object" {
            self.eval(&found::axe()?).await?;
        }
        Ok(serde_json::from_value(self.eval(RUN).await?)?)
    }
}

// === impl Violations ===

impl Violations {
    /// Fails if there are any, or if nothing was looked at.
    pub fn expect_none(&self) -> Result<()> {
        ensure!(self.passed > 10, "only {} rules were looked at", self.passed);
        ensure!(self.found.is_empty(), "{self}");
        Ok(())
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.found.iter().try_for_each(|Violation { id, help, elements }| {
            writeln!(formatter, "{id}: {help}: {elements:#?}")
        })
    }
}
