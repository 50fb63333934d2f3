//! Whether this instance leads, for every loop that depends on it. How it acquires the lease is in
//! `loops/lease.rs`.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::Notify;
use vestibule_domain::RoomId;

/// What this instance is among the controllers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// Another leads, or nobody.
    #[default]
    Following,
    /// It holds the lease, in this term, and is still making the keyspace whole.
    Settling(u64),
    /// It leads, in this term.
    Leading(u64),
}

/// The role of this instance, and the changes that it may undergo.
#[derive(Debug)]
pub(crate) struct Leadership {
    role: Arc<Changing>,
    /// The highest epoch named by a refused write; 0: none.
    overtaken_by: AtomicU64,
    /// The rooms that a tick did not find in their latest state.
    suspects: Mutex<BTreeSet<RoomId>>,
}

/// The role as it changes. Whoever waits for a change goes on in the order in which it began to wait; with
/// `tokio::sync::watch`, in a random one, and no run would be like another.
#[derive(Debug, Default)]
struct Changing {
    now: Mutex<Versioned>,
    changed: Notify,
}

#[derive(Debug, Clone, Copy, Default)]
struct Versioned {
    role: Role,
    version: u64,
}

/// Sees every change of the role, or at least the last of several.
#[derive(Debug)]
pub(crate) struct RoleWatch {
    role: Arc<Changing>,
    seen: u64,
}

// === impl Role ===

impl Role {
    /// The term, if it holds the lease.
    #[must_use]
    pub(crate) fn term(self) -> Option<u64> {
        match self {
            Self::Following => None,
            Self::Settling(epoch) | Self::Leading(epoch) => Some(epoch),
        }
    }

    /// The term, if it leads.
    #[must_use]
    pub(crate) fn leading(self) -> Option<u64> {
        match self {
            Self::Leading(epoch) => Some(epoch),
            Self::Following | Self::Settling(_) => None,
        }
    }
}

// === impl Leadership ===

impl Leadership {
    /// The role, and notice of every change.
    #[must_use]
    pub(crate) fn watch(&self) -> RoleWatch {
        let role = Arc::clone(&self.role);
        let seen = role.now().version;
        RoleWatch { role, seen }
    }

    /// The role.
    #[must_use]
    pub(crate) fn role(&self) -> Role {
        self.role.now().role
    }

    /// Notes that it holds the lease in term `epoch`; returns whether the term is new.
    pub(super) fn holds(&self, epoch: u64) -> bool {
        self.change(|role| (role.term() != Some(epoch)).then_some(Role::Settling(epoch)))
    }

    /// Notes that the keyspace is whole, if the term is still `epoch`.
    pub(super) fn settled(&self, epoch: u64) -> bool {
        self.change(|role| (role == Role::Settling(epoch)).then_some(Role::Leading(epoch)))
    }

    /// Notes that the keyspace is no longer whole.
    pub(super) fn unsettled(&self, epoch: u64) -> bool {
        self.change(|role| (role == Role::Leading(epoch)).then_some(Role::Settling(epoch)))
    }

    /// Notes that it no longer has the lease.
    pub(super) fn lost(&self) -> bool {
        self.change(|role| role.term().map(|_| Role::Following))
    }

    /// Steps down at once, because a write of term `epoch` was refused for the later term `by`.
    pub(super) fn overtaken(&self, epoch: u64, by: u64) {
        self.overtaken_by.fetch_max(by, Ordering::Relaxed);
        if self.change(|role| (role.term() == Some(epoch)).then_some(Role::Following)) {
            tracing::warn!(epoch, by, "overtaken by a later term, stepping down");
        }
    }

    pub(super) fn overtaken_by(&self) -> u64 {
        self.overtaken_by.load(Ordering::Relaxed)
    }

    /// Notes that `room` was not found in its latest state.
    pub(super) fn report_suspect(&self, room: RoomId) {
        self.suspects.lock().unwrap_or_else(PoisonError::into_inner).insert(room);
    }

    /// The rooms that were not found in their latest state, since this was last asked.
    pub(super) fn take_suspects(&self) -> BTreeSet<RoomId> {
        std::mem::take(&mut *self.suspects.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn change(&self, next: impl FnOnce(Role) -> Option<Role>) -> bool {
        let mut now = self.role.now.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(role) = next(now.role) else { return false };
        *now = Versioned { role, version: now.version + 1 };
        drop(now);
        self.role.changed.notify_waiters();
        true
    }
}

impl Default for Leadership {
    fn default() -> Self {
        Self { role: Arc::default(), overtaken_by: AtomicU64::new(0), suspects: Mutex::default() }
    }
}

// === impl Changing ===

impl Changing {
    fn now(&self) -> Versioned {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl RoleWatch ===

impl RoleWatch {
    /// The role, which counts as seen.
    pub(crate) fn see(&mut self) -> Role {
        let Versioned { role, version } = self.role.now();
        self.seen = version;
        role
    }

    /// Waits until the role is another than was seen.
    pub(crate) async fn changed(&self) {
        loop {
            // Enlisted before the look, so that no change is missed between the two.
            let mut changed = std::pin::pin!(self.role.changed.notified());
            changed.as_mut().enable();
            if self.role.now().version != self.seen {
                return;
            }
            changed.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_begins_with_settling_and_a_renewal_changes_nothing() {
        let leadership = Leadership::default();
        assert_eq!(leadership.role(), Role::Following);
        assert!(leadership.holds(3));
        assert_eq!(leadership.role(), Role::Settling(3));
        assert!(leadership.settled(3));
        assert!(!leadership.holds(3), "renewed");
        assert_eq!(leadership.role().leading(), Some(3));
        assert!(leadership.holds(4), "a term after the store forgot the lease");
        assert!(!leadership.settled(3), "too late");
        assert_eq!(leadership.role(), Role::Settling(4));
    }

    #[test]
    fn only_the_term_that_was_overtaken_ends() {
        let leadership = Leadership::default();
        leadership.holds(4);
        leadership.overtaken(3, 4);
        assert_eq!(leadership.role(), Role::Settling(4));
        leadership.settled(4);
        assert!(leadership.unsettled(4) && !leadership.unsettled(4));
        leadership.overtaken(4, 9);
        assert_eq!((leadership.role(), leadership.overtaken_by()), (Role::Following, 9));
        assert!(!leadership.lost());
    }
}
