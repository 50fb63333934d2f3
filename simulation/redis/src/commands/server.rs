//! The server itself: its time, its messages, its scripts.

use super::{
    ALWAYS, Args, Command, Keys::None as NoKeys, MANY, NOT_IN_SCRIPTS, READ, Run, SENDS, command,
};
use crate::{
    arguments::{integer, is},
    core::Core,
    failure::{Failure, Outcome},
    number,
    reply::Reply,
};

const fn eval(name: &'static str, by_sha: bool, read_only: bool) -> Command {
    let run = Run::Eval { by_sha, read_only };
    Command { name, arity: (2, MANY), flags: NOT_IN_SCRIPTS, keys: NoKeys, run }
}

pub(super) const COMMANDS: &[Command] = &[
    eval("eval", false, false),
    eval("eval_ro", false, true),
    eval("evalsha", true, false),
    eval("evalsha_ro", true, true),
    Command {
        name: "script",
        arity: (1, MANY),
        flags: NOT_IN_SCRIPTS,
        keys: NoKeys,
        run: Run::Script,
    },
    command("ping", (0, 1), READ, NoKeys, ping),
    command("echo", (1, 1), READ, NoKeys, |_, args| Ok(Reply::bulk(args[0]))),
    command("time", (0, 0), ALWAYS, NoKeys, time),
    command("publish", (2, 2), ALWAYS.and(SENDS), NoKeys, |core, args| {
        Ok(Reply::Int(core.publish(args[0], args[1], false)))
    }),
    command("spublish", (2, 2), ALWAYS.and(SENDS), NoKeys, |core, args| {
        Ok(Reply::Int(core.publish(args[0], args[1], true)))
    }),
    command("wait", (2, 2), NOT_IN_SCRIPTS, NoKeys, wait),
    command("config", (1, MANY), ALWAYS.and(NOT_IN_SCRIPTS), NoKeys, config),
];

fn ping(_core: &mut Core, args: Args) -> Outcome {
    Ok(args.first().map_or_else(|| Reply::Status("PONG".to_owned()), Reply::bulk))
}

fn time(core: &mut Core, _args: Args) -> Outcome {
    let (seconds, micros) = (core.now / 1_000_000, core.now % 1_000_000);
    Ok(Reply::Array(vec![Reply::bulk(seconds.to_string()), Reply::bulk(micros.to_string())]))
}

/// Answers at once, with the number that the server was told.
fn wait(core: &mut Core, args: Args) -> Outcome {
    integer(args[0])?;
    let timeout = number::integer(args[1])
        .ok_or(Failure::new("ERR timeout is not an integer or out of range"))?;
    if timeout < 0 {
        return Err(Failure::new("ERR timeout is negative"));
    }
    Ok(Reply::Int(core.options.replicas))
}

fn config(core: &mut Core, args: Args) -> Outcome {
    let [subcommand, names @ ..] = args else { return Err(Failure::wrong_arity("config")) };
    if !is(subcommand, "GET") {
        return Err(Failure::unknown_subcommand(subcommand, "CONFIG"));
    }
    if names.is_empty() {
        return Err(Failure::wrong_arity("config|get"));
    }
    let mut found = vec![];
    if names.iter().any(|name| is(name, "MAXMEMORY-POLICY")) {
        found.push(Reply::bulk("maxmemory-policy"));
        found.push(Reply::bulk(&core.options.maxmemory_policy));
    }
    Ok(Reply::Array(found))
}
