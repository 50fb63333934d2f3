//! Texts.

use super::{
    Args, Command,
    Keys::{All, EverySecond, First},
    MANY, MEMORY, READ, WRITE, command,
    set_options::{SetOptions, expiry_of},
};
use crate::{
    arguments::{Rest, forward_part, integer},
    core::Core,
    failure::{Failure, Outcome},
    keyspace::Text,
    reply::Reply,
};

pub(super) const COMMANDS: &[Command] = &[
    command("get", (1, 1), READ, First, get),
    command("set", (2, MANY), MEMORY, First, set),
    command("setnx", (2, 2), MEMORY, First, setnx),
    command("setex", (3, 3), MEMORY, First, |core, args| set_until(core, args, "EX", "setex")),
    command("psetex", (3, 3), MEMORY, First, |core, args| set_until(core, args, "PX", "psetex")),
    command("getset", (2, 2), MEMORY, First, getset),
    command("getdel", (1, 1), WRITE, First, getdel),
    command("append", (2, 2), MEMORY, First, append),
    command("strlen", (1, 1), READ, First, strlen),
    command("getrange", (3, 3), READ, First, getrange),
    command("setrange", (3, 3), MEMORY, First, setrange),
    command("mget", (1, MANY), READ, All, mget),
    command("mset", (2, MANY), MEMORY, EverySecond, mset),
];

/// The most bytes that a text may have.
const MOST: i64 = 512 * 1024 * 1024;

fn text_of(core: &Core, key: &[u8]) -> Outcome {
    Ok(core.read::<Text>(key)?.map_or(Reply::Nil, Reply::bulk))
}

fn get(core: &mut Core, args: Args) -> Outcome {
    text_of(core, args[0])
}

fn set(core: &mut Core, args: Args) -> Outcome {
    let (key, value) = (args[0], args[1]);
    let options = SetOptions::read(core, Rest(&args[2..]))?;
    let old = if options.answers_old { Some(text_of(core, key)?) } else { None };
    let exists = core.exists(key);
    if (options.only_new && exists) || (options.only_existing && !exists) {
        return Ok(old.unwrap_or(Reply::Nil));
    }
    let before = core.keyspace().expires_at(key);
    core.put(key, value.to_vec());
    if options.keeps_expiry {
        core.keyspace_mut().set_expiry(key, before);
    }
    if let Some(at) = options.expires_at {
        expire_at(core, key, at);
    }
    Ok(old.unwrap_or(Reply::Ok))
}

/// A time that is over removes the key.
fn expire_at(core: &mut Core, key: &[u8], at: i64) {
    let at = u64::try_from(at).unwrap_or(0);
    if at < core.now_ms() {
        core.remove(key);
    } else {
        core.keyspace_mut().set_expiry(key, Some(at));
    }
}

fn setnx(core: &mut Core, args: Args) -> Outcome {
    let is_new = !core.exists(args[0]);
    if is_new {
        core.put(args[0], args[1].to_vec());
    }
    Ok(Reply::flag(is_new))
}

fn set_until(core: &mut Core, args: Args, unit: &str, name: &str) -> Outcome {
    let at = expiry_of(core, args[1], unit, name)?;
    core.put(args[0], args[2].to_vec());
    expire_at(core, args[0], at);
    Ok(Reply::Ok)
}

fn getset(core: &mut Core, args: Args) -> Outcome {
    let old = text_of(core, args[0])?;
    core.put(args[0], args[1].to_vec());
    Ok(old)
}

fn getdel(core: &mut Core, args: Args) -> Outcome {
    let old = text_of(core, args[0])?;
    core.remove(args[0]);
    Ok(old)
}

fn append(core: &mut Core, args: Args) -> Outcome {
    let text = core.write::<Text>(args[0])?;
    text.extend_from_slice(args[1]);
    Ok(Reply::count(text.len()))
}

fn strlen(core: &mut Core, args: Args) -> Outcome {
    Ok(Reply::count(core.read::<Text>(args[0])?.map_or(0, Vec::len)))
}

fn getrange(core: &mut Core, args: Args) -> Outcome {
    let (first, last) = (integer(args[1])?, integer(args[2])?);
    let text = core.read::<Text>(args[0])?.map_or(&[][..], Vec::as_slice);
    Ok(Reply::bulk(&text[forward_part(first, last, text.len())]))
}

fn length(text: &[u8]) -> i64 {
    i64::try_from(text.len()).unwrap_or(i64::MAX)
}

fn setrange(core: &mut Core, args: Args) -> Outcome {
    let offset = integer(args[1])?;
    if offset < 0 {
        return Err(Failure::new("ERR offset is out of range"));
    }
    let value = args[2];
    if value.is_empty() {
        return strlen(core, args);
    }
    core.read::<Text>(args[0])?;
    if offset.saturating_add(length(value)) > MOST {
        return Err(Failure::new("ERR string exceeds maximum allowed size (proto-max-bulk-len)"));
    }
    let text = core.write::<Text>(args[0])?;
    let start = usize::try_from(offset).unwrap_or(0);
    let end = start + value.len();
    if text.len() < end {
        text.resize(end, 0);
    }
    text[start..end].copy_from_slice(value);
    Ok(Reply::count(text.len()))
}

/// A value of another kind is nil.
fn mget(core: &mut Core, args: Args) -> Outcome {
    Ok(Reply::Array(args.iter().map(|key| text_of(core, key).unwrap_or(Reply::Nil)).collect()))
}

fn mset(core: &mut Core, args: Args) -> Outcome {
    let (pairs, []) = args.as_chunks::<2>() else { return Err(Failure::wrong_arity("mset")) };
    for [key, value] in pairs {
        core.put(key, value.to_vec());
    }
    Ok(Reply::Ok)
}
