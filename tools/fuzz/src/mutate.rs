//! Changes to an input: of bits and bytes, of pieces, and by the words of its format. The same seed gives the same changes.

use rand_xoshiro::{
    Xoshiro256PlusPlus,
    rand_core::{RngCore, SeedableRng},
};

use crate::Target;

/// The longest input that is made.
const LONGEST: usize = 4_096;
/// The most changes to one input.
const MOST: usize = 6;

/// Makes inputs of others.
#[derive(Debug)]
pub struct Mutator {
    chance: Xoshiro256PlusPlus,
}

// === impl Mutator ===

impl Mutator {
    /// A mutator that makes the same of the same.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { chance: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// One of the corpus, changed a few times; now and then joined from two of them.
    ///
    /// # Panics
    /// If the corpus is empty.
    #[must_use]
    pub fn next(&mut self, target: &Target, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut input = corpus[self.below(corpus.len())].clone();
        for _ in 0..=self.below(MOST) {
            self.change(target, &mut input, corpus);
        }
        input.truncate(LONGEST);
        input
    }

    fn change(&mut self, target: &Target, input: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        let at = self.below(input.len() + 1);
        let end = (at + self.below(9)).min(input.len());
        match self.below(9) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 if at < input.len() => input[at] = self.byte(),
            2 => input.insert(at, self.byte()),
            3 => drop(input.drain(at..end)),
            4 => {
                let piece = input[at..end].to_vec();
                drop(input.splice(at..at, piece));
            }
            5 => {
                let other = &corpus[self.below(corpus.len())];
                let from = self.below(other.len() + 1);
                drop(input.splice(at.., other[from..].iter().copied()));
            }
            6 => input.truncate(at),
            _ if target.words.is_empty() => input.push(self.byte()),
            kind => {
                let word = target.words[self.below(target.words.len())];
                let until = if kind == 7 { at } else { end };
                drop(input.splice(at..until, word.bytes()));
            }
        }
    }

    /// Printable, as most of what is read, or any.
    fn byte(&mut self) -> u8 {
        let any = self.chance.next_u64().to_le_bytes()[0];
        if self.below(4) == 0 { any } else { b' ' + any % 95 }
    }

    fn below(&mut self, end: usize) -> usize {
        let drawn = self.chance.next_u64() % (end.max(1) as u64);
        usize::try_from(drawn).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TARGETS;

    #[test]
    fn the_same_seed_makes_the_same() {
        let corpus = vec![b"/sale/open/x".to_vec(), b"/sale".to_vec()];
        let made = |seed| {
            let mut mutator = Mutator::new(seed);
            (0..100).map(|_| mutator.next(&TARGETS[0], &corpus)).collect::<Vec<_>>()
        };
        assert_eq!(made(1), made(1));
        assert_ne!(made(1), made(2));
    }
}
