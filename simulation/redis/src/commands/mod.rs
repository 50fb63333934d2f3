//! The table of commands. Each family has a file of its own.

mod bit_counts;
mod bits;
mod counters;
mod expiry;
mod hash_counters;
mod hashes;
mod info;
mod keys;
mod score_range;
mod server;
mod set_options;
mod sets;
mod sorted_adds;
mod sorted_ranges;
mod sorted_removals;
mod sorted_sets;
mod streams;
mod strings;

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::{
    core::Core,
    failure::Outcome,
    flags::{ALWAYS, Flags, MEMORY, NEWER_FORM, NOT_IN_SCRIPTS, READ, SENDS, WRITE},
    options::Dialect,
};

/// A command's arguments, without its name.
pub(crate) type Args<'a, 'b> = &'b [&'a [u8]];

/// One command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Command {
    /// In small letters.
    pub(crate) name: &'static str,
    /// How many arguments it has at least and at most, its name not counted.
    arity: (usize, usize),
    pub(crate) flags: Flags,
    pub(crate) keys: Keys,
    pub(crate) run: Run,
}

/// Which of its arguments are keys.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keys {
    None,
    First,
    FirstTwo,
    All,
    /// From the first, every second.
    EverySecond,
    /// All but the first.
    AfterFirst,
}

/// How it is run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Run {
    Plain(fn(&mut Core, Args) -> Outcome),
    Eval { by_sha: bool, read_only: bool },
    Script,
}

pub(crate) const MANY: usize = usize::MAX;

static TABLE: LazyLock<FxHashMap<&'static [u8], Command>> = LazyLock::new(|| {
    let families = [
        bit_counts::COMMANDS,
        bits::COMMANDS,
        counters::COMMANDS,
        expiry::COMMANDS,
        hash_counters::COMMANDS,
        hashes::COMMANDS,
        info::COMMANDS,
        keys::COMMANDS,
        server::COMMANDS,
        sets::COMMANDS,
        sorted_adds::COMMANDS,
        sorted_ranges::COMMANDS,
        sorted_removals::COMMANDS,
        sorted_sets::COMMANDS,
        streams::COMMANDS,
        strings::COMMANDS,
    ];
    families.into_iter().flatten().map(|command| (command.name.as_bytes(), *command)).collect()
});

/// The command of this name, in any case.
pub(crate) fn find(name: &[u8]) -> Option<&'static Command> {
    let lower: SmallVec<[u8; 24]> = name.iter().map(u8::to_ascii_lowercase).collect();
    TABLE.get(lower.as_slice())
}

/// A command that works on the core.
const fn command(
    name: &'static str,
    arity: (usize, usize),
    flags: Flags,
    keys: Keys,
    run: fn(&mut Core, Args) -> Outcome,
) -> Command {
    Command { name, arity, flags, keys, run: Run::Plain(run) }
}

// === impl Command ===

impl Command {
    /// Whether it takes this many arguments.
    pub(crate) fn takes(&self, arguments: usize, dialect: Dialect) -> bool {
        let (least, most) = self.arity;
        (least..=if self.flags.is_old_form(dialect) { least } else { most }).contains(&arguments)
    }
}

// === impl Keys ===

impl Keys {
    /// The keys among `arguments`.
    pub(crate) fn of<'a, 'b>(self, arguments: Args<'a, 'b>) -> impl Iterator<Item = &'a [u8]> + 'b {
        let (skip, step, count) = match self {
            Self::None => (0, 1, 0),
            Self::First => (0, 1, 1),
            Self::FirstTwo => (0, 1, 2),
            Self::All => (0, 1, MANY),
            Self::EverySecond => (0, 2, MANY),
            Self::AfterFirst => (1, 1, MANY),
        };
        arguments.iter().skip(skip).step_by(step).take(count).copied()
    }
}
