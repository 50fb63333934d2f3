//! What this instance is among the controllers, for every loop that depends on it. How it comes to know is in
//! `loops/lease.rs`.
//!
//! One of them holds the lease and keeps the keyspace whole. All that serve in its term share out the rooms.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::Notify;
use vestibule_domain::{RoomId, Share};

/// A term, and the rooms that this instance serves in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Term {
    /// Its fencing number.
    pub(crate) epoch: u64,
    /// That of the term that came directly before, if there was one.
    pub(crate) before: Option<u64>,
    /// Its rooms.
    pub(crate) share: Share,
}

/// What this instance is among the controllers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// Another leads, or nobody, and it serves no room.
    #[default]
    Following,
    /// It holds the lease, in this term, and is still making the keyspace whole.
    Settling(u64),
    /// It leads, in this term, and serves its share.
    Leading(Term),
    /// Another leads, in this term, and it serves its share.
    Serving(Term),
}

/// The role of this instance, and the changes that it may undergo.
#[derive(Debug, Default)]
pub(crate) struct Leadership {
    role: Arc<Changing>,
    /// Whether the lease should be asked for before it is time.
    ask: Notify,
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
    /// The last term in which it has made the keyspace whole, if nothing has undone that since. It outlives the role
    /// when a write is refused: the later term may be its own.
    settled: Option<u64>,
    version: u64,
}

/// Sees every change of the role, or at least the last of several.
#[derive(Debug)]
pub(crate) struct RoleWatch {
    role: Arc<Changing>,
    seen: u64,
}

// === impl Term ===

impl Term {
    /// Whether nobody else can have served anywhere between that term and this one.
    pub(crate) fn follows(self, last: Self) -> bool {
        self.epoch == last.epoch || self.before == Some(last.epoch)
    }
}

// === impl Role ===

impl Role {
    /// The term, if it holds the lease.
    #[must_use]
    pub(crate) fn holding(self) -> Option<u64> {
        match self {
            Self::Settling(epoch) | Self::Leading(Term { epoch, .. }) => Some(epoch),
            Self::Following | Self::Serving(_) => None,
        }
    }

    /// The term, if it leads.
    #[must_use]
    pub(crate) fn leading(self) -> Option<u64> {
        match self {
            Self::Leading(term) => Some(term.epoch),
            Self::Following | Self::Settling(_) | Self::Serving(_) => None,
        }
    }

    /// The term, and the rooms that it serves.
    #[must_use]
    pub(crate) fn serving(self) -> Option<Term> {
        match self {
            Self::Leading(term) | Self::Serving(term) => Some(term),
            Self::Following | Self::Settling(_) => None,
        }
    }

    fn epoch(self) -> Option<u64> {
        self.holding().or(self.serving().map(|term| term.epoch))
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

    /// Notes that it holds the lease in this term; returns whether that is new. `settled`: Redis has taken note that
    /// the keyspace is whole, and goes on from the term in which it was made so.
    pub(super) fn holds(&self, term: Term, settled: bool) -> bool {
        let before = self.role();
        self.change(|now| match now.role {
            // It came to be so while Redis was asked.
            Role::Settling(epoch) if epoch == term.epoch => {}
            Role::Leading(own) if own.epoch == term.epoch && !settled => {}
            _ if settled && now.settled.is_some() => {
                (now.role, now.settled) = (Role::Leading(term), Some(term.epoch));
            }
            _ => (now.role, now.settled) = (Role::Settling(term.epoch), None),
        });
        before.holding() != Some(term.epoch)
    }

    /// Notes that another holds the lease and has made it a member of this term.
    pub(super) fn serves(&self, term: Term) {
        self.change(|now| (now.role, now.settled) = (Role::Serving(term), None));
    }

    /// Notes that the keyspace is whole, if the term is still `epoch`. Which rooms it serves is told when Redis has
    /// taken note.
    pub(super) fn settled(&self, epoch: u64) {
        let leads = self.change(|now| {
            if now.role == Role::Settling(epoch) {
                let term = Term { epoch, before: None, share: Share::NONE };
                (now.role, now.settled) = (Role::Leading(term), Some(epoch));
            }
        });
        if leads {
            self.ask.notify_one();
        }
    }

    /// Notes that the keyspace is no longer whole.
    pub(super) fn unsettled(&self) {
        let settles = self.change(|now| {
            if let Some(epoch) = now.role.leading() {
                (now.role, now.settled) = (Role::Settling(epoch), None);
            }
        });
        if settles {
            self.ask.notify_one();
        }
    }

    /// The last term in which it has made the keyspace whole, if nothing has undone that since.
    pub(super) fn last_settled(&self) -> Option<u64> {
        self.role.now().settled
    }

    /// Notes that it has neither the lease nor rooms; returns whether it had.
    pub(super) fn lost(&self) -> bool {
        self.change(|now| (now.role, now.settled) = (Role::Following, None))
    }

    /// Stops at once, because a write of term `epoch` was refused for the later term `by`. Whose that is, the lease
    /// tells: it may be its own next one.
    pub(super) fn overtaken(&self, epoch: u64, by: u64) {
        self.overtaken_by.fetch_max(by, Ordering::Relaxed);
        let stops = self.change(|now| {
            if now.role.epoch() == Some(epoch) {
                now.role = Role::Following;
            }
        });
        if stops {
            tracing::info!(epoch, by, "overtaken by a later term");
            self.ask.notify_one();
        }
    }

    pub(super) fn overtaken_by(&self) -> u64 {
        self.overtaken_by.load(Ordering::Relaxed)
    }

    /// Waits until the lease should be asked for before it is time.
    pub(super) async fn should_ask(&self) {
        self.ask.notified().await;
    }

    /// Notes that `room` was not found in its latest state.
    pub(super) fn report_suspect(&self, room: RoomId) {
        self.suspects.lock().unwrap_or_else(PoisonError::into_inner).insert(room);
    }

    /// The rooms that were not found in their latest state, since this was last asked.
    pub(super) fn take_suspects(&self) -> BTreeSet<RoomId> {
        std::mem::take(&mut *self.suspects.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns whether the role is another now.
    fn change(&self, change: impl FnOnce(&mut Versioned)) -> bool {
        let mut now = self.role.now.lock().unwrap_or_else(PoisonError::into_inner);
        let before = *now;
        change(&mut now);
        let is_another = now.role != before.role;
        // Without a role, too: then its own next term will not come.
        if !is_another && now.settled == before.settled {
            return false;
        }
        now.version += 1;
        drop(now);
        self.role.changed.notify_waiters();
        is_another
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
        let Versioned { role, version, .. } = self.role.now();
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

    fn term(epoch: u64) -> Term {
        Term { epoch, before: epoch.checked_sub(1), share: Share::ALL }
    }

    #[test]
    fn a_term_begins_with_settling_and_a_renewal_changes_nothing() {
        let leadership = Leadership::default();
        assert_eq!(leadership.role(), Role::Following);
        assert!(leadership.holds(term(3), false));
        assert_eq!(leadership.role(), Role::Settling(3));
        leadership.settled(3);
        let untold = Term { before: None, share: Share::NONE, ..term(3) };
        assert_eq!(
            leadership.role(),
            Role::Leading(untold),
            "it serves nothing that it was not told"
        );
        assert!(!leadership.holds(term(3), false), "asked for before");
        assert_eq!(
            (leadership.role(), leadership.last_settled()),
            (Role::Leading(untold), Some(3))
        );
        assert!(!leadership.holds(term(3), true), "renewed");
        assert_eq!(leadership.role(), Role::Leading(term(3)));
        assert!(leadership.holds(term(4), false), "a term after the store forgot the lease");
        leadership.settled(3);
        assert_eq!(
            (leadership.role(), leadership.last_settled()),
            (Role::Settling(4), None),
            "too late"
        );
    }

    #[test]
    fn who_leads_goes_on_leading_when_only_the_members_change() {
        let leadership = Leadership::default();
        leadership.holds(term(3), false);
        leadership.settled(3);
        assert!(leadership.holds(term(4), true));
        assert_eq!(
            (leadership.role(), leadership.last_settled()),
            (Role::Leading(term(4)), Some(4))
        );
        leadership.unsettled();
        assert!(leadership.holds(term(5), true), "asked for before");
        assert_eq!(leadership.role(), Role::Settling(5));
    }

    #[test]
    fn only_the_term_that_was_overtaken_ends() {
        let leadership = Leadership::default();
        leadership.holds(term(4), false);
        leadership.overtaken(3, 4);
        assert_eq!(leadership.role(), Role::Settling(4));
        leadership.settled(4);
        leadership.unsettled();
        assert_eq!(leadership.role(), Role::Settling(4));
        leadership.settled(4);
        leadership.overtaken(4, 9);
        assert_eq!((leadership.role(), leadership.overtaken_by()), (Role::Following, 9));
        assert!(!leadership.lost());
    }

    #[test]
    fn who_was_overtaken_by_its_own_next_term_goes_on_in_it() {
        let leadership = Leadership::default();
        leadership.holds(term(4), false);
        leadership.settled(4);
        leadership.overtaken(4, 5);
        assert_eq!((leadership.role(), leadership.last_settled()), (Role::Following, Some(4)));
        assert!(leadership.holds(term(5), true));
        assert_eq!(leadership.role(), Role::Leading(term(5)));
        leadership.overtaken(5, 9);
        assert!(leadership.holds(term(10), false), "it was nobody's that Redis knows");
        assert_eq!((leadership.role(), leadership.last_settled()), (Role::Settling(10), None));
    }

    #[tokio::test]
    async fn who_waits_for_its_own_next_term_hears_that_there_is_none() {
        let leadership = Leadership::default();
        leadership.holds(term(4), false);
        leadership.settled(4);
        leadership.overtaken(4, 9);
        let mut watch = leadership.watch();
        assert_eq!(watch.see(), Role::Following);
        assert!(!leadership.lost(), "the role is the same");
        watch.changed().await;
        assert_eq!(leadership.last_settled(), None);
    }

    #[test]
    fn a_member_serves_and_does_not_lead() {
        let leadership = Leadership::default();
        leadership.serves(term(6));
        let role = leadership.role();
        assert_eq!((role.serving(), role.leading(), role.holding()), (Some(term(6)), None, None));
        leadership.overtaken(6, 7);
        assert_eq!(leadership.role(), Role::Following);
        assert!(term(7).follows(term(6)) && term(6).follows(term(6)) && !term(8).follows(term(6)));
    }
}
