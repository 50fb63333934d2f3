//! Which rooms a token is for: names, and patterns such as `sale-*`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::RoomId;

/// A room's name, in which `*` stands for any number of characters, none included.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RoomPattern(String);

/// Why a text is no such pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a room is named by 1 to 64 letters, digits, `_` and `-`, or by a pattern of these with `*`"
)]
pub struct RoomPatternError;

/// The rooms that a token is for; none said: all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RoomScope(Vec<RoomPattern>);

// === impl RoomScope ===

impl From<&RoomId> for RoomScope {
    /// That room alone.
    fn from(room: &RoomId) -> Self {
        Self(vec![RoomPattern(room.as_str().to_owned())])
    }
}

// === impl RoomPattern ===

impl RoomPattern {
    /// Whether it stands for `room`.
    #[must_use]
    pub fn matches(&self, room: &str) -> bool {
        let Some((first, rest)) = self.0.split_once('*') else { return self.0 == room };
        let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
        let Some(mut left) = room.strip_prefix(first).and_then(|left| left.strip_suffix(last))
        else {
            return false;
        };
        // What stands between stars is found at the first place where it can be.
        for part in middle.split('*').filter(|part| !part.is_empty()) {
            match left.split_once(part) {
                Some((_, after)) => left = after,
                None => return false,
            }
        }
        true
    }
}

impl FromStr for RoomPattern {
    type Err = RoomPatternError;

    fn from_str(text: &str) -> Result<Self, RoomPatternError> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-*".contains(&byte);
        if (1..=RoomId::MAX_LENGTH).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(RoomPatternError)
        }
    }
}

impl TryFrom<String> for RoomPattern {
    type Error = RoomPatternError;

    fn try_from(text: String) -> Result<Self, RoomPatternError> {
        text.parse()
    }
}

impl From<RoomPattern> for String {
    fn from(pattern: RoomPattern) -> Self {
        pattern.0
    }
}

impl fmt::Display for RoomPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

// === impl RoomScope ===

impl RoomScope {
    /// The rooms of these patterns; of none: all.
    #[must_use]
    pub fn new(patterns: Vec<RoomPattern>) -> Self {
        Self(patterns)
    }

    /// Whether it has every room, and so what is of no room, too.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it has `room`.
    #[must_use]
    pub fn covers(&self, room: &str) -> bool {
        self.is_whole() || self.0.iter().any(|pattern| pattern.matches(room))
    }

    /// Its patterns.
    #[must_use]
    pub fn patterns(&self) -> &[RoomPattern] {
        &self.0
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for RoomScope {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        use utoipa::openapi::{ArrayBuilder, ObjectBuilder, Type};
        let pattern =
            ObjectBuilder::new().schema_type(Type::String).pattern(Some("^[A-Za-z0-9_*-]{1,64}$"));
        ArrayBuilder::new()
            .items(pattern)
            .description(Some(
                "Names of rooms, and patterns in which `*` stands for any characters; none: all rooms",
            ))
            .into()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for RoomScope {}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, room: &str) -> bool {
        pattern.parse::<RoomPattern>().unwrap().matches(room)
    }

    #[test]
    fn stars_stand_for_anything_and_all_else_for_itself() {
        for (pattern, room) in [
            ("sale", "sale"),
            ("sale-*", "sale-1"),
            ("sale-*", "sale-"),
            ("*", "x"),
            ("*-eu", "sale-eu"),
            ("a*b*c", "a-b-b-c"),
            ("a**c", "ac"),
            ("*b*", "abc"),
            ("a*ab*b", "aabb"),
        ] {
            assert!(matches(pattern, room), "{pattern} {room}");
        }
        for (pattern, room) in [
            ("sale", "sale2"),
            ("sale-*", "sale"),
            ("sale-*", "presale-1"),
            ("a*a", "a"),
            ("ab*ba", "aba"),
            ("a*b*c", "a-c-b"),
            ("a*bb*b", "abb"),
            ("Sale", "sale"),
        ] {
            assert!(!matches(pattern, room), "{pattern} {room}");
        }
    }

    #[test]
    fn what_can_be_no_room_is_no_pattern() {
        for wrong in ["", "a b", "a.b", "ä", "?", &"x".repeat(65)] {
            assert_eq!(wrong.parse::<RoomPattern>(), Err(RoomPatternError), "{wrong}");
        }
        assert!(serde_json::from_str::<RoomScope>(r#"["sale-*","a/b"]"#).is_err());
    }

    #[test]
    fn no_pattern_is_all_rooms() {
        let scope = |text: &str| serde_json::from_str::<RoomScope>(text).unwrap();
        assert!(scope("[]").is_whole() && scope("[]").covers("sale"));
        let some = scope(r#"["sale-*","vip"]"#);
        assert!(!some.is_whole() && some.covers("vip") && some.covers("sale-2"));
        assert!(!some.covers("other"));
        assert!(!scope(r#"["*"]"#).is_whole(), "all rooms that there are, and nothing else");
    }
}
