//! Hashes.

use std::sync::Arc;

use super::{Args, Command, Keys::First, MANY, MEMORY, READ, WRITE, command};
use crate::{
    core::Core,
    failure::{Failure, Outcome, SYNTAX},
    keyspace::Hash,
    reply::Reply,
};

pub(super) const COMMANDS: &[Command] = &[
    command("hset", (3, MANY), MEMORY, First, hset),
    command("hmset", (3, MANY), MEMORY, First, hmset),
    command("hsetnx", (3, 3), MEMORY, First, hsetnx),
    command("hget", (2, 2), READ, First, hget),
    command("hmget", (2, MANY), READ, First, hmget),
    command("hgetall", (1, 1), READ, First, hgetall),
    command("hkeys", (1, 1), READ, First, hkeys),
    command("hvals", (1, 1), READ, First, hvals),
    command("hlen", (1, 1), READ, First, hlen),
    command("hexists", (2, 2), READ, First, hexists),
    command("hstrlen", (2, 2), READ, First, hstrlen),
    command("hscan", (2, 4), READ, First, hscan),
    command("hdel", (2, MANY), WRITE, First, hdel),
];

fn hset(core: &mut Core, args: Args) -> Outcome {
    Ok(Reply::count(set(core, args, "hset")?))
}

fn hmset(core: &mut Core, args: Args) -> Outcome {
    set(core, args, "hmset")?;
    Ok(Reply::Ok)
}

/// How many fields are new.
fn set(core: &mut Core, args: Args, name: &str) -> Result<usize, Failure> {
    let (fields, []) = args[1..].as_chunks::<2>() else { return Err(Failure::wrong_arity(name)) };
    let hash = core.write::<Hash>(args[0])?;
    let before = hash.len();
    for [field, value] in fields {
        put(hash, field, value);
    }
    Ok(hash.len() - before)
}

/// Sets one field.
pub(super) fn put(hash: &mut Hash, field: &[u8], value: &[u8]) {
    match hash.get_mut(field) {
        Some(old) => *old = value.into(),
        None => {
            hash.insert(field.into(), value.into());
        }
    }
}

fn hsetnx(core: &mut Core, args: Args) -> Outcome {
    let hash = core.write::<Hash>(args[0])?;
    let is_new = !hash.contains_key(args[1]);
    if is_new {
        put(hash, args[1], args[2]);
    }
    Ok(Reply::flag(is_new))
}

fn hget(core: &mut Core, args: Args) -> Outcome {
    let hash = core.read::<Hash>(args[0])?;
    Ok(Reply::text_or_nil(hash.and_then(|hash| hash.get(args[1]))))
}

fn hmget(core: &mut Core, args: Args) -> Outcome {
    let hash = core.read::<Hash>(args[0])?;
    let one = |field: &&[u8]| Reply::text_or_nil(hash.and_then(|hash| hash.get(*field)));
    Ok(Reply::Array(args[1..].iter().map(one).collect()))
}

fn hgetall(core: &mut Core, args: Args) -> Outcome {
    let Some(hash) = core.read::<Hash>(args[0])? else { return Ok(Reply::Array(vec![])) };
    let mut all = Vec::with_capacity(2 * hash.len());
    for (field, value) in hash {
        all.push(Reply::Bulk(Arc::clone(field)));
        all.push(Reply::Bulk(Arc::clone(value)));
    }
    Ok(Reply::Array(all))
}

/// All of it in one page, as of a small hash: the cursor is 0, `COUNT` is a hint.
fn hscan(core: &mut Core, args: Args) -> Outcome {
    if !matches!(args[2..], [] | [_, _]) {
        return Err(SYNTAX);
    }
    let all = hgetall(core, &args[..1])?;
    Ok(Reply::Array(vec![Reply::Bulk(b"0".as_slice().into()), all]))
}

fn hkeys(core: &mut Core, args: Args) -> Outcome {
    let hash = core.read::<Hash>(args[0])?.into_iter();
    Ok(Reply::Array(
        hash.flat_map(Hash::keys).map(|field| Reply::Bulk(Arc::clone(field))).collect(),
    ))
}

fn hvals(core: &mut Core, args: Args) -> Outcome {
    let hash = core.read::<Hash>(args[0])?.into_iter();
    let values = hash.flat_map(Hash::values);
    Ok(Reply::Array(values.map(|value| Reply::Bulk(Arc::clone(value))).collect()))
}

fn hlen(core: &mut Core, args: Args) -> Outcome {
    Ok(Reply::count(core.read::<Hash>(args[0])?.map_or(0, Hash::len)))
}

fn hexists(core: &mut Core, args: Args) -> Outcome {
    let hash = core.read::<Hash>(args[0])?;
    Ok(Reply::flag(hash.is_some_and(|hash| hash.contains_key(args[1]))))
}

fn hstrlen(core: &mut Core, args: Args) -> Outcome {
    let hash = core.read::<Hash>(args[0])?;
    Ok(Reply::count(hash.and_then(|hash| hash.get(args[1])).map_or(0, |value| value.len())))
}

fn hdel(core: &mut Core, args: Args) -> Outcome {
    let gone = core.take_from(args[0], 0, |hash: &mut Hash| {
        args[1..].iter().filter(|field| hash.swap_remove(**field).is_some()).count()
    })?;
    Ok(Reply::count(gone))
}
