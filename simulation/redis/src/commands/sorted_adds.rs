//! Sorted sets: adding members and changing scores.

use super::{Args, Command, Keys::First, MANY, MEMORY, command};
use crate::{
    arguments::{float, word},
    core::Core,
    failure::{Failure, Outcome, SYNTAX},
    reply::Reply,
    sorted_set::SortedSet,
};

pub(super) const COMMANDS: &[Command] = &[
    command("zadd", (3, MANY), MEMORY, First, zadd),
    command("zincrby", (3, 3), MEMORY, First, zincrby),
];

/// The options of ZADD.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "one for each option")]
struct Adds {
    only_new: bool,
    only_existing: bool,
    only_higher: bool,
    only_lower: bool,
    counts_changes: bool,
    increments: bool,
}

/// What became of one member.
enum Added {
    New(f64),
    Changed(f64),
    Same(f64),
    /// The options did not let it.
    Kept,
}

// === impl Adds ===

impl Adds {
    /// The options, and what follows them.
    fn read<'a, 'b>(mut args: Args<'a, 'b>) -> (Self, Args<'a, 'b>) {
        let mut read = Self::default();
        while let [option, rest @ ..] = args {
            match word(option).as_str() {
                "NX" => read.only_new = true,
                "XX" => read.only_existing = true,
                "GT" => read.only_higher = true,
                "LT" => read.only_lower = true,
                "CH" => read.counts_changes = true,
                "INCR" => read.increments = true,
                _ => break,
            }
            args = rest;
        }
        (read, args)
    }

    fn check(self, members: usize) -> Result<(), Failure> {
        let wrong = if self.only_new && self.only_existing {
            "ERR XX and NX options at the same time are not compatible"
        } else if u8::from(self.only_new) + u8::from(self.only_higher) + u8::from(self.only_lower)
            > 1
        {
            "ERR GT, LT, and/or NX options at the same time are not compatible"
        } else if self.increments && members > 1 {
            "ERR INCR option supports a single increment-element pair"
        } else {
            return Ok(());
        };
        Err(Failure::new(wrong))
    }

    #[expect(clippy::float_cmp, reason = "the very same score")]
    fn add(self, set: &mut SortedSet, member: &[u8], score: f64) -> Result<Added, Failure> {
        let Some(old) = set.score(member) else {
            if self.only_existing {
                return Ok(Added::Kept);
            }
            set.insert(member, score);
            return Ok(Added::New(score));
        };
        if self.only_new {
            return Ok(Added::Kept);
        }
        let new = if self.increments { old + score } else { score };
        if new.is_nan() {
            return Err(Failure::new("ERR resulting score is not a number (NaN)"));
        }
        if (self.only_lower && new >= old) || (self.only_higher && new <= old) {
            return Ok(Added::Kept);
        }
        if new == old {
            return Ok(Added::Same(new));
        }
        set.insert(member, new);
        Ok(Added::Changed(new))
    }
}

fn zadd(core: &mut Core, args: Args) -> Outcome {
    let (adds, rest) = Adds::read(&args[1..]);
    let (pairs, []) = rest.as_chunks::<2>() else { return Err(SYNTAX) };
    if pairs.is_empty() {
        return Err(SYNTAX);
    }
    adds.check(pairs.len())?;
    add_all(core, args[0], pairs, adds)
}

fn zincrby(core: &mut Core, args: Args) -> Outcome {
    let adds = Adds { increments: true, ..Adds::default() };
    add_all(core, args[0], &[[args[1], args[2]]], adds)
}

fn add_all(core: &mut Core, key: &[u8], pairs: &[[&[u8]; 2]], adds: Adds) -> Outcome {
    let mut scores = Vec::with_capacity(pairs.len());
    for [score, _] in pairs {
        scores.push(float(score)?);
    }
    let exists = core.read::<SortedSet>(key)?.is_some();
    if !exists && adds.only_existing {
        return Ok(if adds.increments { Reply::Nil } else { Reply::Int(0) });
    }
    let set = core.write::<SortedSet>(key)?;
    let (mut new, mut changed, mut last) = (0, 0, None);
    for ([_, member], score) in pairs.iter().zip(scores) {
        last = match adds.add(set, member, score)? {
            Added::New(score) => {
                new += 1;
                Some(score)
            }
            Added::Changed(score) => {
                changed += 1;
                Some(score)
            }
            Added::Same(score) => Some(score),
            Added::Kept => None,
        };
    }
    if adds.increments {
        return Ok(last.map_or(Reply::Nil, |score| core.float(score)));
    }
    Ok(Reply::count(if adds.counts_changes { new + changed } else { new }))
}
