//! Who a caller is to the script that renews or repeats a session: all that a session of this caller may be bound to.

use vestibule_domain::Binding;

/// What sessions of a caller may be bound to, as `scripts/lib/notes.lua` reads it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallerBindings(String);

// === impl CallerBindings ===

impl CallerBindings {
    /// A caller of whom nothing is known: a session that is bound to anything is not its own.
    #[must_use]
    pub fn unknown() -> Self {
        Self("-".to_owned())
    }

    /// A caller whose sessions may be bound to any of these. A new one is bound to the first. Without any, no binding to
    /// a network is asked for.
    #[must_use]
    pub fn any_of(bindings: &[Binding]) -> Self {
        Self(bindings.iter().map(Binding::to_string).collect::<Vec<_>>().join(" "))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}
