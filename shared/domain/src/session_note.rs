//! What is noted of a session besides its token: when it began, what it is bound to, and whether it was redeemed. Its text
//! is kept in the session's record in Redis: in the place of a request id, which visitors' sessions do not have there, and
//! behind the request id of an AWS-style session; scripts read and write it (`scripts/lib/notes.lua`). Who matches a binding is decided where digests are made.

use std::{fmt, num::NonZeroU64, str::FromStr};

/// What a session is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Binding {
    /// What it names.
    pub to: BoundTo,
    /// Its keyed digest.
    pub digest: NonZeroU64,
}

/// The kinds of things that a session can be bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BoundTo {
    /// The network of its visitor.
    Network,
    /// The network and the user agent.
    NetworkAndAgent,
    /// A key, of which each call brings a proof.
    Key,
}

/// That a session was redeemed, which it is once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redemption {
    /// When, unix seconds.
    pub at: u64,
    /// The digest of the name that the caller gave to its call; 0: it gave none.
    pub call: u64,
}

/// What is noted of a session. Its text is `{began}.{bound}.{redemption}`, where each may be missing; the second dot is
/// there for a redemption alone, and nothing is, if all three are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionNote {
    /// When it began, unix seconds; `None`: no limit of its age was set yet.
    pub began: Option<u64>,
    /// What it is bound to.
    pub binding: Option<Binding>,
    /// Whether it was redeemed.
    pub redeemed: Option<Redemption>,
}

/// The text is not that of a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the text of a binding")]
pub struct NotABinding;

// === impl BoundTo ===

impl BoundTo {
    /// All kinds. None of their letters is a digit of a digest.
    const LETTERS: [(Self, char); 3] =
        [(Self::Network, 'n'), (Self::NetworkAndAgent, 'u'), (Self::Key, 'k')];

    fn letter(self) -> char {
        match self {
            Self::Network => 'n',
            Self::NetworkAndAgent => 'u',
            Self::Key => 'k',
        }
    }
}

// === impl Binding ===

impl fmt::Display for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:016x}", self.to.letter(), self.digest)
    }
}

impl FromStr for Binding {
    type Err = NotABinding;

    fn from_str(text: &str) -> Result<Self, NotABinding> {
        let kind = |(to, letter): (BoundTo, char)| Some((to, text.strip_prefix(letter)?));
        let (to, digest) = BoundTo::LETTERS.into_iter().find_map(kind).ok_or(NotABinding)?;
        let digest = u64::from_str_radix(digest, 16).map_err(|_| NotABinding)?;
        Ok(Self { to, digest: NonZeroU64::new(digest).ok_or(NotABinding)? })
    }
}

// === impl Redemption ===

impl Redemption {
    fn read(text: &str) -> Option<Self> {
        let (at, call) = text.split_once('-')?;
        Some(Self { at: at.parse().ok()?, call: u64::from_str_radix(call, 16).ok()? })
    }
}

impl fmt::Display for Redemption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:016x}", self.at, self.call)
    }
}

// === impl SessionNote ===

impl SessionNote {
    /// What `text` says. What cannot be read says nothing.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let mut parts = text.split('.');
        let mut part = || parts.next().unwrap_or_default();
        let (began, bound, redeemed) = (part(), part(), part());
        let (began, binding) = (began.parse().ok(), bound.parse().ok());
        Self { began, binding, redeemed: Redemption::read(redeemed) }
    }
}

impl fmt::Display for SessionNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::default() {
            return Ok(());
        }
        let began = self.began.map(|began| began.to_string()).unwrap_or_default();
        let bound = self.binding.map(|binding| binding.to_string()).unwrap_or_default();
        write!(f, "{began}.{bound}")?;
        self.redeemed.map_or(Ok(()), |redeemed| write!(f, ".{redeemed}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written() {
        let kinds = [BoundTo::Network, BoundTo::NetworkAndAgent, BoundTo::Key];
        let digest = NonZeroU64::new(0xab).unwrap();
        let bindings = kinds.map(|to| Some(Binding { to, digest })).into_iter().chain([None]);
        for binding in bindings {
            for began in [None, Some(1_763_690_000)] {
                for redeemed in [None, Some(Redemption { at: 7, call: u64::MAX })] {
                    let note = SessionNote { began, binding, redeemed };
                    assert_eq!(SessionNote::read(&note.to_string()), note, "{note}");
                }
            }
        }
        let bound = SessionNote { binding: "kab".parse().ok(), began: Some(5), redeemed: None };
        assert_eq!(bound.to_string(), "5.k00000000000000ab");
        let redeemed = Some(Redemption { at: 7, call: 0xcd });
        assert_eq!(
            SessionNote { redeemed, ..bound }.to_string(),
            "5.k00000000000000ab.7-00000000000000cd"
        );
        assert_eq!(SessionNote::default().to_string(), "");
    }

    #[test]
    fn what_is_no_note_says_nothing() {
        for text in ["", "x", ".", "..", "..7", "..-1", "x.y", ".k", ".k0", ".z12", ".kxyz"] {
            assert_eq!(SessionNote::read(text), SessionNote::default(), "{text}");
        }
    }
}
