//! The validation of bypass rules, field by field.

use super::{BypassRule, ClientTest, Condition, NamedTest, TextTest};
use crate::{
    FieldError, SiteBinding,
    errors::{MAX_RULES, MAX_TEXT, error, is_token},
};

/// The most conditions of a room, all rules together.
const MAX_CONDITIONS: usize = 1_000;
/// How deep conditions may be nested.
const MAX_DEPTH: usize = 8;
/// The longest list to compare with.
const MAX_LIST: usize = 1_000;

// === impl SiteBinding ===

impl SiteBinding {
    /// All errors in the bypass rules.
    pub(crate) fn rule_errors(&self) -> Vec<FieldError> {
        let rules = &self.bypass_rules;
        if rules.len() > MAX_RULES {
            return vec![error("bypass_rules", format!("must be at most {MAX_RULES}"))];
        }
        if rules.iter().map(|rule| rule.when.count()).sum::<usize>() > MAX_CONDITIONS {
            let reason = format!("must have at most {MAX_CONDITIONS} conditions in all");
            return vec![error("bypass_rules", reason)];
        }
        let mut check = Check { knows_country: self.country_header.is_some(), errors: Vec::new() };
        for (index, rule) in rules.iter().enumerate() {
            check.rule(&format!("bypass_rules[{index}]"), rule);
        }
        check.errors
    }
}

// === impl Condition ===

impl Condition {
    /// The number of conditions in it, itself included.
    fn count(&self) -> usize {
        match self {
            Self::All(parts) | Self::Any(parts) => 1 + parts.iter().map(Self::count).sum::<usize>(),
            Self::Not(part) => 1 + part.count(),
            _ => 1,
        }
    }
}

/// Walks through conditions and collects errors with the path of their field.
#[derive(Debug)]
struct Check {
    knows_country: bool,
    errors: Vec<FieldError>,
}

// === impl Check ===

impl Check {
    fn rule(&mut self, at: &str, rule: &BypassRule) {
        let named = (1..=MAX_TEXT).contains(&rule.name.len());
        let plain = !rule.name.contains(char::is_control);
        let reason = "must be 1 to 1,024 bytes without control characters";
        self.require(named && plain, || format!("{at}.name"), reason);
        self.condition(&format!("{at}.when"), &rule.when, 1);
    }

    fn condition(&mut self, at: &str, condition: &Condition, depth: usize) {
        if depth > MAX_DEPTH {
            let reason = format!("must not be more than {MAX_DEPTH} conditions deep");
            self.errors.push(error(at.to_owned(), reason));
            return;
        }
        match condition {
            Condition::All(parts) => self.parts(&format!("{at}.all"), parts, depth),
            Condition::Any(parts) => self.parts(&format!("{at}.any"), parts, depth),
            Condition::Not(part) => self.condition(&format!("{at}.not"), part, depth + 1),
            Condition::Path(test) => self.always_there(&format!("{at}.path"), test),
            Condition::Method(test) => self.always_there(&format!("{at}.method"), test),
            Condition::Query(test) => self.query(&format!("{at}.query"), test),
            Condition::Header(test) => self.token(&format!("{at}.header"), test),
            Condition::Cookie(test) => self.token(&format!("{at}.cookie"), test),
            Condition::Client(test) => self.client(&format!("{at}.client"), test),
            Condition::Country(test) => self.country(&format!("{at}.country"), test),
        }
    }

    fn parts(&mut self, at: &str, parts: &[Condition], depth: usize) {
        self.require(!parts.is_empty(), || at.into(), "must have at least one condition");
        for (index, part) in parts.iter().enumerate() {
            self.condition(&format!("{at}[{index}]"), part, depth + 1);
        }
    }

    /// Tests a part that every request has.
    fn always_there(&mut self, at: &str, test: &TextTest) {
        let asks = matches!(test, TextTest::Present(_));
        let reason = "says nothing here: every request has one";
        self.require(!asks, || format!("{at}.present"), reason);
        self.text(at, test);
    }

    fn query(&mut self, at: &str, test: &NamedTest) {
        let named = (1..=MAX_TEXT).contains(&test.name.len());
        self.require(named, || format!("{at}.name"), "must be 1 to 1,024 bytes");
        self.text(at, &test.test);
    }

    fn token(&mut self, at: &str, test: &NamedTest) {
        let reason = "must be letters, digits and marks that such a name can have, without spaces";
        self.require(is_token(&test.name), || format!("{at}.name"), reason);
        self.text(at, &test.test);
    }

    fn client(&mut self, at: &str, test: &ClientTest) {
        self.list(at, test.r#in.len());
    }

    fn country(&mut self, at: &str, test: &TextTest) {
        let reason = "needs a country_header: nothing else tells the country";
        self.require(self.knows_country, || at.into(), reason);
        self.text(at, test);
    }

    fn text(&mut self, at: &str, test: &TextTest) {
        if let TextTest::In(texts) = test {
            self.list(at, texts.len());
        }
        let is_part = !matches!(test, TextTest::Is(_) | TextTest::In(_));
        let shortest = usize::from(is_part);
        for (index, text) in test.texts().iter().enumerate() {
            let place = match test {
                TextTest::In(_) => format!("{at}.in[{index}]"),
                _ => format!("{at}.{}", test.name()),
            };
            let well = (shortest..=MAX_TEXT).contains(&text.len());
            let reason =
                if is_part { "must be 1 to 1,024 bytes" } else { "must be at most 1,024 bytes" };
            self.require(well, || place, reason);
        }
    }

    fn list(&mut self, at: &str, length: usize) {
        let well = (1..=MAX_LIST).contains(&length);
        self.require(well, || format!("{at}.in"), "must have 1 to 1,000 entries");
    }

    fn require(&mut self, well: bool, field: impl FnOnce() -> String, reason: &'static str) {
        if !well {
            self.errors.push(error(field(), reason));
        }
    }
}
