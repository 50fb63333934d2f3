//! Fields of hashes that count.

use super::{Args, Command, Keys::First, MEMORY, command, hashes::put};
use crate::{
    arguments::integer,
    core::Core,
    decimal::Decimal,
    failure::{Failure, OVERFLOW, Outcome},
    keyspace::Hash,
    number,
    reply::Reply,
};

pub(super) const COMMANDS: &[Command] = &[
    command("hincrby", (3, 3), MEMORY, First, hincrby),
    command("hincrbyfloat", (3, 3), MEMORY, First, hincrbyfloat),
];

fn hincrby(core: &mut Core, args: Args) -> Outcome {
    let by = integer(args[2])?;
    let hash = core.write::<Hash>(args[0])?;
    let sum = match hash.get(args[1]) {
        Some(text) => {
            let old =
                number::integer(text).ok_or(Failure::new("ERR hash value is not an integer"))?;
            old.checked_add(by).ok_or(OVERFLOW)?
        }
        None => by,
    };
    put(hash, args[1], sum.to_string().as_bytes());
    Ok(Reply::Int(sum))
}

fn hincrbyfloat(core: &mut Core, args: Args) -> Outcome {
    let by = Decimal::read(args[2])?;
    if !by.is_finite() {
        return Err(Failure::new("ERR value is NaN or Infinity"));
    }
    let hash = core.write::<Hash>(args[0])?;
    let old = match hash.get(args[1]) {
        Some(text) => {
            Decimal::read(text).map_err(|_| Failure::new("ERR hash value is not a float"))?
        }
        None => Decimal::ZERO,
    };
    let sum = old.plus(by)?;
    put(hash, args[1], sum.as_bytes());
    Ok(Reply::bulk(sum))
}
