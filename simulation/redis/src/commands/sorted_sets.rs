//! Sorted sets: scores, ranks and counts.

use super::{Args, Command, Keys::First, MANY, NEWER_FORM, READ, command, score_range::ScoreRange};
use crate::{
    arguments::is,
    core::Core,
    failure::{Failure, Outcome, SYNTAX},
    reply::Reply,
    sorted_set::SortedSet,
};

pub(super) const COMMANDS: &[Command] = &[
    command("zscore", (2, 2), READ, First, zscore),
    command("zmscore", (2, MANY), READ, First, zmscore),
    command("zcard", (1, 1), READ, First, zcard),
    command("zcount", (3, 3), READ, First, zcount),
    command("zrank", (2, MANY), READ.and(NEWER_FORM), First, |core, args| {
        rank(core, args, "zrank", false)
    }),
    command("zrevrank", (2, MANY), READ.and(NEWER_FORM), First, |core, args| {
        rank(core, args, "zrevrank", true)
    }),
];

fn score(core: &Core, set: Option<&SortedSet>, member: &[u8]) -> Reply {
    set.and_then(|set| set.score(member)).map_or(Reply::Nil, |score| core.float(score))
}

fn zscore(core: &mut Core, args: Args) -> Outcome {
    Ok(score(core, core.read(args[0])?, args[1]))
}

fn zmscore(core: &mut Core, args: Args) -> Outcome {
    let set = core.read(args[0])?;
    Ok(Reply::Array(args[1..].iter().map(|member| score(core, set, member)).collect()))
}

fn zcard(core: &mut Core, args: Args) -> Outcome {
    Ok(Reply::count(core.read(args[0])?.map_or(0, SortedSet::len)))
}

fn zcount(core: &mut Core, args: Args) -> Outcome {
    let range = ScoreRange::read(core, args[1], args[2])?;
    Ok(Reply::count(core.read(args[0])?.map_or(0, |set| range.places(set).len())))
}

/// The score with the rank is new in Valkey.
fn rank(core: &mut Core, args: Args, name: &str, from_the_top: bool) -> Outcome {
    let with_score = match &args[2..] {
        [] => false,
        [option] if is(option, "WITHSCORE") => true,
        [_] => return Err(SYNTAX),
        _ => return Err(Failure::wrong_arity(name)),
    };
    let set = core.read::<SortedSet>(args[0])?;
    let found = set.and_then(|set| Some((set, set.rank(args[1])?)));
    let Some((set, below)) = found else {
        return Ok(Reply::Nil);
    };
    let rank = Reply::count(if from_the_top { set.len() - 1 - below } else { below });
    Ok(if with_score { Reply::Array(vec![rank, score(core, Some(set), args[1])]) } else { rank })
}
