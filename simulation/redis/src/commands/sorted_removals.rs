//! Sorted sets: removing members.

use super::{
    Args, Command, Keys::First, MANY, WRITE, command, score_range::ScoreRange,
    sorted_ranges::members,
};
use crate::{
    arguments::{integer, ranks},
    core::Core,
    failure::{Failure, Outcome, SYNTAX},
    number,
    reply::Reply,
    sorted_set::SortedSet,
};

pub(super) const COMMANDS: &[Command] = &[
    command("zrem", (2, MANY), WRITE, First, zrem),
    command("zremrangebyrank", (3, 3), WRITE, First, zremrangebyrank),
    command("zremrangebyscore", (3, 3), WRITE, First, zremrangebyscore),
    command("zpopmin", (1, MANY), WRITE, First, |core, args| pop(core, args, false)),
    command("zpopmax", (1, MANY), WRITE, First, |core, args| pop(core, args, true)),
];

fn zrem(core: &mut Core, args: Args) -> Outcome {
    let gone = core.take_from(args[0], 0, |set: &mut SortedSet| {
        args[1..].iter().filter(|member| set.remove(member)).count()
    })?;
    Ok(Reply::count(gone))
}

fn zremrangebyrank(core: &mut Core, args: Args) -> Outcome {
    let (first, last) = (integer(args[1])?, integer(args[2])?);
    let gone = core.take_from(args[0], 0, |set: &mut SortedSet| {
        set.drain(ranks(first, last, set.len())).len()
    })?;
    Ok(Reply::count(gone))
}

fn zremrangebyscore(core: &mut Core, args: Args) -> Outcome {
    let range = ScoreRange::read(core, args[1], args[2])?;
    let gone =
        core.take_from(args[0], 0, |set: &mut SortedSet| set.drain(range.places(set)).len())?;
    Ok(Reply::count(gone))
}

fn pop(core: &mut Core, args: Args, from_the_top: bool) -> Outcome {
    if args.len() > 2 {
        return Err(SYNTAX);
    }
    let count = match args.get(1) {
        Some(count) => number::integer(count)
            .and_then(|count| usize::try_from(count).ok())
            .ok_or(Failure::new("ERR value is out of range, must be positive"))?,
        None => 1,
    };
    let mut gone = core.take_from(args[0], vec![], |set: &mut SortedSet| {
        let (length, count) = (set.len(), count.min(set.len()));
        set.drain(if from_the_top { length - count..length } else { 0..count })
    })?;
    if from_the_top {
        gone.reverse();
    }
    Ok(members(core, gone.iter(), true))
}
