//! The scripts that a server knows, and the SCRIPT command.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Engine;
use crate::{
    arguments::is,
    commands::Args,
    failure::{Failure, Outcome},
    options::Dialect,
    reply::Reply,
};

/// The SHA-1 that scripts are called by, as hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Sha([u8; 40]);

/// A script that is known.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(super) sha: Sha,
    pub(super) text: Arc<[u8]>,
}

/// The scripts that a server knows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scripts(FxHashMap<Sha, Script>);

// === impl Sha ===

impl Sha {
    pub(super) fn of(text: &[u8]) -> Self {
        let mut digits = [0; 40];
        digits.copy_from_slice(sha1_smol::Sha1::from(text).digest().to_string().as_bytes());
        Self(digits)
    }

    fn read(text: &[u8]) -> Option<Self> {
        let mut digits: [u8; 40] = text.try_into().ok()?;
        digits.make_ascii_lowercase();
        Some(Self(digits))
    }

    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

// === impl Scripts ===

impl Scripts {
    /// The script of this SHA.
    pub(crate) fn find(&self, sha: &[u8], dialect: Dialect) -> Result<&Script, Failure> {
        let known = Sha::read(sha).and_then(|sha| self.0.get(&sha));
        known.ok_or(Failure::new(match dialect {
            Dialect::Redis7 => "NOSCRIPT No matching script. Please use EVAL.",
            Dialect::Valkey9 => "NOSCRIPT No matching script.",
        }))
    }

    /// Gets to know a script, unless it cannot be compiled.
    pub(crate) fn load<'a>(
        all: &'a mut Arc<Self>,
        engine: &Engine,
        text: &[u8],
    ) -> Result<&'a Script, Failure> {
        let (sha, text) = engine.name(text);
        if !all.0.contains_key(&sha) {
            let script = Script { sha, text };
            engine.place(&script)?;
            Arc::make_mut(all).0.insert(sha, script);
        }
        all.0.get(&sha).ok_or(Failure::new("ERR the script is not known"))
    }

    /// SCRIPT LOAD, EXISTS and FLUSH.
    pub(crate) fn command(all: &mut Arc<Self>, engine: &Engine, args: Args) -> Outcome {
        let [subcommand, args @ ..] = args else { return Err(Failure::wrong_arity("script")) };
        if is(subcommand, "LOAD") {
            let [text] = args else { return Err(Failure::wrong_arity("script|load")) };
            return Ok(Reply::bulk(Self::load(all, engine, text)?.sha.0));
        }
        if is(subcommand, "EXISTS") {
            if args.is_empty() {
                return Err(Failure::wrong_arity("script|exists"));
            }
            let known = |sha: &&[u8]| Sha::read(sha).is_some_and(|sha| all.0.contains_key(&sha));
            return Ok(Reply::Array(args.iter().map(|sha| Reply::flag(known(sha))).collect()));
        }
        if is(subcommand, "FLUSH") {
            if !matches!(args, [] | [_])
                || args.iter().any(|how| !is(how, "SYNC") && !is(how, "ASYNC"))
            {
                return Err(Failure::new("ERR SCRIPT FLUSH only support SYNC|ASYNC option"));
            }
            *all = Arc::default();
            return Ok(Reply::Ok);
        }
        Err(Failure::unknown_subcommand(subcommand, "SCRIPT"))
    }
}
