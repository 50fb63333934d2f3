//! Keys of any kind.

use super::{
    ALWAYS, Args, Command,
    Keys::{All, First, FirstTwo, None as NoKeys},
    MANY, MEMORY, READ, WRITE, command,
};
use crate::{
    arguments::{Rest, integer, is, word},
    core::Core,
    failure::{Failure, NO_SUCH_KEY, Outcome, SYNTAX},
    keyspace::Keyspace,
    options::Dialect,
    reply::Reply,
};

pub(super) const COMMANDS: &[Command] = &[
    command("del", (1, MANY), WRITE, All, del),
    command("unlink", (1, MANY), WRITE, All, del),
    command("exists", (1, MANY), READ, All, exists),
    command("touch", (1, MANY), READ, All, exists),
    command("type", (1, 1), READ, First, kind),
    command("rename", (2, 2), MEMORY, FirstTwo, rename),
    command("renamenx", (2, 2), MEMORY, FirstTwo, renamenx),
    command("keys", (1, 1), READ, NoKeys, keys),
    command("scan", (1, MANY), READ, NoKeys, scan),
    command("dbsize", (0, 0), READ, NoKeys, |core, _| Ok(Reply::count(core.keyspace().len()))),
    command("flushall", (0, MANY), WRITE, NoKeys, flush),
    command("flushdb", (0, MANY), WRITE, NoKeys, flush),
    command("select", (1, 1), READ.and(ALWAYS), NoKeys, select),
];

fn del(core: &mut Core, args: Args) -> Outcome {
    Ok(Reply::count(args.iter().filter(|key| core.remove(key)).count()))
}

fn exists(core: &mut Core, args: Args) -> Outcome {
    Ok(Reply::count(args.iter().filter(|key| core.exists(key)).count()))
}

fn kind(core: &mut Core, args: Args) -> Outcome {
    let entry = core.keyspace().entry(args[0]);
    Ok(Reply::Status(entry.map_or("none", |entry| entry.value.kind()).to_owned()))
}

fn rename(core: &mut Core, args: Args) -> Outcome {
    if !core.exists(args[0]) {
        return Err(NO_SUCH_KEY);
    }
    if let Some(entry) = core.keyspace_mut().remove(args[0]) {
        core.keyspace_mut().put(args[1], entry.value, entry.expires_at);
    }
    Ok(Reply::Ok)
}

fn renamenx(core: &mut Core, args: Args) -> Outcome {
    if !core.exists(args[0]) {
        return Err(NO_SUCH_KEY);
    }
    if core.exists(args[1]) {
        return Ok(Reply::Int(0));
    }
    rename(core, args)?;
    Ok(Reply::Int(1))
}

fn keys(core: &mut Core, args: Args) -> Outcome {
    let keys = core.keyspace().keys();
    let matching = keys.into_iter().filter(|key| matches(args[0], key));
    Ok(Reply::Array(matching.map(|key| Reply::Bulk(key.clone())).collect()))
}

/// The whole keyspace is one step of a scan.
fn scan(core: &mut Core, args: Args) -> Outcome {
    let cursor = std::str::from_utf8(args[0]).ok().and_then(|text| text.parse::<u64>().ok());
    cursor.ok_or(Failure::new("ERR invalid cursor"))?;
    let (mut pattern, mut wanted): (&[u8], _) = (b"*", None);
    let mut rest = Rest(&args[1..]);
    while let Some(option) = rest.next() {
        let value = rest.expect()?;
        match word(option).as_str() {
            "MATCH" => pattern = value,
            "COUNT" if integer(value)? < 1 => return Err(SYNTAX),
            "COUNT" => {}
            "TYPE" => wanted = Some(known_kind(core, value)?),
            _ => return Err(SYNTAX),
        }
    }
    let keyspace: &Keyspace = core.keyspace();
    let is_wanted = |key: &[u8]| {
        let kind = keyspace.entry(key).map(|entry| entry.value.kind());
        wanted.as_ref().is_none_or(|wanted| kind == Some(wanted))
    };
    let found = keyspace.keys().into_iter().filter(|key| matches(pattern, key) && is_wanted(key));
    let found = found.map(|key| Reply::Bulk(key.clone())).collect();
    Ok(Reply::Array(vec![Reply::bulk("0"), Reply::Array(found)]))
}

fn known_kind(core: &Core, name: &[u8]) -> Result<String, Failure> {
    const KINDS: [&str; 6] = ["string", "list", "set", "zset", "hash", "stream"];
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    if core.options.dialect == Dialect::Valkey9 && !KINDS.contains(&name.as_str()) {
        return Err(Failure(format!("ERR unknown type name '{name}'").into()));
    }
    Ok(name)
}

fn flush(core: &mut Core, args: Args) -> Outcome {
    match args {
        [] => {}
        [how] if is(how, "SYNC") || is(how, "ASYNC") => {}
        _ => return Err(SYNTAX),
    }
    *core.keyspace_mut() = Keyspace::default();
    Ok(Reply::Ok)
}

fn select(_core: &mut Core, args: Args) -> Outcome {
    match integer(args[0])? {
        0 => Ok(Reply::Ok),
        _ => Err(Failure::new("ERR DB index is out of range")),
    }
}

/// Whether `text` matches a glob pattern: `*`, `?`, `[…]`, and `\` before what is meant as it is.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern, text) {
        ([], _) => text.is_empty(),
        ([b'*', rest @ ..], _) => (0..=text.len()).any(|skip| matches(rest, &text[skip..])),
        (_, []) => false,
        ([b'?', rest @ ..], [_, text @ ..]) => matches(rest, text),
        ([b'[', class @ ..], [first, text @ ..]) => {
            let (is_in, rest) = in_class(class, *first);
            is_in && matches(rest, text)
        }
        ([b'\\', wanted, rest @ ..] | [wanted, rest @ ..], [first, text @ ..]) => {
            wanted == first && matches(rest, text)
        }
    }
}

/// Whether the class that begins here has `wanted`, and what follows it.
fn in_class(class: &[u8], wanted: u8) -> (bool, &[u8]) {
    let (negated, mut rest) = match class {
        [b'^', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let mut found = false;
    loop {
        rest = match rest {
            [] => return (found != negated, rest),
            [b']', rest @ ..] => return (found != negated, rest),
            [b'\\', byte, rest @ ..] => {
                found |= *byte == wanted;
                rest
            }
            [from, b'-', to, rest @ ..] => {
                found |= (*from.min(to)..=*from.max(to)).contains(&wanted);
                rest
            }
            [byte, rest @ ..] => {
                found |= *byte == wanted;
                rest
            }
        };
    }
}
