//! Everything that a server holds, in an order that depends on nothing, to be compared or printed.

use std::collections::{BTreeMap, BTreeSet};

use super::{Keyspace, value::Value};
use crate::reply::Bytes;

/// Every key with its value and when it expires, ms since 1970.
pub type Dump = BTreeMap<String, (Dumped, Option<u64>)>;

/// A value. What is not UTF-8 is written with replacement characters.
#[derive(Debug, Clone, PartialEq)]
pub enum Dumped {
    /// A text or a bitmap, as bytes.
    Text(Vec<u8>),
    /// A hash.
    Hash(BTreeMap<String, String>),
    /// A set.
    Set(BTreeSet<String>),
    /// A sorted set, lowest first.
    SortedSet(Vec<(String, f64)>),
    /// A stream: of each entry its id, and its fields and values one after the other.
    Stream(Vec<(String, Vec<String>)>),
}

// === impl Keyspace ===

impl Keyspace {
    /// Everything there is.
    #[must_use]
    pub fn dump(&self) -> Dump {
        let dumped = |entry: &super::Entry| (Dumped::from(&entry.value), entry.expires_at);
        self.entries.iter().map(|(key, entry)| (text(key), dumped(entry))).collect()
    }
}

// === impl Dumped ===

impl From<&Value> for Dumped {
    fn from(value: &Value) -> Self {
        match value {
            Value::Text(bytes) => Self::Text(bytes.to_vec()),
            Value::Hash(hash) => {
                Self::Hash(hash.iter().map(|(field, value)| (text(field), text(value))).collect())
            }
            Value::Set(set) => Self::Set(set.iter().map(|member| text(member)).collect()),
            Value::SortedSet(set) => {
                Self::SortedSet(set.iter().map(|(member, score)| (text(member), score)).collect())
            }
            Value::Stream(stream) => {
                let entry = |((ms, nth), fields): (&(u64, u64), &Vec<Bytes>)| {
                    (format!("{ms}-{nth}"), fields.iter().map(|field| text(field)).collect())
                };
                Self::Stream(stream.entries.iter().map(entry).collect())
            }
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
