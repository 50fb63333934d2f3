//! A range of scores, as ZCOUNT and others are given it: `1`, `(1`, `-inf`.

use std::ops::Range;

use crate::{core::Core, failure::Failure, options::Dialect, sorted_set::SortedSet};

/// A range of scores.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScoreRange {
    lowest: End,
    highest: End,
}

/// An end of it, and whether it is left out.
#[derive(Debug, Clone, Copy)]
struct End {
    score: f64,
    is_out: bool,
}

// === impl ScoreRange ===

impl ScoreRange {
    pub(super) fn read(core: &Core, lowest: &[u8], highest: &[u8]) -> Result<Self, Failure> {
        let dialect = core.options.dialect;
        let read = |text| End::read(text, dialect);
        let both = read(lowest).zip(read(highest));
        let (lowest, highest) = both.ok_or(Failure::new("ERR min or max is not a float"))?;
        Ok(Self { lowest, highest })
    }

    /// The places of its members, from the lowest.
    pub(super) fn places(&self, set: &SortedSet) -> Range<usize> {
        let Self { lowest, highest } = *self;
        let first = set.first_place(|score| {
            if lowest.is_out { score > lowest.score } else { score >= lowest.score }
        });
        let end = set.first_place(|score| {
            if highest.is_out { score >= highest.score } else { score > highest.score }
        });
        first..end.max(first)
    }
}

// === impl End ===

impl End {
    fn read(text: &[u8], dialect: Dialect) -> Option<Self> {
        let (is_out, number) = match text {
            [b'(', rest @ ..] => (true, rest),
            all => (false, all),
        };
        let number = std::str::from_utf8(number).ok()?;
        // As C's strtod: spaces before it do not matter, and nothing is 0.
        let number = match dialect {
            Dialect::Redis7 => number.trim_ascii_start(),
            Dialect::Valkey9 => number,
        };
        let score: f64 = if number.is_empty() { 0.0 } else { number.parse().ok()? };
        (!score.is_nan()).then_some(Self { score, is_out })
    }
}
