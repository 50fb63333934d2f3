//! Texts that count.

use super::{Args, Command, Keys::First, MEMORY, command};
use crate::{
    arguments::integer,
    core::Core,
    decimal::Decimal,
    failure::{Failure, NOT_AN_INTEGER, OVERFLOW, Outcome},
    keyspace::{Kind, Text},
    number,
    reply::Reply,
};

pub(super) const COMMANDS: &[Command] = &[
    command("incr", (1, 1), MEMORY, First, |core, args| add(core, args[0], 1)),
    command("decr", (1, 1), MEMORY, First, |core, args| add(core, args[0], -1)),
    command("incrby", (2, 2), MEMORY, First, |core, args| add(core, args[0], integer(args[1])?)),
    command("decrby", (2, 2), MEMORY, First, decrby),
    command("incrbyfloat", (2, 2), MEMORY, First, incrbyfloat),
];

fn decrby(core: &mut Core, args: Args) -> Outcome {
    let by = integer(args[1])?.checked_neg();
    add(core, args[0], by.ok_or(Failure::new("ERR decrement would overflow"))?)
}

fn add(core: &mut Core, key: &[u8], by: i64) -> Outcome {
    let old = match core.read::<Text>(key)? {
        Some(text) => number::integer(text).ok_or(NOT_AN_INTEGER)?,
        None => 0,
    };
    let sum = old.checked_add(by).ok_or(OVERFLOW)?;
    core.put_keeping_expiry(key, sum.to_string().into_bytes().into_value());
    Ok(Reply::Int(sum))
}

fn incrbyfloat(core: &mut Core, args: Args) -> Outcome {
    let old = match core.read::<Text>(args[0])? {
        Some(text) => Decimal::read(text)?,
        None => Decimal::ZERO,
    };
    let sum = old.plus(Decimal::read(args[1])?)?;
    core.put_keeping_expiry(args[0], sum.clone().into_bytes().into_value());
    Ok(Reply::bulk(sum))
}
