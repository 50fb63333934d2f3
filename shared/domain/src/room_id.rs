//! The identifier of a room. Its settings are in [`crate::settings`].

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

/// A room's identifier: 1 to 64 characters of `A-Z a-z 0-9 _ -`.
///
/// The narrow alphabet needs no quoting in a Redis hash tag, a cookie name, a path or an `aud`
/// claim. Cloning is cheap, because every answer contains the room.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RoomId(Arc<str>);

/// Why a text is not a room id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RoomIdError {
    /// Empty, or over 64 characters.
    #[error("a room id has 1 to 64 characters, this one has {0}")]
    Length(usize),
    /// A character outside the alphabet.
    #[error("a room id has only letters, digits, `_` and `-`, not {0:?}")]
    Character(char),
}

// === impl RoomId ===

impl RoomId {
    /// The longest room id, in characters.
    pub const MAX_LENGTH: usize = 64;

    /// Checks `text` and makes it a room id.
    ///
    /// # Errors
    /// When its length or a character is not allowed.
    pub fn new(text: impl Into<String>) -> Result<Self, RoomIdError> {
        let text = text.into();
        Self::check(&text)?;
        Ok(Self(text.into()))
    }

    /// Whether `text` is a room id, without making one.
    ///
    /// # Errors
    /// When its length or a character is not allowed.
    pub fn check(text: &str) -> Result<(), RoomIdError> {
        let length = text.chars().count();
        if length == 0 || length > Self::MAX_LENGTH {
            return Err(RoomIdError::Length(length));
        }
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        match text.chars().find(|c| !allowed(*c)) {
            Some(wrong) => Err(RoomIdError::Character(wrong)),
            None => Ok(()),
        }
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for RoomId {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        name_schema("A room's name", "on-sale")
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for RoomId {}

/// The schema of a name in this alphabet, for the API document.
#[cfg(feature = "openapi")]
pub(crate) fn name_schema(
    description: &str,
    example: &str,
) -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
    let schema = utoipa::openapi::ObjectBuilder::new()
        .schema_type(utoipa::openapi::schema::Type::String)
        .description(Some(description))
        .pattern(Some("^[A-Za-z0-9_-]{1,64}$"))
        .examples([example]);
    schema.into()
}

impl std::borrow::Borrow<str> for RoomId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RoomId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RoomId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl FromStr for RoomId {
    type Err = RoomIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(text)
    }
}

impl TryFrom<String> for RoomId {
    type Error = RoomIdError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(text)
    }
}

impl From<RoomId> for String {
    fn from(room: RoomId) -> Self {
        room.0.as_ref().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_alphabet_and_refuses_the_rest() {
        for good in ["a", "Sample", "on-sale_2026", &"x".repeat(64)] {
            assert_eq!(RoomId::new(good).map(String::from).as_deref(), Ok(good));
        }
        assert_eq!(RoomId::new(""), Err(RoomIdError::Length(0)));
        assert_eq!(RoomId::new("x".repeat(65)), Err(RoomIdError::Length(65)));
        for (bad, character) in [("a b", ' '), ("a{b}", '{'), ("ä", 'ä'), ("a/b", '/')] {
            assert_eq!(RoomId::new(bad), Err(RoomIdError::Character(character)));
        }
    }
}
