//! When keys expire.

use super::{Args, Command, Keys::First, MANY, READ, WRITE, command};
use crate::{
    arguments::{integer, word},
    core::Core,
    failure::{Failure, Outcome},
    reply::Reply,
};

pub(super) const COMMANDS: &[Command] = &[
    command("expire", (2, MANY), WRITE, First, |core, args| {
        expire(core, args, 1000, true, "expire")
    }),
    command("pexpire", (2, MANY), WRITE, First, |core, args| {
        expire(core, args, 1, true, "pexpire")
    }),
    command("expireat", (2, MANY), WRITE, First, |core, args| {
        expire(core, args, 1000, false, "expireat")
    }),
    command("pexpireat", (2, MANY), WRITE, First, |core, args| {
        expire(core, args, 1, false, "pexpireat")
    }),
    command("persist", (1, 1), WRITE, First, persist),
    command("ttl", (1, 1), READ, First, |core, args| Ok(left(core, args[0], 1000, true))),
    command("pttl", (1, 1), READ, First, |core, args| Ok(left(core, args[0], 1, true))),
    command("expiretime", (1, 1), READ, First, |core, args| Ok(left(core, args[0], 1000, false))),
    command("pexpiretime", (1, 1), READ, First, |core, args| Ok(left(core, args[0], 1, false))),
];

/// Conditions of EXPIRE and its like.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "one for each option")]
struct Conditions {
    no_expiry: bool,
    some_expiry: bool,
    later: bool,
    earlier: bool,
}

// === impl Conditions ===

impl Conditions {
    fn read(args: Args) -> Result<Self, Failure> {
        let mut read = Self::default();
        for option in args {
            match word(option).as_str() {
                "NX" => read.no_expiry = true,
                "XX" => read.some_expiry = true,
                "GT" => read.later = true,
                "LT" => read.earlier = true,
                _ => {
                    let option = String::from_utf8_lossy(option);
                    return Err(Failure(format!("ERR Unsupported option {option}").into()));
                }
            }
        }
        if read.no_expiry && (read.some_expiry || read.later || read.earlier) {
            return Err(Failure::new(
                "ERR NX and XX, GT or LT options at the same time are not compatible",
            ));
        }
        if read.later && read.earlier {
            return Err(Failure::new("ERR GT and LT options at the same time are not compatible"));
        }
        Ok(read)
    }

    /// Without an expiry, a key lasts longer than with any.
    fn hold(&self, before: Option<i64>, at: i64) -> bool {
        !(self.no_expiry && before.is_some()
            || self.some_expiry && before.is_none()
            || self.later && before.is_none_or(|before| at <= before)
            || self.earlier && before.is_some_and(|before| at >= before))
    }
}

fn expire(core: &mut Core, args: Args, unit_ms: i64, from_now: bool, name: &str) -> Outcome {
    let (key, time) = (args[0], args[1]);
    let conditions = Conditions::read(&args[2..])?;
    let now = i64::try_from(core.now_ms()).unwrap_or(i64::MAX);
    let from = if from_now { now } else { 0 };
    let at = integer(time)?.checked_mul(unit_ms).and_then(|time| time.checked_add(from));
    let at =
        at.ok_or_else(|| Failure(format!("ERR invalid expire time in '{name}' command").into()))?;
    let Some(entry) = core.keyspace().entry(key) else { return Ok(Reply::Int(0)) };
    let before = entry.expires_at.and_then(|at| i64::try_from(at).ok());
    if !conditions.hold(before, at) {
        return Ok(Reply::Int(0));
    }
    if at <= now {
        core.remove(key);
    } else {
        core.keyspace_mut().set_expiry(key, u64::try_from(at).ok());
    }
    Ok(Reply::Int(1))
}

fn persist(core: &mut Core, args: Args) -> Outcome {
    let had = core.keyspace().expires_at(args[0]).is_some();
    if had {
        core.keyspace_mut().set_expiry(args[0], None);
    }
    Ok(Reply::flag(had))
}

/// The time when a key expires, or how long until then.
fn left(core: &Core, key: &[u8], unit_ms: u64, from_now: bool) -> Reply {
    let Some(entry) = core.keyspace().entry(key) else { return Reply::Int(-2) };
    let Some(at) = entry.expires_at else { return Reply::Int(-1) };
    let ms = if from_now { at.saturating_sub(core.now_ms()) } else { at };
    let time = if unit_ms == 1 { ms } else { (ms + unit_ms / 2) / unit_ms };
    Reply::Int(i64::try_from(time).unwrap_or(i64::MAX))
}
