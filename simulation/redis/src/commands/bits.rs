//! Bitmaps: single bits, and operations on whole ones.

use super::{
    Args, Command,
    Keys::{AfterFirst, First},
    MANY, MEMORY, READ, command,
};
use crate::{
    arguments::word,
    core::Core,
    failure::{Failure, Outcome, SYNTAX},
    keyspace::Text,
    number,
    reply::Reply,
};

pub(super) const COMMANDS: &[Command] = &[
    command("setbit", (3, 3), MEMORY, First, setbit),
    command("getbit", (2, 2), READ, First, getbit),
    command("bitop", (3, MANY), MEMORY, AfterFirst, bitop),
];

/// Of the bit at `offset`: its byte, and how far it is from the lowest one.
fn place(offset: &[u8]) -> Result<(usize, u32), Failure> {
    const MOST: i64 = 512 * 1024 * 1024 * 8 - 1;
    let bit = number::integer(offset).filter(|bit| (0..=MOST).contains(bit));
    let bit = bit.ok_or(Failure::new("ERR bit offset is not an integer or out of range"))?;
    let bit = usize::try_from(bit).unwrap_or(0);
    Ok((bit / 8, 7 - u32::try_from(bit % 8).unwrap_or(0)))
}

fn setbit(core: &mut Core, args: Args) -> Outcome {
    let (byte, shift) = place(args[1])?;
    let on = match args[2] {
        b"0" => false,
        b"1" => true,
        _ => return Err(Failure::new("ERR bit is not an integer or out of range")),
    };
    let bits = core.write::<Text>(args[0])?;
    if bits.len() <= byte {
        bits.resize(byte + 1, 0);
    }
    let before = bits[byte] >> shift & 1;
    bits[byte] = bits[byte] & !(1 << shift) | u8::from(on) << shift;
    Ok(Reply::Int(before.into()))
}

fn getbit(core: &mut Core, args: Args) -> Outcome {
    let (byte, shift) = place(args[1])?;
    let bits = core.read::<Text>(args[0])?;
    let found = bits.and_then(|bits| bits.get(byte)).map_or(0, |byte| byte >> shift & 1);
    Ok(Reply::Int(found.into()))
}

fn bitop(core: &mut Core, args: Args) -> Outcome {
    let (target, sources) = (args[1], &args[2..]);
    let combine: fn(u8, u8) -> u8 = match word(args[0]).as_str() {
        "AND" => |a, b| a & b,
        "OR" => |a, b| a | b,
        "XOR" => |a, b| a ^ b,
        "NOT" if sources.len() == 1 => |a, _| !a,
        "NOT" => {
            return Err(Failure::new("ERR BITOP NOT must be called with a single source key."));
        }
        _ => return Err(SYNTAX),
    };
    let mut texts = Vec::with_capacity(sources.len());
    for source in sources {
        texts.push(core.read::<Text>(source)?.map_or(&[][..], Vec::as_slice));
    }
    let length = texts.iter().map(|text| text.len()).max().unwrap_or(0);
    let byte = |text: &&[u8], i: usize| text.get(i).copied().unwrap_or(0);
    let mut result = Vec::with_capacity(length);
    for i in 0..length {
        let first = byte(&texts[0], i);
        let rest = &texts[1..];
        result.push(match rest {
            [] if matches!(args[0], [b'N' | b'n', ..]) => combine(first, 0),
            rest => rest.iter().fold(first, |found, text| combine(found, byte(text, i))),
        });
    }
    if result.is_empty() {
        core.remove(target);
    } else {
        core.put(target, result);
    }
    Ok(Reply::count(length))
}
