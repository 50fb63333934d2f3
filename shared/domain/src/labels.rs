//! Labels of rooms: short texts by which operators tell rooms apart, such as `managed-by: git`, and what picks rooms
//! by them. No rule decides by them, and no script reads them.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize};

use crate::FieldError;

/// The most labels of a room.
pub const MAX_LABELS: usize = 32;
/// The longest name and the longest value, in characters.
const LONGEST: usize = 63;
const FORM: &str = "letters, digits, `.`, `_`, `-` and, in a name, `/`, and begin and end with a letter or a digit";

/// The labels of a room: values by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Labels(BTreeMap<String, String>);

/// Picks rooms by their labels: `managed-by=git,stage=live` are those that have both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelSelector(BTreeMap<String, String>);

/// The text picks nothing that could be a label.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LabelSelectorError {
    /// A part is not a name and a value.
    #[error("must be labels such as `managed-by=git`, separated by commas, and has `{0}`")]
    NotALabel(String),
    /// A name that is there twice, or no label's.
    #[error("`{name}` {reason}")]
    Wrong {
        /// The name.
        name: String,
        /// Why not.
        reason: String,
    },
}

// === impl Labels ===

impl Labels {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Everything that is out of bounds; empty when all is well.
    pub(crate) fn errors(&self) -> impl Iterator<Item = FieldError> {
        let many = (self.0.len() > MAX_LABELS).then(|| FieldError {
            field: "labels".into(),
            reason: format!("must be at most {MAX_LABELS}, and are {}", self.0.len()),
        });
        let wrong = self.0.iter().filter_map(|(name, value)| {
            let reason = wrong(name, value)?;
            Some(FieldError { field: format!("labels.{name}").into(), reason })
        });
        many.into_iter().chain(wrong)
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Labels {
    fn from(labels: [(&str, &str); N]) -> Self {
        Self(labels.map(|(name, value)| (name.to_owned(), value.to_owned())).into())
    }
}

/// A label of null is none: so a merge patch takes it away.
impl<'de> Deserialize<'de> for Labels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let labels = BTreeMap::<String, Option<String>>::deserialize(deserializer)?;
        Ok(Self(labels.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()))
    }
}

// === impl LabelSelector ===

impl LabelSelector {
    /// Whether a room of these labels is picked.
    #[must_use]
    pub fn picks(&self, labels: &Labels) -> bool {
        self.0.iter().all(|(name, value)| labels.0.get(name) == Some(value))
    }
}

impl FromStr for LabelSelector {
    type Err = LabelSelectorError;

    fn from_str(text: &str) -> Result<Self, LabelSelectorError> {
        let mut picked = BTreeMap::new();
        for part in text.split(',') {
            let label = part.split_once('=').ok_or_else(|| part.to_owned());
            let (name, value) = label.map_err(LabelSelectorError::NotALabel)?;
            let (name, value) = (name.trim().to_owned(), value.trim().to_owned());
            if let Some(reason) = wrong(&name, &value) {
                return Err(LabelSelectorError::Wrong { name, reason });
            }
            if picked.insert(name.clone(), value).is_some() {
                let reason = "is there twice".to_owned();
                return Err(LabelSelectorError::Wrong { name, reason });
            }
        }
        Ok(Self(picked))
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.0.iter().enumerate() {
            write!(f, "{}{name}={value}", if index == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// Why this cannot be a label, if it cannot.
fn wrong(name: &str, value: &str) -> Option<String> {
    let is_well = |text: &str, marks: &[u8]| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || marks.contains(&byte);
        let ends = [text.bytes().next(), text.bytes().next_back()];
        text.len() <= LONGEST
            && text.bytes().all(allowed)
            && ends.into_iter().flatten().all(|byte| byte.is_ascii_alphanumeric())
    };
    if name.is_empty() || !is_well(name, b"._-/") {
        return Some(format!("must have a name of 1 to {LONGEST} {FORM}"));
    }
    (!is_well(value, b"._-")).then(|| format!("must have a value of at most {LONGEST} {FORM}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong_fields(labels: &Labels) -> Vec<String> {
        labels.errors().map(|error| error.field.into_owned()).collect()
    }

    #[test]
    fn labels_are_short_and_plain() {
        let sound = [("managed-by", "git"), ("example.com/team", "Box_Office.2"), ("x", "")];
        assert_eq!(wrong_fields(&sound.into()), [""; 0]);
        let long = "x".repeat(64);
        for (name, value) in
            [("", "x"), ("a b", "x"), ("-a", "x"), ("a", "x/y"), ("a", "x-"), (&long, "x")]
        {
            assert_eq!(wrong_fields(&[(name, value)].into()), [format!("labels.{name}")]);
        }
        let many = (0..33).map(|number| (format!("l{number}"), String::new()));
        assert_eq!(wrong_fields(&Labels(many.collect())), ["labels"]);
    }

    #[test]
    fn a_label_of_null_is_none() {
        let labels: Labels = serde_json::from_str(r#"{"a": "1", "b": null}"#).unwrap();
        assert_eq!(labels, [("a", "1")].into());
        assert_eq!(serde_json::to_string(&labels).unwrap(), r#"{"a":"1"}"#);
        assert!(serde_json::from_str::<Labels>(r#"{"a": 1}"#).is_err());
    }

    #[test]
    fn a_selector_picks_who_has_all_of_it() {
        let selector: LabelSelector = "stage=live, managed-by=git".parse().unwrap();
        assert_eq!(selector.to_string(), "managed-by=git,stage=live");
        assert!(selector.picks(&[("managed-by", "git"), ("stage", "live"), ("x", "y")].into()));
        assert!(!selector.picks(&[("managed-by", "git"), ("stage", "test")].into()));
        assert!(!selector.picks(&Labels::default()));
        for text in ["", "managed-by", "=git", "a=b c", "a=b,", "a=b,a=c"] {
            assert!(text.parse::<LabelSelector>().is_err(), "{text}");
        }
    }
}
