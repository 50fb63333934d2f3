//! Streams, as far as scripts use them: ids are named by the caller, and trimming is exact.

use std::ops::Bound::{self, Excluded, Included};

use super::{Args, Command, Keys::First, MANY, MEMORY, READ, command};
use crate::{
    core::Core,
    failure::{Failure, NOT_AN_INTEGER, Outcome, SYNTAX},
    keyspace::{Stream, StreamId},
    number::integer,
    reply::Reply,
};

pub(super) const COMMANDS: &[Command] = &[
    command("xadd", (4, MANY), MEMORY, First, xadd),
    command("xlen", (1, 1), READ, First, xlen),
    command("xrange", (3, 5), READ, First, xrange),
    command("xrevrange", (3, 5), READ, First, xrevrange),
    command("xtrim", (4, 4), MEMORY, First, xtrim),
];

const INVALID_ID: Failure =
    Failure::new("ERR Invalid stream ID specified as stream command argument");
const TOO_SMALL: Failure = Failure::new(
    "ERR The ID specified in XADD is equal or smaller than the target stream top item",
);

/// `XADD key [MAXLEN [=] n] id field value …`
fn xadd(core: &mut Core, args: Args) -> Outcome {
    let (most, rest) = match args[1..] {
        [word, b"=", most, ref rest @ ..] if word.eq_ignore_ascii_case(b"maxlen") => {
            (Some(length(most)?), rest)
        }
        [word, most, ref rest @ ..] if word.eq_ignore_ascii_case(b"maxlen") => {
            (Some(length(most)?), rest)
        }
        ref rest => (None, rest),
    };
    let [id, fields @ ..] = rest else { return Err(Failure::wrong_arity("xadd")) };
    if fields.is_empty() || !fields.len().is_multiple_of(2) {
        return Err(Failure::wrong_arity("xadd"));
    }
    let id = stream_id(id, 0)?;
    let stream = core.write::<Stream>(args[0])?;
    if id <= stream.last {
        return Err(TOO_SMALL);
    }
    stream.last = id;
    stream.entries.insert(id, fields.iter().map(|field| (*field).into()).collect());
    while most.is_some_and(|most| stream.entries.len() > most) {
        stream.entries.pop_first();
    }
    Ok(Reply::bulk(written(id)))
}

/// `XTRIM key MINID = id`
fn xtrim(core: &mut Core, args: Args) -> Outcome {
    let [_, word, b"=", least] = *args else { return Err(SYNTAX) };
    if !word.eq_ignore_ascii_case(b"minid") {
        return Err(SYNTAX);
    }
    let least = stream_id(least, 0)?;
    if core.read::<Stream>(args[0])?.is_none() {
        return Ok(Reply::count(0));
    }
    let stream = core.write::<Stream>(args[0])?;
    let before = stream.entries.len();
    stream.entries = stream.entries.split_off(&least);
    Ok(Reply::count(before - stream.entries.len()))
}

fn xlen(core: &mut Core, args: Args) -> Outcome {
    Ok(Reply::count(core.read::<Stream>(args[0])?.map_or(0, |stream| stream.entries.len())))
}

/// `XRANGE key first last [COUNT n]`
fn xrange(core: &mut Core, args: Args) -> Outcome {
    range(core, args[0], (args[1], args[2]), &args[3..], false)
}

/// The same from the last on, which is named first.
fn xrevrange(core: &mut Core, args: Args) -> Outcome {
    range(core, args[0], (args[2], args[1]), &args[3..], true)
}

fn range(
    core: &mut Core,
    key: &[u8],
    (first, last): (&[u8], &[u8]),
    options: Args,
    reversed: bool,
) -> Outcome {
    let bounds = (bound(first, 0)?, bound(last, u64::MAX)?);
    let most = match options {
        [] => usize::MAX,
        [word, most] if word.eq_ignore_ascii_case(b"count") => length(most)?,
        _ => return Err(SYNTAX),
    };
    let Some(stream) = core.read::<Stream>(key)? else { return Ok(Reply::Array(vec![])) };
    let is_in = |id: &StreamId| std::ops::RangeBounds::contains(&bounds, id);
    let found = stream.entries.iter().filter(|(id, _)| is_in(id));
    let entry = |(id, fields): (&StreamId, &Vec<_>)| {
        let fields = fields.iter().map(|field| Reply::text_or_nil(Some(field))).collect();
        Reply::Array(vec![Reply::bulk(written(*id)), Reply::Array(fields)])
    };
    let entries = if reversed {
        found.rev().take(most).map(entry).collect()
    } else {
        found.take(most).map(entry).collect()
    };
    Ok(Reply::Array(entries))
}

/// `-`, `+`, an id, or `(` and an id that is not in the range itself.
fn bound(text: &[u8], sequence: u64) -> Result<Bound<StreamId>, Failure> {
    match text {
        b"-" => Ok(Included((0, 0))),
        b"+" => Ok(Included((u64::MAX, u64::MAX))),
        [b'(', id @ ..] => stream_id(id, sequence).map(Excluded),
        id => stream_id(id, sequence).map(Included),
    }
}

/// Reads `ms-sequence`, or `ms` alone.
fn stream_id(text: &[u8], sequence: u64) -> Result<StreamId, Failure> {
    let part =
        |text: &[u8]| integer(text).and_then(|part| u64::try_from(part).ok()).ok_or(INVALID_ID);
    match text.iter().position(|byte| *byte == b'-') {
        Some(at) => Ok((part(&text[..at])?, part(&text[at + 1..])?)),
        None => Ok((part(text)?, sequence)),
    }
}

fn written((ms, sequence): StreamId) -> String {
    format!("{ms}-{sequence}")
}

fn length(text: &[u8]) -> Result<usize, Failure> {
    integer(text).and_then(|most| usize::try_from(most).ok()).ok_or(NOT_AN_INTEGER)
}
