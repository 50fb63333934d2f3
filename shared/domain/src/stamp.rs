//! Which state of a room something was learnt from, so that two states can be told apart by age: a Redis may go
//! back to an older one, and nothing says so.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// The stamp of a state of a room.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// When the room was last reset, ms.
    pub reset_epoch: u64,
    /// How often it was put together anew from what services remembered.
    pub generation: u32,
    /// Names the time since then: two states of one generation with different nonces have nothing to do
    /// with each other.
    pub nonce: String,
    /// Raised by every call that may change the room.
    pub seq: u64,
}

// === impl Stamp ===

impl Stamp {
    /// Earlier or later; `None`: one does not follow from the other.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        let age = |stamp: &Self| (stamp.reset_epoch, stamp.generation);
        match age(self).cmp(&age(other)) {
            Ordering::Equal if self.nonce != other.nonce => None,
            Ordering::Equal => Some(self.seq.cmp(&other.seq)),
            order => Some(order),
        }
    }

    /// Whether whoever has heard of this state, and knows until when it did, has heard of `other` as well, as far as
    /// that is not later still: both are states of one time, or `other` is of an earlier one.
    #[must_use]
    pub fn continues(&self, other: &Self) -> bool {
        let age = |stamp: &Self| (stamp.reset_epoch, stamp.generation);
        match age(self).cmp(&age(other)) {
            Ordering::Equal => self.nonce == other.nonce,
            order => order == Ordering::Greater,
        }
    }

    /// Whether nothing was put together anew between the two states.
    #[must_use]
    pub fn is_of_one_time(&self, other: &Self) -> bool {
        (self.reset_epoch, self.generation, &self.nonce)
            == (other.reset_epoch, other.generation, &other.nonce)
    }

    /// By age alone, for a choice between states of which one does not follow from the other.
    #[must_use]
    pub fn age(&self) -> (u64, u32, u64) {
        (self.reset_epoch, self.generation, self.seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(reset_epoch: u64, generation: u32, nonce: &str, seq: u64) -> Stamp {
        Stamp { reset_epoch, generation, nonce: nonce.to_owned(), seq }
    }

    #[test]
    fn a_state_continues_those_of_its_time_and_of_earlier_ones() {
        let own = stamp(7, 2, "a", 50);
        assert!(own.continues(&stamp(7, 2, "a", 90)) && own.continues(&stamp(7, 1, "z", 90)));
        for other in [stamp(7, 2, "b", 1), stamp(7, 3, "b", 1), stamp(8, 1, "a", 1)] {
            assert!(!own.continues(&other), "{other:?}");
        }
    }

    #[test]
    fn later_is_a_later_reset_then_a_later_generation_then_a_later_call() {
        let before = stamp(7, 2, "a", 50);
        for later in [stamp(8, 1, "a", 1), stamp(7, 3, "b", 1), stamp(7, 2, "a", 51)] {
            assert_eq!(later.compare(&before), Some(Ordering::Greater), "{later:?}");
            assert_eq!(before.compare(&later), Some(Ordering::Less), "{later:?}");
            assert!(later.age() > before.age());
        }
        assert_eq!(before.compare(&before.clone()), Some(Ordering::Equal));
        assert_eq!(before.compare(&stamp(7, 2, "b", 60)), None, "two leaders made a third one");
    }
}
