//! The leader's count of a line. The blocks around the serving counter are read bit by bit with every
//! tick; of the others only their counts are, chunk by chunk and by turns: what is far away changes
//! slowly and is needed less exactly.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    Crowd,
    chunk::{self, BLOCKS, chunk_of},
};

/// A chunk as it was counted: of each of its blocks, from the first on; those that are missing at the end
/// are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct ChunkCount {
    /// Which chunk.
    pub chunk: u64,
    /// Visitors who are there.
    pub there: Vec<u64>,
    /// AWS-style visitors who are not known to be there.
    pub unattended: Vec<u64>,
    /// AWS-style visitors who are.
    pub polling: Vec<u64>,
    /// Places whose visitor has entered or left.
    pub over: Vec<u64>,
}

/// A block bit by bit. The highest bit of a byte comes first; bytes that are missing at the end are
/// empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockBits {
    /// Which block, counted from the beginning of the line.
    pub block: u64,
    /// Places whose visitor has checked in.
    pub checked_in: Vec<u8>,
    /// Places of AWS-style visitors who have not entered.
    pub unattended: Vec<u8>,
    /// Places whose visitor has entered or left.
    pub over: Vec<u8>,
}

/// The counts of one line that a leader remembers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    chunks: BTreeMap<u64, Counted>,
}

#[derive(Debug, Clone, PartialEq)]
struct Counted {
    at_ms: u64,
    count: ChunkCount,
}

/// The people of a line, by what is known of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Crowds {
    /// Visitors who are there.
    pub there: Vec<Crowd>,
    /// AWS-style visitors who are not known to be there.
    pub unattended: Vec<Crowd>,
    /// AWS-style visitors who are.
    pub polling: Vec<Crowd>,
    /// Places whose visitor has entered or left.
    pub over: Vec<Crowd>,
}

// === impl Tally ===

impl Tally {
    /// Forgets everything: nobody is in line.
    pub fn clear(&mut self) {
        self.chunks.clear();
    }

    /// Takes in chunks that were counted at `now_ms`.
    pub fn take(&mut self, counted: impl IntoIterator<Item = ChunkCount>, now_ms: u64) {
        for count in counted {
            self.chunks.insert(count.chunk, Counted { at_ms: now_ms, count });
        }
    }

    /// Which chunks of the places `first..=last` to count next, up to `most` of them: first those that
    /// were never counted, then those that have not been for the longest time.
    #[must_use]
    pub fn next(&self, (first, last): (u64, u64), most: usize) -> Vec<u64> {
        let mut chunks: Vec<u64> = (chunk_of(first)..=chunk_of(last)).collect();
        chunks.sort_by_key(|chunk| self.chunks.get(chunk).map(|counted| counted.at_ms));
        chunks.truncate(most);
        chunks
    }

    /// Whether every chunk of the places `first..=last` was counted.
    #[must_use]
    pub fn is_complete(&self, (first, last): (u64, u64)) -> bool {
        (chunk_of(first)..=chunk_of(last)).all(|chunk| self.chunks.contains_key(&chunk))
    }

    /// Everyone in the places `first..=last`, by the bits of the blocks `near`, and by what was last
    /// counted of the others.
    #[must_use]
    pub fn crowds(&self, (first, last): (u64, u64), near: &[BlockBits]) -> Crowds {
        let mut crowds = Crowds::default();
        for bits in near {
            crowds.add_bits(bits, (first, last));
        }
        for (chunk, counted) in &self.chunks {
            for (nth, block) in (0..).zip(chunk * BLOCKS..(chunk + 1) * BLOCKS) {
                let (begins, ends) = chunk::places_of(block);
                let places = (begins.max(first), ends.min(last));
                if places.0 <= places.1 && !near.iter().any(|bits| bits.block == block) {
                    crowds.add_count(&counted.count, nth, places);
                }
            }
        }
        crowds
    }
}

// === impl Crowds ===

impl Crowds {
    fn add_count(&mut self, count: &ChunkCount, nth: usize, (first, last): (u64, u64)) {
        let add = |crowds: &mut Vec<Crowd>, people: &[u64]| {
            #[expect(clippy::cast_precision_loss, reason = "people in a block")]
            let count = people.get(nth).copied().unwrap_or(0) as f64;
            if count > 0.0 {
                crowds.push(Crowd { first, last, count });
            }
        };
        add(&mut self.there, &count.there);
        add(&mut self.unattended, &count.unattended);
        add(&mut self.polling, &count.polling);
        add(&mut self.over, &count.over);
    }

    fn add_bits(&mut self, bits: &BlockBits, places: (u64, u64)) {
        let BlockBits { block, checked_in, unattended, over } = bits;
        let (begins, _) = chunk::places_of(*block);
        let there = without(checked_in, over);
        let silent = without(unattended, checked_in);
        self.there.extend(runs(&there, begins, places));
        self.unattended.extend(runs(&silent, begins, places));
        self.polling.extend(runs(&without(unattended, &silent), begins, places));
        self.over.extend(runs(over, begins, places));
    }
}

/// The bits of `bits` that `taken` does not have.
fn without(bits: &[u8], taken: &[u8]) -> Vec<u8> {
    let taken = taken.iter().copied().chain(std::iter::repeat(0));
    bits.iter().zip(taken).map(|(byte, taken)| byte & !taken).collect()
}

/// Each run of bits that are set, as a crowd, within the places `first..=last`. The first bit is that of
/// place `begins`.
fn runs(bits: &[u8], begins: u64, (first, last): (u64, u64)) -> Vec<Crowd> {
    let mut crowds: Vec<Crowd> = Vec::new();
    let occupied = (begins..).step_by(8).zip(bits).filter(|(_, byte)| **byte != 0);
    for (at, byte) in occupied {
        let set = (0..8).filter(|bit| byte >> (7 - bit) & 1 == 1).map(|bit| at + bit);
        for place in set.filter(|place| (first..=last).contains(place)) {
            match crowds.last_mut() {
                Some(run) if run.last + 1 == place => {
                    (run.last, run.count) = (place, run.count + 1.0);
                }
                _ => crowds.push(Crowd { first: place, last: place, count: 1.0 }),
            }
        }
    }
    crowds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::presence::{Presence, chunk::BLOCK_PLACES};

    fn counted(chunk: u64, there: &[u64]) -> ChunkCount {
        ChunkCount { chunk, there: there.to_vec(), ..ChunkCount::default() }
    }

    #[test]
    fn chunks_are_counted_by_turns() {
        let mut tally = Tally::default();
        let line = (1, 3 * chunk::CHUNK_PLACES);
        assert_eq!(tally.next(line, 2), [0, 1]);
        tally.take([counted(0, &[]), counted(1, &[])], 1_000);
        assert!(!tally.is_complete(line));
        assert_eq!(tally.next(line, 3), [2, 3, 0], "first those that nobody has counted");
        tally.take([counted(2, &[]), counted(3, &[]), counted(0, &[])], 2_000);
        assert!(tally.is_complete(line));
        assert_eq!(tally.next(line, 1), [1]);
    }

    #[test]
    fn near_blocks_are_exact_and_others_are_spread() {
        let mut tally = Tally::default();
        tally.take([counted(0, &[5, 816])], 1_000);
        let bits = BlockBits {
            block: 0,
            checked_in: vec![0b0111_1000, 0b0000_0001],
            over: vec![0b0010_0000],
            unattended: vec![0b0000_1111],
        };
        let crowds = tally.crowds((1, 2 * BLOCK_PLACES - 1), &[bits]);
        let one = |place| Crowd { first: place, last: place, count: 1.0 };
        let pair = |first| Crowd { first, last: first + 1, count: 2.0 };
        let three = Crowd { first: 5, last: 7, count: 3.0 };
        let far = Crowd { first: BLOCK_PLACES, last: 2 * BLOCK_PLACES - 1, count: 816.0 };
        assert_eq!(crowds.there, [one(1), pair(3), one(15), far]);
        assert_eq!(crowds.unattended[0], three, "4 has checked in");
        assert_eq!(crowds.over[0], one(2));
        let there = Presence::new(&crowds.there);
        assert!((there.between(0, BLOCK_PLACES + 99) - 14.0).abs() < 1e-9);
    }

    #[test]
    fn places_beyond_the_line_are_cut() {
        let bits = BlockBits { checked_in: vec![0xff, 0xff], ..BlockBits::default() };
        let crowds = Tally::default().crowds((3, 9), &[bits]);
        assert_eq!(crowds.there, [Crowd { first: 3, last: 9, count: 7.0 }]);
    }
}
