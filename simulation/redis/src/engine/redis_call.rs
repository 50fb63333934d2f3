//! `redis.call` and `redis.pcall`: the commands that a running script gives.

use std::{io::Write, mem, sync::Arc};

use mlua::{Lua, MultiValue, Value};
use smallvec::SmallVec;

use super::{call::Call, convert, raised::Raised};
use crate::{
    commands::{self, Command, Run},
    core::Core,
    failure::{Failure, Outcome},
    number,
    options::Dialect,
    random::Random,
    reply::Bytes,
};

/// The script under way, and the server that it works on.
#[derive(Debug, Default)]
pub(super) struct Running {
    core: Box<Core>,
    keys: Vec<Bytes>,
    read_only: bool,
    /// The arguments of a command, one after the other, and where each ends.
    text: Vec<u8>,
    ends: Vec<usize>,
}

// === impl Running ===

impl Running {
    pub(super) fn begin(&mut self, core: &mut Box<Core>, call: &Call) {
        mem::swap(&mut self.core, core);
        self.read_only = call.read_only;
        self.keys.clear();
        if self.core.options.strict_keys {
            self.keys.extend(call.keys.iter().map(|key| Bytes::from(*key)));
        }
    }

    pub(super) fn end(&mut self, core: &mut Box<Core>) {
        mem::swap(&mut self.core, core);
    }

    /// The server's own chance.
    pub(super) fn random(&mut self) -> &mut Random {
        &mut self.core.random
    }

    /// Runs one command.
    fn command(&mut self, args: &MultiValue) -> Outcome {
        self.read_arguments(args)?;
        let (text, ends) = (mem::take(&mut self.text), mem::take(&mut self.ends));
        let mut start = 0;
        let args: SmallVec<[&[u8]; 32]> =
            ends.iter().map(|end| &text[mem::replace(&mut start, *end)..*end]).collect();
        let outcome = self.run(args[0], &args[1..]);
        drop(args);
        (self.text, self.ends) = (text, ends);
        outcome
    }

    fn read_arguments(&mut self, args: &MultiValue) -> Result<(), Failure> {
        self.text.clear();
        self.ends.clear();
        for arg in args {
            match arg {
                Value::String(text) => self.text.extend_from_slice(&text.as_bytes()),
                Value::Integer(integer) => self.push_integer(*integer),
                Value::Number(number) => self.push_float(*number),
                _ => {
                    return Err(self.say(
                        "ERR Lua redis lib command arguments must be strings or integers",
                        "ERR Command arguments must be strings or integers",
                    ));
                }
            }
            self.ends.push(self.text.len());
        }
        if self.ends.is_empty() {
            return Err(self.say(
                "ERR Please specify at least one argument for this redis lib call",
                "ERR Please specify at least one argument for this call",
            ));
        }
        Ok(())
    }

    #[expect(clippy::cast_precision_loss, reason = "it was a float in Lua")]
    fn push_integer(&mut self, integer: i64) {
        if integer.unsigned_abs() < 10_u64.pow(16) {
            let _ = write!(self.text, "{integer}");
        } else {
            self.push_float(integer as f64);
        }
    }

    fn push_float(&mut self, float: f64) {
        let digits = number::write_argument(float, self.core.options.dialect);
        self.text.extend_from_slice(digits.as_bytes());
    }

    fn run(&mut self, name: &[u8], args: &[&[u8]]) -> Outcome {
        let command = commands::find(name).ok_or_else(|| {
            self.say(
                "ERR Unknown Redis command called from script",
                "ERR Unknown command called from script",
            )
        })?;
        if !command.takes(args.len(), self.core.options.dialect) {
            return Err(self.say(
                "ERR Wrong number of args calling Redis command from script",
                "ERR Wrong number of args calling command from script",
            ));
        }
        self.check(command, args)?;
        match command.run {
            Run::Plain(run) => run(&mut self.core, args),
            Run::Eval { .. } | Run::Script => Err(self.not_allowed()),
        }
    }

    fn check(&self, command: &Command, args: &[&[u8]]) -> Result<(), Failure> {
        if !command.flags.is_for_scripts() {
            return Err(self.not_allowed());
        }
        if self.read_only && !command.flags.only_looks() {
            return Err(Failure::new("ERR Write commands are not allowed from read-only scripts."));
        }
        if let Some(failure) = self
            .core
            .refusal
            .as_ref()
            .and_then(|refusal| refusal.check(command.name, command.flags))
        {
            return Err(failure);
        }
        if self.core.options.strict_keys {
            self.check_keys(command, args)?;
        }
        Ok(())
    }

    /// A key is declared, or is a part of one: what is behind it begins with a colon. A cluster asks no
    /// more than that all are in one slot, which the hash tag in the declared part sees to.
    fn check_keys(&self, command: &Command, args: &[&[u8]]) -> Result<(), Failure> {
        let is_declared = |key: &[u8]| {
            let mut behind = self.keys.iter().filter_map(|declared| key.strip_prefix(&**declared));
            behind.any(|part| part.is_empty() || part.starts_with(b":"))
        };
        match command.keys.of(args).find(|key| !is_declared(key)) {
            Some(key) => Err(Failure(
                format!(
                    "ERR Script attempted to access a key that is not in its KEYS: {}",
                    String::from_utf8_lossy(key)
                )
                .into(),
            )),
            None => Ok(()),
        }
    }

    fn not_allowed(&self) -> Failure {
        self.say(
            "ERR This Redis command is not allowed from script",
            "ERR This Valkey command is not allowed from script",
        )
    }

    fn say(&self, redis: &'static str, valkey: &'static str) -> Failure {
        Failure::new(match self.core.options.dialect {
            Dialect::Redis7 => redis,
            Dialect::Valkey9 => valkey,
        })
    }
}

/// The function `redis.call`, or `redis.pcall`, which returns errors instead of raising them.
pub(super) fn function(
    lua: &Lua,
    running: &Arc<std::sync::Mutex<Running>>,
    raises: bool,
) -> mlua::Result<mlua::Function> {
    let running = Arc::clone(running);
    lua.create_function(move |lua, args: MultiValue| {
        let outcome = super::lock(&running).command(&args);
        match outcome {
            Ok(reply) => convert::value(lua, &reply),
            Err(failure) if raises => Err(Raised::Reply(failure.0.into_owned()).into()),
            Err(failure) => Raised::Reply(failure.0.into_owned()).into_value(lua),
        }
    })
}
