//! Errors inside scripts.
//!
//! What a Rust function raises in Lua is an object of mlua. The sandbox turns it into what a script of
//! Redis would see, by the function `plain`, wherever a script can catch it.

use std::fmt;

use mlua::{Error, Lua, Value};

use super::scripts::Sha;
use crate::{failure::Failure, options::Dialect};

/// What scripts are called in messages.
pub(super) const CHUNK: &str = "user_script";

/// An error on its way through Lua.
#[derive(Debug, Clone)]
pub(super) enum Raised {
    /// A table with this text as `err`.
    Reply(String),
    /// A text.
    Text(String),
}

// === impl Raised ===

impl Raised {
    /// A text, after the place where the script is.
    pub(super) fn at_caller(lua: &Lua, text: &str) -> Error {
        // Level 0 is the function that raises it.
        let place = lua.inspect_stack(1, |level| {
            let line = level.current_line()?;
            Some(format!("{}:{line}: ", level.source().short_src?))
        });
        Self::Text(format!("{}{text}", place.flatten().unwrap_or_default())).into()
    }

    pub(super) fn into_value(self, lua: &Lua) -> mlua::Result<Value> {
        match self {
            Self::Text(text) => Ok(Value::String(lua.create_string(text)?)),
            Self::Reply(text) => error_table(lua, &text),
        }
    }
}

/// A failed command, as scripts see it.
pub(super) fn error_table(lua: &Lua, text: &str) -> mlua::Result<Value> {
    let table = lua.create_table()?;
    table.raw_set("err", text)?;
    table.raw_set("ignore_error_stats_update", true)?;
    Ok(Value::Table(table))
}

impl From<Raised> for Error {
    fn from(raised: Raised) -> Self {
        Self::external(raised)
    }
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Reply(text) | Self::Text(text)) = self;
        f.write_str(text)
    }
}

impl std::error::Error for Raised {}

/// What was raised, as a script of Redis would see it.
pub(super) fn plain(lua: &Lua, raised: Value) -> mlua::Result<Value> {
    let Value::Error(error) = raised else { return Ok(raised) };
    let raised = match error.downcast_ref::<Raised>() {
        Some(raised) => raised.clone(),
        None => Raised::Text(first_line(&error)),
    };
    raised.into_value(lua)
}

/// What went wrong in a function of mlua, without its traceback.
fn first_line(error: &Error) -> String {
    let cause = match error {
        Error::CallbackError { cause, .. } => cause.as_ref(),
        other => other,
    };
    cause.to_string().lines().next().unwrap_or_default().to_owned()
}

/// The line that a script is at.
pub(super) fn script_line(lua: &Lua) -> Option<usize> {
    (1..16).find_map(|level| {
        lua.inspect_stack(level, |level| {
            let in_script = level.source().short_src.is_some_and(|source| source == CHUNK);
            if in_script { level.current_line() } else { None }
        })?
    })
}

/// What a script's error comes to, which its handler has made a table of.
pub(super) fn final_failure(raised: &Value, sha: Sha, dialect: Dialect) -> Failure {
    let field = |name: &str| -> Option<String> {
        match raised.as_table()?.raw_get(name).ok()? {
            Value::String(text) => Some(text.to_string_lossy()),
            Value::Integer(number) => Some(number.to_string()),
            _ => None,
        }
    };
    let error = field("err").unwrap_or_else(|| "ERR unknown error".to_owned());
    let place = field("line").map(|line| format!("on @{CHUNK}:{line}."));
    let text = match (dialect, place) {
        (Dialect::Redis7, Some(place)) => format!("{error} script: {}, {place}", sha.as_str()),
        (Dialect::Redis7, None) => format!("{error} script: {}.", sha.as_str()),
        (Dialect::Valkey9, Some(place)) => format!("{error} script: {place}"),
        (Dialect::Valkey9, None) => error,
    };
    Failure(text.into())
}
