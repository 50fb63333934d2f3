//! Sorted sets: ranges by rank and by score.

use std::ops::Range;

use super::{Args, Command, Keys::First, MANY, READ, command, score_range::ScoreRange};
use crate::{
    arguments::{Rest, integer, ranks, word},
    core::Core,
    failure::{Failure, Outcome, SYNTAX},
    reply::{Bytes, Reply},
    sorted_set::SortedSet,
};

pub(super) const COMMANDS: &[Command] = &[
    command("zrange", (3, MANY), READ, First, |core, args| range(core, args, Form(None, None))),
    command("zrevrange", (3, MANY), READ, First, |core, args| {
        range(core, args, Form(Some(By::Rank), Some(true)))
    }),
    command("zrangebyscore", (3, MANY), READ, First, |core, args| {
        range(core, args, Form(Some(By::Score), Some(false)))
    }),
    command("zrevrangebyscore", (3, MANY), READ, First, |core, args| {
        range(core, args, Form(Some(By::Score), Some(true)))
    }),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Rank,
    Score,
}

/// By what, and whether backwards; an option says what a command leaves open.
#[derive(Clone, Copy)]
struct Form(Option<By>, Option<bool>);

struct Options {
    by: By,
    backwards: bool,
    with_scores: bool,
    skip: i64,
    /// Negative: no limit.
    limit: i64,
}

// === impl Options ===

impl Options {
    fn read(form: Form, args: Args) -> Result<Self, Failure> {
        let Form(mut by, mut backwards) = form;
        let (mut with_scores, mut skip, mut limit) = (false, 0, -1);
        let mut rest = Rest(args);
        while let Some(option) = rest.next() {
            match word(option).as_str() {
                "WITHSCORES" => with_scores = true,
                "LIMIT" => {
                    let (first, second) = (rest.expect()?, rest.expect()?);
                    (skip, limit) = (integer(first)?, integer(second)?);
                }
                "REV" if backwards.is_none() => backwards = Some(true),
                "BYSCORE" if by.is_none() => by = Some(By::Score),
                _ => return Err(SYNTAX),
            }
        }
        let by = by.unwrap_or(By::Rank);
        if by == By::Rank && limit != -1 {
            return Err(Failure::new(
                "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or \
                 BYLEX",
            ));
        }
        Ok(Self { by, backwards: backwards.unwrap_or(false), with_scores, skip, limit })
    }

    /// The places in `set`, from the lowest.
    fn places(&self, set: &SortedSet, ends: &Ends) -> Range<usize> {
        let found = match ends {
            Ends::Ranks(first, last) => ranks(*first, *last, set.len()),
            Ends::Scores(range) => range.places(set),
        };
        match ends {
            Ends::Ranks(..) if self.backwards => set.len() - found.end..set.len() - found.start,
            Ends::Ranks(..) => found,
            Ends::Scores(_) => self.limited(found),
        }
    }

    fn limited(&self, found: Range<usize>) -> Range<usize> {
        let Ok(skip) = usize::try_from(self.skip) else { return 0..0 };
        let length = found.len().saturating_sub(skip);
        let length = usize::try_from(self.limit).map_or(length, |limit| length.min(limit));
        if length == 0 {
            return 0..0;
        }
        if self.backwards {
            let end = found.end - skip;
            return end - length..end;
        }
        let start = found.start + skip;
        start..start + length
    }
}

enum Ends {
    Ranks(i64, i64),
    Scores(ScoreRange),
}

fn range(core: &mut Core, args: Args, form: Form) -> Outcome {
    let options = Options::read(form, &args[3..])?;
    let ends = match options.by {
        By::Rank => Ends::Ranks(integer(args[1])?, integer(args[2])?),
        By::Score if options.backwards => Ends::Scores(ScoreRange::read(core, args[2], args[1])?),
        By::Score => Ends::Scores(ScoreRange::read(core, args[1], args[2])?),
    };
    let Some(set) = core.read::<SortedSet>(args[0])? else { return Ok(Reply::Array(vec![])) };
    let found = &set.as_slice()[options.places(set, &ends)];
    Ok(if options.backwards {
        members(core, found.iter().rev(), options.with_scores)
    } else {
        members(core, found.iter(), options.with_scores)
    })
}

/// Members as they are answered.
pub(super) fn members<'a>(
    core: &Core,
    members: impl Iterator<Item = &'a (f64, Bytes)>,
    with_scores: bool,
) -> Reply {
    let mut all = Vec::with_capacity(members.size_hint().0 * if with_scores { 2 } else { 1 });
    for (score, member) in members {
        all.push(Reply::Bulk(member.clone()));
        if with_scores {
            all.push(core.float(*score));
        }
    }
    Reply::Array(all)
}
