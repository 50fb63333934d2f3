//! Errors of commands, in the words of Redis.

use std::borrow::Cow;

use crate::reply::Reply;

/// An error's text: its code, a space, what is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure(pub(crate) Cow<'static, str>);

/// What a command comes to.
pub(crate) type Outcome = Result<Reply, Failure>;

pub(crate) const WRONG_TYPE: Failure =
    Failure::new("WRONGTYPE Operation against a key holding the wrong kind of value");
pub(crate) const SYNTAX: Failure = Failure::new("ERR syntax error");
pub(crate) const NOT_AN_INTEGER: Failure =
    Failure::new("ERR value is not an integer or out of range");
pub(crate) const NOT_A_FLOAT: Failure = Failure::new("ERR value is not a valid float");
pub(crate) const OVERFLOW: Failure = Failure::new("ERR increment or decrement would overflow");
pub(crate) const NO_SUCH_KEY: Failure = Failure::new("ERR no such key");

// === impl Failure ===

impl Failure {
    pub(crate) const fn new(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// For a command that was given too few arguments, or too many.
    pub(crate) fn wrong_arity(command: &str) -> Self {
        Self(format!("ERR wrong number of arguments for '{command}' command").into())
    }

    /// For the subcommands of CONFIG and SCRIPT.
    pub(crate) fn unknown_subcommand(given: &[u8], of: &str) -> Self {
        let given = String::from_utf8_lossy(given);
        Self(format!("ERR unknown subcommand '{given}'. Try {of} HELP.").into())
    }
}

/// Errors and simple strings are one line.
pub(crate) fn on_one_line(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
}

impl From<Failure> for Reply {
    fn from(failure: Failure) -> Self {
        Self::Error(on_one_line(&failure.0))
    }
}
