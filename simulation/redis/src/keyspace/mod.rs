//! What a server holds: keys, their values, and when they expire.
//!
//! Values are shared until one side writes, so that a copy of a keyspace costs its table of keys.

mod dump;
mod value;

use rustc_hash::FxHashMap;

pub use dump::{Dump, Dumped};
pub use value::{Hash, Set};
pub(crate) use value::{Kind, Stream, StreamId, Text, Value};

use crate::{
    failure::{Failure, WRONG_TYPE},
    reply::Bytes,
    sorted_set::SortedSet,
};

/// All keys of a server.
#[derive(Debug, Clone)]
pub struct Keyspace {
    entries: FxHashMap<Bytes, Entry>,
    /// No key expires before, ms.
    next_expiry: u64,
}

/// A key's value, and when it expires, ms since 1970.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) value: Value,
    pub(crate) expires_at: Option<u64>,
}

// === impl Keyspace ===

impl Default for Keyspace {
    fn default() -> Self {
        Self { entries: FxHashMap::default(), next_expiry: u64::MAX }
    }
}

/// Looking at it.
impl Keyspace {
    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Every key, in order.
    #[must_use]
    pub fn keys(&self) -> Vec<&Bytes> {
        let mut keys: Vec<_> = self.entries.keys().collect();
        keys.sort_unstable();
        keys
    }

    /// The hash at `key`; `None` if there is none.
    #[must_use]
    pub fn hash(&self, key: impl AsRef<[u8]>) -> Option<&Hash> {
        self.read(key.as_ref()).ok().flatten()
    }

    /// The set at `key`; `None` if there is none.
    #[must_use]
    pub fn set(&self, key: impl AsRef<[u8]>) -> Option<&Set> {
        self.read(key.as_ref()).ok().flatten()
    }

    /// The sorted set at `key`; `None` if there is none.
    #[must_use]
    pub fn sorted_set(&self, key: impl AsRef<[u8]>) -> Option<&SortedSet> {
        self.read(key.as_ref()).ok().flatten()
    }

    /// The text (or bitmap) at `key`; `None` if there is none.
    #[must_use]
    pub fn text(&self, key: impl AsRef<[u8]>) -> Option<&[u8]> {
        self.read::<Text>(key.as_ref()).ok().flatten().map(Vec::as_slice)
    }

    /// When `key` expires, ms since 1970.
    #[must_use]
    pub fn expires_at(&self, key: impl AsRef<[u8]>) -> Option<u64> {
        self.entries.get(key.as_ref())?.expires_at
    }

    pub(crate) fn entry(&self, key: &[u8]) -> Option<&Entry> {
        self.entries.get(key)
    }

    /// The value of this kind at `key`.
    pub(crate) fn read<K: Kind>(&self, key: &[u8]) -> Result<Option<&K>, Failure> {
        match self.entries.get(key) {
            Some(entry) => K::of(&entry.value).map(Some).ok_or(WRONG_TYPE),
            None => Ok(None),
        }
    }
}

/// Changing it.
impl Keyspace {
    /// The value of this kind at `key`, to be changed; a new one if there is none.
    pub(crate) fn write<K: Kind>(&mut self, key: &[u8]) -> Result<&mut K, Failure> {
        if !self.entries.contains_key(key) {
            self.put(key, K::default().into_value(), None);
        }
        self.edit(key)?.ok_or(WRONG_TYPE)
    }

    /// The value of this kind at `key`, to be changed, if there is one.
    pub(crate) fn edit<K: Kind>(&mut self, key: &[u8]) -> Result<Option<&mut K>, Failure> {
        match self.entries.get_mut(key) {
            Some(entry) => K::of_mut(&mut entry.value).map(Some).ok_or(WRONG_TYPE),
            None => Ok(None),
        }
    }

    /// Removes the key if nothing is left in it.
    pub(crate) fn tidy(&mut self, key: &[u8]) {
        if self.entries.get(key).is_some_and(|entry| entry.value.is_empty()) {
            self.entries.remove(key);
        }
    }

    pub(crate) fn put(&mut self, key: &[u8], value: Value, expires_at: Option<u64>) {
        self.note_expiry(expires_at);
        let entry = Entry { value, expires_at };
        match self.entries.get_mut(key) {
            Some(old) => *old = entry,
            None => {
                self.entries.insert(key.into(), entry);
            }
        }
    }

    pub(crate) fn remove(&mut self, key: &[u8]) -> Option<Entry> {
        self.entries.remove(key)
    }

    /// Sets when an existing key expires.
    pub(crate) fn set_expiry(&mut self, key: &[u8], expires_at: Option<u64>) {
        if let Some(entry) = self.entries.get_mut(key) {
            entry.expires_at = expires_at;
            self.note_expiry(expires_at);
        }
    }

    /// Whether a key may have to go by `now_ms`.
    pub(crate) fn is_due(&self, now_ms: u64) -> bool {
        now_ms > self.next_expiry
    }

    /// Removes every key whose time is over.
    pub(crate) fn expire(&mut self, now_ms: u64) {
        self.entries.retain(|_, entry| entry.expires_at.is_none_or(|at| at >= now_ms));
        let times = self.entries.values().filter_map(|entry| entry.expires_at);
        self.next_expiry = times.min().unwrap_or(u64::MAX);
    }

    fn note_expiry(&mut self, expires_at: Option<u64>) {
        self.next_expiry = self.next_expiry.min(expires_at.unwrap_or(u64::MAX));
    }
}
