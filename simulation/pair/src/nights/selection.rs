//! Which nights are played, and what is left of one after parts of it were left out, by hand or to make
//! it small.

use std::{fmt, ops::Range, str::FromStr};

use crate::Scenario;

/// Seeds of nights, one after the other. As text: `1000` for the first so many, or `7..9`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seeds(pub Range<u64>);

/// Parts of a night by their numbers. As text: `3,17`, or `none`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbers(Vec<u64>);

/// What is left of a night; `None`: everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// It ends then, ms.
    pub until_ms: Option<u64>,
    /// Only these faults.
    pub faults: Option<Numbers>,
    /// Only these operations.
    pub operations: Option<Numbers>,
    /// Only these visitors.
    pub visitors: Option<Numbers>,
}

// === impl Seeds ===

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            text.trim().parse::<u64>().map_err(|_| "expected N or FROM..TO, as in 1000".to_owned())
        };
        let seeds = match text.split_once("..") {
            Some((from, to)) => number(from)?..number(to)?,
            None => 0..number(text)?,
        };
        if seeds.is_empty() { Err("there is no seed in it".to_owned()) } else { Ok(Self(seeds)) }
    }
}

// === impl Numbers ===

impl Numbers {
    fn keep<T>(only: Option<&Self>, parts: &mut Vec<T>, number: impl Fn(&T) -> u64) {
        parts.retain(|part| only.is_none_or(|only| only.0.contains(&number(part))));
    }

    /// Those of `left`, if anything is missing of `drawn`.
    fn left<T>(left: &[T], drawn: &[T], number: impl Fn(&T) -> u64) -> Option<Self> {
        (left.len() != drawn.len()).then(|| Self(left.iter().map(number).collect()))
    }
}

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "none" {
            return Ok(Self(Vec::new()));
        }
        let number = |text: &str| {
            text.trim().parse().map_err(|_| "expected numbers, as in 3,17, or none".to_owned())
        };
        Ok(Self(text.split(',').map(number).collect::<Result<_, _>>()?))
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(if numbers.is_empty() { "none".to_owned() } else { numbers.join(",") }.as_str())
    }
}

// === impl Selection ===

impl Selection {
    /// Leaves out of `night` what is not selected.
    pub fn select(&self, night: &mut Scenario) {
        Numbers::keep(self.faults.as_ref(), &mut night.faults, |one| one.number);
        Numbers::keep(self.operations.as_ref(), &mut night.operations, |one| one.number);
        Numbers::keep(self.visitors.as_ref(), &mut night.cast.0, |one| one.number);
        night.length_ms = night.length_ms.min(self.until_ms.unwrap_or(u64::MAX));
    }

    /// What makes `left` of the night that was `drawn`.
    #[must_use]
    pub fn between(drawn: &Scenario, left: &Scenario) -> Self {
        Self {
            until_ms: (left.length_ms != drawn.length_ms).then_some(left.length_ms),
            faults: Numbers::left(&left.faults, &drawn.faults, |one| one.number),
            operations: Numbers::left(&left.operations, &drawn.operations, |one| one.number),
            visitors: Numbers::left(&left.cast.0, &drawn.cast.0, |one| one.number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Seed, Shape};

    #[test]
    fn seeds_are_a_count_or_a_range() {
        assert_eq!("1000".parse(), Ok(Seeds(0..1000)));
        assert_eq!("7..9".parse(), Ok(Seeds(7..9)));
        for text in ["", "x", "0", "9..9", "1-5"] {
            assert!(text.parse::<Seeds>().is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_may_be_none() {
        for text in ["none", "3,17"] {
            assert_eq!(text.parse::<Numbers>().unwrap().to_string(), text);
        }
        assert!("all".parse::<Numbers>().is_err());
    }

    #[test]
    fn what_was_left_out_of_a_night_is_left_out_again() {
        let drawn = Scenario::draw(Seed(7), &Shape::default());
        assert_eq!(Selection::between(&drawn, &drawn), Selection::default());
        let mut left = drawn.clone();
        left.faults.clear();
        left.cast.0.retain(|part| part.number % 3 == 1);
        left.length_ms = 9_000;
        let mut again = drawn.clone();
        Selection::between(&drawn, &left).select(&mut again);
        assert_eq!(format!("{again:?}"), format!("{left:?}"));
        assert_eq!(again.operations, drawn.operations);
    }
}
