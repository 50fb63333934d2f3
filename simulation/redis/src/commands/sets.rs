//! Sets.

use super::{Args, Command, Keys::First, MANY, MEMORY, READ, WRITE, command};
use crate::{core::Core, failure::Outcome, keyspace::Set, reply::Reply};

pub(super) const COMMANDS: &[Command] = &[
    command("sadd", (2, MANY), MEMORY, First, sadd),
    command("srem", (2, MANY), WRITE, First, srem),
    command("sismember", (2, 2), READ, First, sismember),
    command("smismember", (2, MANY), READ, First, smismember),
    command("smembers", (1, 1), READ, First, smembers),
    command("scard", (1, 1), READ, First, scard),
];

fn sadd(core: &mut Core, args: Args) -> Outcome {
    let set = core.write::<Set>(args[0])?;
    let before = set.len();
    for member in &args[1..] {
        if !set.contains(*member) {
            set.insert((*member).into());
        }
    }
    Ok(Reply::count(set.len() - before))
}

fn srem(core: &mut Core, args: Args) -> Outcome {
    let gone = core.take_from(args[0], 0, |set: &mut Set| {
        args[1..].iter().filter(|member| set.swap_remove(**member)).count()
    })?;
    Ok(Reply::count(gone))
}

fn sismember(core: &mut Core, args: Args) -> Outcome {
    let set = core.read::<Set>(args[0])?;
    Ok(Reply::flag(set.is_some_and(|set| set.contains(args[1]))))
}

fn smismember(core: &mut Core, args: Args) -> Outcome {
    let set = core.read::<Set>(args[0])?;
    let one = |member: &&[u8]| Reply::flag(set.is_some_and(|set| set.contains(*member)));
    Ok(Reply::Array(args[1..].iter().map(one).collect()))
}

fn smembers(core: &mut Core, args: Args) -> Outcome {
    let set = core.read::<Set>(args[0])?.into_iter();
    Ok(Reply::Array(set.flatten().map(|member| Reply::Bulk(member.clone())).collect()))
}

fn scard(core: &mut Core, args: Args) -> Outcome {
    Ok(Reply::count(core.read::<Set>(args[0])?.map_or(0, Set::len)))
}
