//! Mustache templates of operators, for pages made for Cloudflare's waiting rooms.
//!
//! Supports Mustache for plain values: variables (`{{x}}` escaped, `{{{x}}}` and `{{&x}}`
//! unescaped), sections, inverted sections, comments, other delimiters, and standalone tags. There
//! are no partials, which would read files, and no lambdas, which would run code. A template is not
//! trusted: parsing takes one pass, depth and output are bounded, and errors name the line. No
//! library does this and also reports which variables a template names, and where.

mod parse;
mod render;

use std::fmt;

pub(crate) use self::parse::Template;

/// The deepest nesting of sections.
pub(crate) const MAX_DEPTH: usize = 32;
/// The longest rendered page, in bytes.
pub(crate) const MAX_OUTPUT: usize = 4 << 20;

/// What is wrong with a template, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct TemplateProblem {
    /// The line, from 1 on.
    pub line: usize,
    /// What is wrong, and how to correct it.
    pub reason: String,
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    /// Text as it is.
    Text(String),
    /// The value of a variable.
    Variable { name: String, line: usize, is_escaped: bool },
    /// Nodes that are shown if a variable is set, or, inverted, if it is not.
    Section { name: String, line: usize, is_inverted: bool, nodes: Vec<Node> },
}

// === impl TemplateProblem ===

impl TemplateProblem {
    pub(crate) fn new(line: usize, reason: impl Into<String>) -> Self {
        Self { line, reason: reason.into() }
    }
}

impl fmt::Display for TemplateProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

#[cfg(test)]
mod tests;
