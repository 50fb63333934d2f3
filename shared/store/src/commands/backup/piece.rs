//! A piece of a copied room: some or all of what one of its keys holds.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// Some or all of what a key of a room holds. Its `key` is the end of the key's name, after that of the room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Piece {
    /// Fields of a hash.
    Hash {
        /// Which.
        key: String,
        /// Each with its value.
        fields: BTreeMap<String, String>,
    },
    /// Members of a sorted set.
    Sorted {
        /// Which.
        key: String,
        /// Each with its score.
        members: BTreeMap<String, String>,
    },
    /// A bitmap.
    Bits {
        /// Which.
        key: String,
        /// Its bytes.
        #[serde(with = "hex::serde")]
        bytes: Vec<u8>,
    },
    /// Texts, each under a key of its own.
    Texts {
        /// What these keys begin with.
        key: String,
        /// By what follows it, and a colon.
        texts: BTreeMap<String, Expiring>,
    },
    /// Members of a set that expires.
    Set {
        /// Which.
        key: String,
        /// The members.
        members: BTreeSet<String>,
        /// For how long it lasts, ms.
        left_ms: u64,
    },
}

/// A text that expires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expiring {
    /// The text.
    pub text: String,
    /// For how long it lasts, ms.
    pub left_ms: u64,
}

// === impl Piece ===

impl Piece {
    /// The end of the key's name.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::Hash { key, .. }
            | Self::Sorted { key, .. }
            | Self::Bits { key, .. }
            | Self::Texts { key, .. }
            | Self::Set { key, .. } => key,
        }
    }

    /// Whether it holds nothing.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Hash { fields, .. } => fields.is_empty(),
            Self::Sorted { members, .. } => members.is_empty(),
            Self::Bits { bytes, .. } => bytes.is_empty(),
            Self::Texts { texts, .. } => texts.is_empty(),
            Self::Set { members, .. } => members.is_empty(),
        }
    }

    /// Whether all that it has is in a later reading of the same key as well, be it with other values.
    pub(super) fn is_kept_in(&self, later: &Self) -> bool {
        match (self, later) {
            (Self::Hash { fields, .. }, Self::Hash { fields: later, .. }) => {
                fields.keys().all(|field| later.contains_key(field))
            }
            _ => self == later,
        }
    }

    /// Whether this release copies such a piece.
    #[must_use]
    pub fn is_known(&self) -> bool {
        let numbered = |prefix| self.key().strip_prefix(prefix).is_some_and(is_number);
        match self {
            Self::Hash { key, .. } => {
                let whole =
                    ["line", "settings", "records", "rate", "draws", "traffic", "counts", "inlet"];
                whole.contains(&key.as_str())
                    || ["history:", "minutes:", "ledger:"].into_iter().any(numbered)
                    || matches!(self.of_networks(), Some((period, None)) if is_number(period))
            }
            Self::Sorted { key, .. } => {
                let whole = ["sessions", "tokens", "holds", "ended", "rows", "calls", "networks"];
                whole.contains(&key.as_str())
                    || numbered("revoked:")
                    || matches!(self.of_networks(), Some(("seats", Some(_))))
            }
            Self::Bits { .. } => {
                ["entered:", "entered:pools:", "unattended:"].into_iter().any(numbered)
            }
            Self::Texts { key, .. } => key == "calls",
            Self::Set { .. } => numbered("calls:spent:"),
        }
    }

    /// Of `networks:`, a reset epoch, and more: what follows, and what that is of.
    pub(super) fn of_networks(&self) -> Option<(&str, Option<&str>)> {
        let (epoch, rest) = self.key().strip_prefix("networks:")?.split_once(':')?;
        let (what, of) = rest.split_once(':').map_or((rest, None), |(what, of)| (what, Some(of)));
        is_number(epoch).then_some((what, of))
    }
}

fn is_number(text: &str) -> bool {
    text.parse::<u64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_of_another_kind_or_key_is_not_known() {
        let bits = |key: &str| Piece::Bits { key: key.to_owned(), bytes: vec![1] }.is_known();
        assert!(bits("entered:3") && bits("entered:pools:0") && bits("unattended:11"));
        assert!(!bits("entered:") && !bits("entered:x") && !bits("line") && !bits("there:3"));
        let hash =
            |key: &str| Piece::Hash { key: key.to_owned(), fields: BTreeMap::new() }.is_known();
        assert!(hash("line") && hash("history:20000") && hash("ledger:20000"));
        let sorted =
            |key: &str| Piece::Sorted { key: key.to_owned(), members: BTreeMap::new() }.is_known();
        assert!(sorted("ended") && sorted("revoked:0"));
        assert!(!sorted("revoked:") && !sorted("revoked") && !sorted("line"));
        assert!(!hash("history:") && !hash("sessions") && !hash("calls:1:x"));
        assert!(hash("networks:7:401234") && !hash("networks:7:seats:ab") && !hash("networks:x:1"));
        assert!(sorted("networks:7:seats:ab") && !sorted("networks:7:40") && sorted("calls"));
        let set = |key: &str| {
            Piece::Set { key: key.to_owned(), members: BTreeSet::new(), left_ms: 1 }.is_known()
        };
        assert!(set("calls:spent:7") && !set("calls:spent:") && !set("calls"));
    }

    #[test]
    fn it_is_written_with_its_type() {
        let bits = Piece::Bits { key: "entered:0".to_owned(), bytes: vec![0, 255] };
        let text = serde_json::to_string(&bits).unwrap();
        assert_eq!(text, r#"{"type":"bits","key":"entered:0","bytes":"00ff"}"#);
        assert_eq!(serde_json::from_str::<Piece>(&text).unwrap(), bits);
    }
}
