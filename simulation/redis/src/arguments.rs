//! Reading a command's arguments.

use std::ops::Range;

use crate::{
    failure::{Failure, NOT_A_FLOAT, NOT_AN_INTEGER, SYNTAX},
    number,
};

/// An integer.
pub(crate) fn integer(text: &[u8]) -> Result<i64, Failure> {
    number::integer(text).ok_or(NOT_AN_INTEGER)
}

/// A float that is not NaN.
pub(crate) fn float(text: &[u8]) -> Result<f64, Failure> {
    number::float(text).ok_or(NOT_A_FLOAT)
}

/// Whether `text` is this word, which is in capitals.
pub(crate) fn is(text: &[u8], word: &str) -> bool {
    text.eq_ignore_ascii_case(word.as_bytes())
}

/// The word in capitals, to be matched; too long words are none.
pub(crate) fn word(text: &[u8]) -> String {
    String::from_utf8_lossy(text).to_ascii_uppercase()
}

/// Arguments that are read one after the other.
#[derive(Debug)]
pub(crate) struct Rest<'a, 'b>(pub(crate) &'b [&'a [u8]]);

// === impl Rest ===

impl<'a> Rest<'a, '_> {
    pub(crate) fn next(&mut self) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// The next one, which must be there.
    pub(crate) fn expect(&mut self) -> Result<&'a [u8], Failure> {
        self.next().ok_or(SYNTAX)
    }
}

/// The ranks of `length` members that `first` and `last` mean: from the end, if they are negative.
pub(crate) fn ranks(first: i64, last: i64, length: usize) -> Range<usize> {
    places(first, from_end(last, length), length)
}

/// The bytes or bits of a text that `first` and `last` mean: from its end, if they are negative. Unlike
/// with ranks, what ends before the beginning ends at the first.
pub(crate) fn part(first: i64, last: i64, length: usize) -> Range<usize> {
    places(first, from_end(last, length).max(0), length)
}

/// As [`part`], but backwards from the end is empty.
pub(crate) fn forward_part(first: i64, last: i64, length: usize) -> Range<usize> {
    if first < 0 && last < 0 && first > last { 0..0 } else { part(first, last, length) }
}

fn places(first: i64, last: i64, length: usize) -> Range<usize> {
    let first = from_end(first, length).max(0);
    let last = last.min(signed(length) - 1);
    if first > last {
        return 0..0;
    }
    let place = |place: i64| usize::try_from(place).unwrap_or(0);
    place(first)..place(last) + 1
}

fn from_end(place: i64, length: usize) -> i64 {
    if place < 0 { signed(length).saturating_add(place) } else { place }
}

fn signed(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}
