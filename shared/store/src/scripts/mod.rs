//! The registry of Lua scripts. Call sites never see a file name, an order of keys or a SHA: each
//! script has one typed function in [`crate::commands`].
//!
//! A script's text consists of its prelude, generated from this table (see [`prelude`]), the libraries
//! that it names, and its file.

pub(crate) mod order;
mod prelude;

use std::{collections::BTreeMap, sync::LazyLock};

use redis::Script;
use vestibule_domain::RoomId;

use crate::{
    keys::{Part, RoomKeys},
    positional::Positions,
};

/// One script and how it is called.
pub(crate) struct Command {
    name: &'static str,
    /// Its keys that belong to a room.
    parts: &'static [Part],
    script: Script,
    /// What its keys are called, in order.
    #[cfg(test)]
    keys: Vec<&'static str>,
    #[cfg(test)]
    positions: Option<Positions>,
}

macro_rules! scripts {
    ($($name:ident = $file:literal $parts:expr, $other:expr, $positions:expr,
        [$($library:literal),*];)*) => {
        $(pub(crate) static $name: LazyLock<Command> = LazyLock::new(|| {
            let source = concat!(include_str!("lib/document.lua"), "\n",
                $(include_str!(concat!("lib/", $library, ".lua")), "\n",)*
                include_str!(concat!($file, ".lua")));
            Command::new($file, $parts, $other, $positions, source)
        });)*

        /// Every script.
        fn all() -> Vec<&'static Command> {
            vec![$(&*$name),*]
        }
    };
}

use Part::{
    Asked, Door, Draws, Entered, Grants, Holds, Line, Passed, Rate, Records, Rows, Scratch,
    Seatless, Sessions, Settings, There, Tokens, Traffic, Unattended, Watermarks,
};

scripts! {
    ANNOUNCE = "announce" &[], &["formats"], None, ["room"];
    APPLY_PLAN = "apply_plan" &[Line, Settings, Sessions, Rate, Rows, Grants], &[], None,
        ["room", "rate", "serving", "publish"];
    BEGIN_TICK = "begin_tick" &[Line, Sessions, Records, Tokens, Settings, Rate, Rows, Entered,
        Door, Asked, Passed, Seatless, Holds, Unattended, There, Scratch], &[], None,
        ["bitmaps", "room", "rate", "seats", "serving", "presence", "door", "holds", "tally"];
    CHECK_IN = "check_in" &[Line, There], &[], Some(order::check_in::POSITIONS),
        ["bitmaps", "room", "presence"];
    CLAIM = "claim" &[Line, Settings, Sessions, Records, Tokens, Entered, Rate, Rows, Door, Asked,
        Passed, Seatless, Traffic, Unattended, There, Holds], &[], Some(order::claim::POSITIONS),
        ["bitmaps", "room", "rate", "seats", "serving", "presence", "door", "turns", "holds"];
    DELETE_ROOM = "delete_room" &Part::ALL, &["history…"], None, ["bitmaps", "room", "presence"];
    DRAW = "draw" &[Line, Settings, Sessions, Rate, Draws], &[], None,
        ["room", "rate", "publish"];
    EXPIRED_TOKENS = "expired_tokens" &[Tokens, Records], &[], None, ["bitmaps", "room", "seats"];
    EXTEND_CLAIM_WINDOW = "extend_claim_window" &[Line, Seatless], &[], None, ["room"];
    GIVE_UP = "give_up" &[Line, Entered, Unattended, Door, Asked, Passed, Sessions, Holds], &[], None,
        ["bitmaps", "room", "door"];
    INCREMENT = "increment" &[Line, Settings, Sessions, Rate, Rows], &[], None,
        ["room", "rate", "serving", "publish"];
    JOIN = "join" &[Line, Settings, Sessions, Records, Tokens, Entered, Rate, Rows, Grants, Traffic,
        Unattended, There, Holds, Door, Asked], &[], Some(order::join::POSITIONS),
        ["bitmaps", "room", "rate", "seats", "serving", "presence", "door", "holds", "grants"];
    LAGGING = "lagging" &[], &["admissions"], None, ["room"];
    LEASE = "lease" &[], &["lease", "epoch"], None, [];
    LEAVE = "leave" &[Line, Sessions, Records], &[], None, ["bitmaps", "room", "seats"];
    NOTE_CHANGE = "note_change" &[], &["changes"], None, ["room"];
    POSITION_EXPIRY = "position_expiry" &[Line, Settings, Rows, Seatless], &[], None,
        ["room", "serving"];
    PUT_CONFIG = "put_config" &[Line, Settings, Sessions, Rate], &[], None,
        ["room", "rate", "publish", "phases"];
    READ_SNAPSHOT = "read_snapshot" &[Line, Settings, Sessions, Rate], &[], None,
        ["room", "rate", "publish"];
    REPLACE_KEY_RING = "replace_key_ring" &[], &["key_ring"], None, [];
    REPORT_WATERMARKS = "report_watermarks" &[Line, Watermarks], &[], None, ["room"];
    RESET = "reset" Part::RESET, &[], None, ["bitmaps", "room", "rate", "presence", "publish"];
    RESTORE = "restore" &[Line, Settings, Rows, Sessions, Rate, Unattended], &[], None,
        ["bitmaps", "room", "rate", "serving", "publish", "phases"];
    ROLL_UP = "roll_up" &[Line, Traffic], &["history"], None, ["room"];
    SWITCH_PHASE = "switch_phase" &[Line, Settings, Sessions, Rate], &[], None,
        ["room", "rate", "publish", "phases"];
    TAKE_CHANGES = "take_changes" &[], &["changes", "admissions"], None, ["room"];
    TOUCH = "touch" &[Line, Settings, Sessions, Records, Entered], &[], Some(order::touch::POSITIONS),
        ["bitmaps", "room", "seats"];
}

/// The script with this SHA, by the name of its file: for traces of what travels to Redis.
#[must_use]
pub fn script_name(sha: &str) -> Option<&'static str> {
    static NAMES: LazyLock<BTreeMap<&'static str, &'static str>> = LazyLock::new(|| {
        all().into_iter().map(|command| (command.script.get_hash(), command.name)).collect()
    });
    NAMES.get(sha).copied()
}

// === impl Command ===

impl Command {
    /// `other_keys` are the names of keys that belong to no room, or depend on more than the room;
    /// they come last, and a name that ends with `…` stands for any number of keys. `positions` is
    /// the order of arguments and replies, unless they have names.
    fn new(
        name: &'static str,
        parts: &'static [Part],
        other_keys: &'static [&'static str],
        positions: Option<Positions>,
        source: &str,
    ) -> Self {
        let keys: Vec<_> =
            parts.iter().map(|part| part.name()).chain(other_keys.iter().copied()).collect();
        let prelude = prelude::prelude(name, &keys, positions.as_ref());
        let script = Script::new(&format!("{prelude}{source}"));
        Self {
            name,
            parts,
            script,
            #[cfg(test)]
            keys,
            #[cfg(test)]
            positions,
        }
    }

    /// Its file's name.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(crate) fn script(&self) -> &Script {
        &self.script
    }

    /// Its keys that belong to `room`.
    pub(crate) fn keys(&self, room: &RoomId) -> Vec<String> {
        self.parts.iter().map(|part| RoomKeys(room).key(*part)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs};

    use super::*;

    const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/scripts");

    fn header(command: &Command) -> String {
        let text = fs::read_to_string(format!("{FOLDER}/{}.lua", command.name)).unwrap();
        let (header, _) = text.split_once("]]\n").unwrap();
        assert!(header.starts_with(&format!("--[[ {}: ", command.name)), "{}", command.name);
        header.to_owned()
    }

    /// The names on the header's line that begins with `word`.
    fn names<'a>(header: &'a str, word: &str) -> Vec<&'a str> {
        let line = header.lines().find_map(|line| line.strip_prefix(word));
        line.unwrap_or_else(|| panic!("{header}: no {word}")).split(' ').collect()
    }

    #[test]
    fn every_file_is_registered() {
        let file = |entry: std::io::Result<fs::DirEntry>| {
            Some(entry.unwrap().file_name().to_str()?.strip_suffix(".lua")?.to_owned())
        };
        let files: BTreeSet<String> = fs::read_dir(FOLDER).unwrap().filter_map(file).collect();
        let registered: BTreeSet<String> =
            all().iter().map(|command| command.name.to_owned()).collect();
        assert_eq!(files, registered);
    }

    #[test]
    fn every_header_names_the_keys_in_order() {
        for command in all() {
            let header = header(command);
            assert_eq!(names(&header, "KEYS  "), command.keys, "{}", command.name);
            assert!(header.contains("\nReturns "), "{}", command.name);
        }
    }

    #[test]
    fn every_header_names_the_arguments_and_the_reply_in_order() {
        for command in all() {
            let header = header(command);
            let Some(order) = command.positions else {
                assert_eq!(names(&header, "ARGV  "), ["now_ms", "document"], "{}", command.name);
                continue;
            };
            let with_items = |all: Vec<&'static str>, item: &[&'static str]| {
                if item.is_empty() { all } else { [all, vec!["|"], item.to_vec()].concat() }
            };
            let arguments = with_items([&["now_ms"], order.call].concat(), order.item);
            assert_eq!(names(&header, "ARGV  "), arguments, "{}", command.name);
            let reply = with_items(order.reply.to_vec(), order.reply_item);
            assert_eq!(names(&header, "Returns  "), reply, "{}", command.name);
        }
    }
}
