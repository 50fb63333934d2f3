//! What a server answers, and what it publishes.

use std::sync::Arc;

/// A text of Redis. Cloning is cheap.
pub type Bytes = Arc<[u8]>;

/// An answer, as RESP 2 has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Nothing.
    Nil,
    /// `+OK`
    Ok,
    /// Any other simple string.
    Status(String),
    /// An integer.
    Int(i64),
    /// A text.
    Bulk(Bytes),
    /// A list.
    Array(Vec<Reply>),
    /// An error: its code, a space, what is wrong.
    Error(String),
}

/// What a PUBLISH sent to the subscribers of a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Where it was sent.
    pub channel: Bytes,
    /// What was sent.
    pub payload: Bytes,
    /// Whether it was SPUBLISH, whose subscribers are others.
    pub sharded: bool,
}

// === impl Message ===

impl Message {
    /// Channel and payload as texts. What is not UTF-8 is written with replacement characters.
    #[must_use]
    pub fn texts(&self) -> (String, String) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&self.channel), text(&self.payload))
    }
}

// === impl Reply ===

impl Reply {
    /// A text.
    pub fn bulk(text: impl AsRef<[u8]>) -> Self {
        Self::Bulk(text.as_ref().into())
    }

    /// 1 or 0.
    pub(crate) fn flag(yes: bool) -> Self {
        Self::Int(i64::from(yes))
    }

    pub(crate) fn count(n: usize) -> Self {
        Self::Int(i64::try_from(n).unwrap_or(i64::MAX))
    }

    pub(crate) fn text_or_nil(text: Option<&Bytes>) -> Self {
        text.map_or(Self::Nil, |text| Self::Bulk(Arc::clone(text)))
    }
}
