//! The kinds of values.

use std::{collections::BTreeMap, sync::Arc};

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use crate::{reply::Bytes, sorted_set::SortedSet};

/// A hash. Its order depends on nothing but what was done to it.
pub type Hash = IndexMap<Bytes, Bytes, FxBuildHasher>;
/// A set. Its order depends on nothing but what was done to it.
pub type Set = IndexSet<Bytes, FxBuildHasher>;
/// What names an entry of a stream: a time, ms, and which one of that time.
pub(crate) type StreamId = (u64, u64);
/// A text, or a bitmap.
pub(crate) type Text = Vec<u8>;

/// A stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stream {
    /// Fields and values of each entry, one after the other.
    pub(crate) entries: BTreeMap<StreamId, Vec<Bytes>>,
    /// The highest id that there ever was.
    pub(crate) last: StreamId,
}

/// A value of any kind.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Text(Arc<Text>),
    Hash(Arc<Hash>),
    Set(Arc<Set>),
    SortedSet(Arc<SortedSet>),
    Stream(Arc<Stream>),
}

/// One of the kinds.
pub(crate) trait Kind: Clone + Default {
    fn of(value: &Value) -> Option<&Self>;
    fn of_mut(value: &mut Value) -> Option<&mut Self>;
    fn into_value(self) -> Value;
}

macro_rules! kinds {
    ($($kind:ident: $type:ty),*) => {
        $(impl Kind for $type {
            fn of(value: &Value) -> Option<&Self> {
                if let Value::$kind(found) = value { Some(found) } else { None }
            }

            fn of_mut(value: &mut Value) -> Option<&mut Self> {
                if let Value::$kind(found) = value { Some(Arc::make_mut(found)) } else { None }
            }

            fn into_value(self) -> Value {
                Value::$kind(Arc::new(self))
            }
        })*
    };
}

kinds!(Text: Text, Hash: Hash, Set: Set, SortedSet: SortedSet, Stream: Stream);

// === impl Value ===

impl Value {
    /// What TYPE calls it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "string",
            Self::Hash(_) => "hash",
            Self::Set(_) => "set",
            Self::SortedSet(_) => "zset",
            Self::Stream(_) => "stream",
        }
    }

    /// Whether nothing is in it. An empty text or stream is a value like others.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Text(_) | Self::Stream(_) => false,
            Self::Hash(hash) => hash.is_empty(),
            Self::Set(set) => set.is_empty(),
            Self::SortedSet(set) => set.is_empty(),
        }
    }
}
