//! Tests of a text. Where the text comes from is in [`super::Condition`].

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// What is asked of a text: exactly one of these. Upper and lower case differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", try_from = "Fields")]
pub enum TextTest {
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
    /// It is there at all, also when empty, or not. Not for paths and methods.
    Present(bool),
}

/// A test in JSON, with every field optional, so that the error can name what is missing.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Fields {
    is: Option<String>,
    r#in: Option<Vec<String>>,
    starts_with: Option<String>,
    ends_with: Option<String>,
    contains: Option<String>,
    present: Option<bool>,
}

/// Not exactly one test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "needs exactly one of `is`, `in`, `starts_with`, `ends_with`, `contains`, `present`, and has {0}"
)]
pub(super) struct NotOne(pub(super) usize);

// === impl TextTest ===

impl TextTest {
    /// Whether it holds for at least one of the values; [`Self::Present`] tests whether there are
    /// any values.
    pub(super) fn holds<T: AsRef<str>>(&self, values: &[T]) -> bool {
        match self {
            Self::Present(expected) => *expected != values.is_empty(),
            _ => values.iter().any(|value| self.compares(value.as_ref())),
        }
    }

    /// The texts it compares with.
    pub(super) fn texts(&self) -> &[String] {
        match self {
            Self::Is(text)
            | Self::StartsWith(text)
            | Self::EndsWith(text)
            | Self::Contains(text) => std::slice::from_ref(text),
            Self::In(texts) => texts,
            Self::Present(_) => &[],
        }
    }

    /// The name of the test in JSON.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Is(_) => "is",
            Self::In(_) => "in",
            Self::StartsWith(_) => "starts_with",
            Self::EndsWith(_) => "ends_with",
            Self::Contains(_) => "contains",
            Self::Present(_) => "present",
        }
    }

    /// The same test with its texts in the form that `fold` gives them.
    pub(super) fn folded(&self, fold: impl Fn(&str) -> Cow<'_, str>) -> Self {
        let folded = |text: &String| fold(text).into_owned();
        match self {
            Self::Is(text) => Self::Is(folded(text)),
            Self::In(texts) => Self::In(texts.iter().map(folded).collect()),
            Self::StartsWith(text) => Self::StartsWith(folded(text)),
            Self::EndsWith(text) => Self::EndsWith(folded(text)),
            Self::Contains(text) => Self::Contains(folded(text)),
            Self::Present(expected) => Self::Present(*expected),
        }
    }

    fn compares(&self, value: &str) -> bool {
        match self {
            Self::Is(text) => value == text,
            Self::In(texts) => texts.iter().any(|text| value == text),
            Self::StartsWith(text) => value.starts_with(text.as_str()),
            Self::EndsWith(text) => value.ends_with(text.as_str()),
            Self::Contains(text) => value.contains(text.as_str()),
            Self::Present(expected) => *expected,
        }
    }
}

impl TryFrom<Fields> for TextTest {
    type Error = NotOne;

    fn try_from(fields: Fields) -> Result<Self, NotOne> {
        let given = [
            fields.is.map(Self::Is),
            fields.r#in.map(Self::In),
            fields.starts_with.map(Self::StartsWith),
            fields.ends_with.map(Self::EndsWith),
            fields.contains.map(Self::Contains),
            fields.present.map(Self::Present),
        ];
        one_of(given).map_err(NotOne)
    }
}

/// The only element that is `Some`.
///
/// # Errors
/// The number of elements that are `Some`, if it is not one.
pub(super) fn one_of<T, const N: usize>(given: [Option<T>; N]) -> Result<T, usize> {
    let mut given = given.into_iter().flatten();
    match (given.next(), given.count()) {
        (Some(one), 0) => Ok(one),
        (Some(_), others) => Err(1 + others),
        (None, _) => Err(0),
    }
}
