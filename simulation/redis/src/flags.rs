//! What commands may do, and where they may be called.

use crate::options::Dialect;

/// What a command may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flags(u8);

/// It only looks, or does not concern keys.
pub(crate) const READ: Flags = Flags(0);
/// It changes data, and never takes more memory.
pub(crate) const WRITE: Flags = Flags(1);
/// It changes data, and may take more memory.
pub(crate) const MEMORY: Flags = Flags(2);
/// A server that is loading its data answers it.
pub(crate) const ALWAYS: Flags = Flags(4);
/// Scripts may not call it.
pub(crate) const NOT_IN_SCRIPTS: Flags = Flags(8);
/// It sends something, which a script that may change nothing must not.
pub(crate) const SENDS: Flags = Flags(16);
/// Redis 7 knows it only with the fewest arguments.
pub(crate) const NEWER_FORM: Flags = Flags(32);

// === impl Flags ===

impl Flags {
    const fn has_any(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it changes the data.
    pub(crate) fn writes(self) -> bool {
        self.has_any(WRITE.and(MEMORY))
    }

    /// Whether a script that may change nothing may call it.
    pub(crate) fn only_looks(self) -> bool {
        !self.has_any(WRITE.and(MEMORY).and(SENDS))
    }

    /// Whether it may take more memory.
    pub(crate) fn needs_memory(self) -> bool {
        self.has_any(MEMORY)
    }

    /// Whether a server that is loading answers it.
    pub(crate) fn answers_always(self) -> bool {
        self.has_any(ALWAYS)
    }

    pub(crate) fn is_for_scripts(self) -> bool {
        !self.has_any(NOT_IN_SCRIPTS)
    }

    /// Whether this server knows only its form with the fewest arguments.
    pub(crate) fn is_old_form(self, dialect: Dialect) -> bool {
        dialect == Dialect::Redis7 && self.has_any(NEWER_FORM)
    }
}
