//! A sorted set: its members in the order of score and member, and the score of each.
//!
//! The order is a plain sorted list, because what scripts add mostly belongs at its end: a rank or a
//! count is a binary search, and a range is a slice.

use std::{cmp::Ordering, sync::Arc};

use rustc_hash::FxHashMap;

use crate::reply::Bytes;

/// A sorted set.
#[derive(Debug, Clone, Default)]
pub struct SortedSet {
    order: Vec<(f64, Bytes)>,
    scores: FxHashMap<Bytes, f64>,
}

// === impl SortedSet ===

impl SortedSet {
    /// How many members it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The score of `member`.
    #[must_use]
    pub fn score(&self, member: impl AsRef<[u8]>) -> Option<f64> {
        self.scores.get(member.as_ref()).copied()
    }

    /// Members and their scores, lowest first.
    #[must_use]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Bytes, f64)> {
        self.order.iter().map(|(score, member)| (member, *score))
    }

    /// In order, lowest first.
    pub(crate) fn as_slice(&self) -> &[(f64, Bytes)] {
        &self.order
    }

    /// How many members are lower.
    #[must_use]
    pub fn rank(&self, member: impl AsRef<[u8]>) -> Option<usize> {
        let member = member.as_ref();
        let score = self.score(member)?;
        self.order.binary_search_by(|at| compare(at, score, member)).ok()
    }

    /// Gives `member` a score; it must not be NaN.
    #[expect(clippy::float_cmp, reason = "the very same score")]
    pub(crate) fn insert(&mut self, member: &[u8], score: f64) {
        // Of the two zeros, -0 becomes 0, as in the compact sets of Redis.
        let score = score + 0.0;
        let member: Bytes = match self.scores.get_mut(member) {
            Some(old) if *old == score => return,
            Some(old) => {
                let before = std::mem::replace(old, score);
                self.take_from_order(before, member)
            }
            None => {
                let member: Bytes = member.into();
                self.scores.insert(Arc::clone(&member), score);
                member
            }
        };
        let at = self.order.partition_point(|at| compare(at, score, &member) == Ordering::Less);
        self.order.insert(at, (score, member));
    }

    /// Whether `member` was there.
    pub(crate) fn remove(&mut self, member: &[u8]) -> bool {
        let Some(score) = self.scores.remove(member) else { return false };
        self.take_from_order(score, member);
        true
    }

    /// Removes those at these places of the order, and returns them.
    pub(crate) fn drain(&mut self, places: std::ops::Range<usize>) -> Vec<(f64, Bytes)> {
        let gone: Vec<_> = self.order.drain(places).collect();
        for (_, member) in &gone {
            self.scores.remove(member);
        }
        gone
    }

    /// The first place whose score satisfies `is_in`, in an order where all later ones do too.
    pub(crate) fn first_place(&self, is_in: impl Fn(f64) -> bool) -> usize {
        self.order.partition_point(|(score, _)| !is_in(*score))
    }

    fn take_from_order(&mut self, score: f64, member: &[u8]) -> Bytes {
        match self.order.binary_search_by(|at| compare(at, score, member)) {
            Ok(at) => self.order.remove(at).1,
            Err(_) => unreachable!("every member is in the order"),
        }
    }
}

fn compare((score, member): &(f64, Bytes), other: f64, other_member: &[u8]) -> Ordering {
    // -0 and 0 are the same score.
    score.partial_cmp(&other).unwrap_or(Ordering::Equal).then_with(|| (**member).cmp(other_member))
}
