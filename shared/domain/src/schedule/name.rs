//! The name of an event. Unique within its room, and part of its address.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// An event's name: 1 to 64 characters of `A-Z a-z 0-9 _ -`, as in room ids.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EventName(String);

/// Why a text is not an event name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EventNameError {
    /// Empty, or over 64 characters.
    #[error("an event's name has 1 to 64 characters, this one has {0}")]
    Length(usize),
    /// A character outside the alphabet.
    #[error("an event's name has only letters, digits, `_` and `-`, not {0:?}")]
    Character(char),
}

// === impl EventName ===

impl EventName {
    /// The longest name, in characters.
    pub const MAX_LENGTH: usize = 64;

    /// Checks `text` and makes it a name.
    ///
    /// # Errors
    /// When its length or a character is not allowed.
    pub fn new(text: impl Into<String>) -> Result<Self, EventNameError> {
        let text = text.into();
        let length = text.chars().count();
        if length == 0 || length > Self::MAX_LENGTH {
            return Err(EventNameError::Length(length));
        }
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        match text.chars().find(|c| !allowed(*c)) {
            Some(wrong) => Err(EventNameError::Character(wrong)),
            None => Ok(Self(text)),
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for EventName {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        crate::room_id::name_schema("An event's name", "album-release")
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for EventName {}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for EventName {
    type Err = EventNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(text)
    }
}

impl TryFrom<String> for EventName {
    type Error = EventNameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(text)
    }
}

impl From<EventName> for String {
    fn from(name: EventName) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_alphabet_and_refuses_the_rest() {
        for good in ["a", "on-sale_2026", &"x".repeat(64)] {
            assert_eq!(EventName::new(good).map(String::from).as_deref(), Ok(good));
        }
        assert_eq!(EventName::new(""), Err(EventNameError::Length(0)));
        assert_eq!(EventName::new("x".repeat(65)), Err(EventNameError::Length(65)));
        for (bad, character) in [("a b", ' '), ("a/b", '/'), ("ä", 'ä')] {
            assert_eq!(EventName::new(bad), Err(EventNameError::Character(character)));
        }
    }
}
