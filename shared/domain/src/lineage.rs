//! Which states of a room another one follows from. Where a Redis is split, both sides go on from one state, and either
//! may be put together anew, or both, more than once. So the later generation may know nothing of the other side.

use serde::{Deserialize, Serialize};

use crate::Stamp;

/// So many are kept: the latest.
const KEPT: usize = 32;

/// Of each generation that was heard of when a state was put together, by its nonce, up to which call. All are of its
/// reset epoch, oldest generation first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Lineage(Vec<(u32, String, u64)>);

// === impl Lineage ===

impl Lineage {
    /// Of a state put together from `states`, each with its own.
    pub(crate) fn of<'a>(states: impl IntoIterator<Item = (&'a Stamp, Option<&'a Self>)>) -> Self {
        let mut together = Self::default();
        for (stamp, lineage) in states {
            together.take(stamp.generation, &stamp.nonce, stamp.seq);
            for (generation, nonce, seq) in lineage.iter().flat_map(|before| &before.0) {
                together.take(*generation, nonce, *seq);
            }
        }
        together.0.sort_unstable();
        let too_many = together.0.len().saturating_sub(KEPT);
        together.0.drain(..too_many);
        together
    }

    fn take(&mut self, generation: u32, nonce: &str, seq: u64) {
        match self.0.iter_mut().find(|one| (one.0, one.1.as_str()) == (generation, nonce)) {
            Some(known) => known.2 = known.2.max(seq),
            None => self.0.push((generation, nonce.to_owned(), seq)),
        }
    }

    /// Whether the state of `stamp`, of this reset epoch, was heard of.
    #[must_use]
    pub fn covers(&self, stamp: &Stamp) -> bool {
        let is_forgotten = self.0.len() == KEPT && stamp.generation < self.0[0].0;
        let is_heard = |(generation, nonce, seq): &(u32, String, u64)| {
            (*generation, nonce) == (stamp.generation, &stamp.nonce) && stamp.seq <= *seq
        };
        is_forgotten || self.0.iter().any(is_heard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(generation: u32, nonce: &str, seq: u64) -> Stamp {
        Stamp { reset_epoch: 7, generation, nonce: nonce.to_owned(), seq }
    }

    #[test]
    fn it_covers_what_was_heard_and_what_that_follows_from() {
        let first = Lineage::of([(&stamp(1, "a", 40), None), (&stamp(1, "a", 60), None)]);
        assert!(first.covers(&stamp(1, "a", 60)) && !first.covers(&stamp(1, "a", 61)));
        assert!(!first.covers(&stamp(1, "b", 1)), "of another side");
        let second = Lineage::of([(&stamp(2, "c", 90), Some(&first)), (&stamp(2, "d", 5), None)]);
        for heard in [stamp(1, "a", 60), stamp(2, "c", 90), stamp(2, "d", 5)] {
            assert!(second.covers(&heard), "{heard:?}");
        }
        assert!(!second.covers(&stamp(1, "a", 61)) && !second.covers(&stamp(2, "d", 6)));
    }

    #[test]
    fn the_oldest_are_forgotten_and_count_as_heard_of() {
        let mut lineage = Lineage::default();
        for generation in 1..=100 {
            lineage = Lineage::of([(&stamp(generation, "a", 10), Some(&lineage))]);
        }
        assert_eq!(lineage.0.len(), KEPT);
        assert!(lineage.covers(&stamp(1, "z", 99)) && lineage.covers(&stamp(100, "a", 10)));
        assert!(!lineage.covers(&stamp(90, "z", 1)));
    }

    #[test]
    fn it_is_written_as_a_list() {
        let lineage = Lineage::of([(&stamp(2, "b", 5), None), (&stamp(1, "a", 3), None)]);
        let json = serde_json::to_string(&lineage).unwrap();
        assert_eq!(json, r#"[[1,"a",3],[2,"b",5]]"#);
        assert_eq!(serde_json::from_str::<Lineage>(&json).unwrap(), lineage);
    }
}
