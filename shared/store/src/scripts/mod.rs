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
    access: Access,
    /// Its keys that belong to a room.
    parts: &'static [Part],
    script: Script,
    /// The same script as it is called while rooms push at their own shards; only of those of a room.
    sharded: Option<Script>,
    /// What its keys are called, in order.
    #[cfg(test)]
    keys: Vec<&'static str>,
    #[cfg(test)]
    positions: Option<Positions>,
}

/// What a script does to a room, and so what it is told and asked: see `lib/incarnation.lua`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Nothing: it is not of a room.
    Deployment,
    /// Reads it.
    Reads,
    /// May change it.
    Writes,
    /// Reads it, or closes it to be read, for a move to another server.
    Copies,
    /// Works on a state that may not be the room's latest.
    Repairs,
}

macro_rules! scripts {
    ($($name:ident = $file:literal $access:ident $parts:expr, $other:expr, $positions:expr,
        [$($library:literal),*];)*) => {
        $(pub(crate) static $name: LazyLock<Command> = LazyLock::new(|| {
            let libraries: &[&str] = &[$(include_str!(concat!("lib/", $library, ".lua"))),*];
            let source = (libraries, include_str!(concat!($file, ".lua")));
            Command::new($file, Access::$access, $parts, $other, $positions, source)
        });)*

        /// Every script.
        fn all() -> Vec<&'static Command> {
            vec![$(&*$name),*]
        }
    };
}

/// What every script begins with.
const DOCUMENT: &str =
    concat!(include_str!("lib/document.lua"), "\n", include_str!("lib/clock.lua"));
/// What every script of a room begins with besides.
const INCARNATION: &str = concat!(
    include_str!("lib/parts.lua"),
    "\n",
    include_str!("lib/server.lua"),
    "\n",
    include_str!("lib/incarnation.lua")
);

use Part::{
    Asked, Calls, Counts, Door, Draws, Ended, Entered, Grants, Holds, Inlet, Line, Networks,
    Passed, Rate, Records, Revoked, Rows, Scratch, Seatless, Sessions, Settings, Testimony, There,
    Tokens, Traffic, Unattended,
};

scripts! {
    ANNOUNCE = "announce" Deployment &[], &["formats", "stops", "servers"], None, ["room", "server"];
    APPLY_PLAN = "apply_plan" Writes &[Line, Settings, Sessions, Rate, Rows, Grants, Counts], &[], None,
        ["room", "rate", "serving", "left_out", "publish", "counts"];
    BEGIN_TICK = "begin_tick" Writes &[Line, Sessions, Records, Tokens, Settings, Rate, Rows, Entered,
        Door, Asked, Passed, Seatless, Holds, Unattended, There, Scratch, Ended, Counts], &[], None,
        ["bitmaps", "room", "rate", "seats", "serving", "presence", "door", "holds", "tally",
        "left_out", "gaps", "publish", "counts"];
    BURY = "bury" Deployment &[], &["tombstones", "burials"], None, ["burials"];
    CALL_WITNESSES = "call_witnesses" Repairs &[Line, Settings, Sessions, Records, Tokens, Entered, Rate,
        Rows, Ended, Holds, Draws, Inlet, Testimony], &[], None, ["room", "rate", "left_out", "publish"];
    CHECK_IN = "check_in" Writes &[Line, There], &[], Some(order::check_in::POSITIONS),
        ["bitmaps", "room", "presence"];
    CLAIM = "claim" Writes &[Line, Settings, Sessions, Records, Tokens, Entered, Rate, Rows, Door, Asked,
        Passed, Seatless, Traffic, Counts, Unattended, There, Holds, Networks], &[], Some(order::claim::POSITIONS),
        ["bitmaps", "room", "listed", "networks", "left_out", "rate", "seats", "notes", "serving", "presence", "door", "turns",
        "holds", "counts"];
    CLOSE_ROOM = "close_room" Copies &[Line], &[], None, [];
    COMPLETE_IMPORT = "complete_import" Deployment &[], &["schema", "import"], None, [];
    DELETE_ROOM = "delete_room" Repairs &Part::ALL, &["history…"], None,
        ["bitmaps", "room", "presence", "seats", "people"];
    DISMISS = "dismiss" Writes &[Line, Settings, Sessions, Rate], &[], None,
        ["room", "rate", "assumed", "left_out", "publish"];
    DRAW = "draw" Writes &[Line, Settings, Sessions, Rate, Draws], &[], None,
        ["room", "rate", "left_out", "publish"];
    ENDED_SESSIONS = "ended_sessions" Reads &[Line], &[], None, ["room"];
    EXPIRED_TOKENS = "expired_tokens" Reads &[Line, Tokens, Records], &[], None, ["bitmaps", "room", "seats"];
    KEPT_SEATS = "kept_seats" Reads &[Line, Sessions, Ended], &[], None, ["room"];
    EXPORT_LISTED = "export_listed" Copies &[Line, Calls, Networks], &[], None, [];
    EXPORT_ROOM = "export_room" Copies &[Line, Settings], &[], None, [];
    EXPORT_SEATS = "export_seats" Copies &[Line, Sessions, Tokens, Records], &[], None, [];
    EXTEND_CLAIM_WINDOW = "extend_claim_window" Writes &[Line, Seatless], &[], None, ["room"];
    GIVE_UP = "give_up" Writes &[Line, Entered, Unattended, Door, Asked, Passed, Sessions, Holds, Networks, Counts], &[],
        None, ["bitmaps", "room", "seats", "listed", "networks", "door", "departures", "counts"];
    INCREMENT = "increment" Writes &[Line, Settings, Sessions, Entered, Rate, Rows, Calls], &[], None,
        ["bitmaps", "room", "listed", "once", "rate", "serving", "left_out", "gaps", "moves", "publish"];
    JOIN = "join" Writes &[Line, Settings, Sessions, Records, Tokens, Entered, Rate, Rows, Grants, Traffic,
        Counts, Unattended, There, Holds, Door, Asked, Calls, Networks], &[], Some(order::join::POSITIONS),
        ["bitmaps", "room", "listed", "networks", "once", "rate", "seats", "notes", "serving", "presence", "door", "holds",
        "grants", "counts"];
    LAGGING = "lagging" Deployment &[], &["admissions"], None, ["room"];
    LEAD = "lead" Deployment &[], &["lease", "epoch", "length", "controllers", "term"], None, ["leases"];
    LEASE = "lease" Deployment &[], &["lease", "epoch", "length"], None, ["leases"];
    LEAVE = "leave" Writes &[Line, Sessions, Records, Ended, Counts], &[], None,
        ["bitmaps", "room", "seats", "door", "departures", "counts"];
    LET_IN = "let_in" Writes &[Line, Settings, Sessions, Entered, Rate, Rows, Calls, Inlet], &[], None,
        ["bitmaps", "room", "listed", "once", "rate", "serving", "left_out", "gaps", "moves", "publish"];
    NAME_SERVER = "name_server" Deployment &[], &["probe"], None, ["server"];
    NOTE_ALARM = "note_alarm" Writes &[Line, Inlet], &[], None, ["room"];
    NOTE_AUDIT = "note_audit" Deployment &[], &["audit", "audit_bytes"], None, [];
    NOTE_CHANGE = "note_change" Deployment &[], &["changes"], None, ["room"];
    NOTE_COUNTS = "note_counts" Writes &[Line, Counts], &[], None, ["room"];
    NOTE_DELIVERY = "note_delivery" Deployment &[], &["epoch", "deliveries"], None, [];
    NOTE_OBSERVED = "note_observed" Deployment &[], &["epoch", "observed", "outbox"], None, ["outbox"];
    POSITION_EXPIRY = "position_expiry" Reads &[Line, Settings, Rows, Seatless], &[], None,
        ["room", "serving"];
    POST_EVENTS = "post_events" Deployment &[], &["outbox"], None, ["outbox"];
    PUT_CONFIG = "put_config" Writes Part::RESET, &[], None,
        ["bitmaps", "room", "rate", "presence", "left_out", "publish", "phases"];
    READ_AUDIT = "read_audit" Deployment &[], &["audit"], None, [];
    READ_CONFIG = "read_config" Reads &[Line, Settings], &[], None, [];
    READ_PLACES = "read_places" Reads &[Line, Entered, Unattended], &[], None, ["bitmaps", "room"];
    READ_SERVING = "read_serving" Reads &[Line], &[], None, ["room"];
    READ_SNAPSHOT = "read_snapshot" Reads &[Line, Settings, Sessions, Rate], &[], None,
        ["room", "rate", "left_out", "publish"];
    READ_TRAFFIC = "read_traffic" Reads &[Line, Traffic, Counts], &["history", "minutes"], None, ["room"];
    REBUILD = "rebuild" Repairs &[Line, Sessions, Records, Tokens, Entered, Ended, Testimony, Revoked], &[],
        None, ["bitmaps", "room", "seats", "notes", "revoked"];
    RECALL = "recall" Reads &[Line, Ended, Calls], &[], None, ["room"];
    RECONCILE = "reconcile" Repairs Part::RECONCILE, &[], None,
        ["bitmaps", "room", "rate", "assumed", "serving", "presence", "left_out", "publish", "phases"];
    REDEEM = "redeem" Writes &[Line, Sessions, Records], &[], None, ["bitmaps", "room", "seats", "notes"];
    REOPEN = "reopen" Repairs &[Line, Settings, Sessions, Rate, Testimony], &[], None,
        ["room", "rate", "left_out", "publish"];
    REMOVE_FOREIGN = "remove_foreign" Deployment &[], &["key…"], None, [];
    REPLACE_KEY_RING = "replace_key_ring" Deployment &[], &["key_ring"], None, [];
    REPLACE_GONE = "replace_gone" Writes &[Line, Settings, Sessions, Records, Ended, Entered, Rate, Rows, Calls, Counts],
        &[], None, ["bitmaps", "room", "listed", "once", "rate", "seats", "serving", "left_out", "gaps", "moves", "door",
        "departures", "publish", "counts"];
    REPLACE_TEXT = "replace_text" Deployment &[], &["text"], None, [];
    RESET = "reset" Writes Part::RESET, &[], None,
        ["bitmaps", "room", "listed", "once", "rate", "seats", "presence", "left_out", "publish", "people", "counts"];
    RESTORE_PLACES = "restore_places" Repairs &[Line, Entered, Unattended, Testimony], &[], None, ["bitmaps", "room"];
    RESTORE_TRAFFIC = "restore_traffic" Repairs &[Line, Traffic, Counts], &["history", "minutes", "ledger"], None,
        ["room", "ledger"];
    REVOKE = "revoke" Writes &[Line, Sessions, Records, Ended, Entered, Unattended, Door, Asked, Passed, Holds,
        Revoked, Counts], &[], None, ["bitmaps", "room", "seats", "door", "departures", "revoked", "counts"];
    ROLL_UP = "roll_up" Writes &[Line, Traffic, Counts], &["history", "minutes", "ledger"], None, ["room", "ledger"];
    SPEND = "spend" Writes &[Line, Calls], &[], None, ["room", "listed"];
    SWITCH_PHASE = "switch_phase" Writes &[Line, Settings, Sessions, Rate], &[], None,
        ["room", "rate", "left_out", "publish", "phases"];
    TAKE_BURIALS = "take_burials" Deployment &[], &["tombstones", "burials"], None, ["burials"];
    TAKE_CHANGES = "take_changes" Deployment &[], &["changes", "admissions"], None, ["room"];
    TELL_TIME = "tell_time" Deployment &[], &["clock"], None, [];
    TESTIFY = "testify" Repairs &[Line, Testimony], &[], None, [];
    TIDY_OUTBOX = "tidy_outbox" Deployment &[], &["epoch", "webhooks", "deliveries", "outbox"], None, ["outbox"];
    TOUCH = "touch" Writes &[Line, Settings, Sessions, Records, Entered, Ended], &[], Some(order::touch::POSITIONS),
        ["bitmaps", "room", "seats", "notes"];
}

/// The script with this SHA, by the name of its file: for traces of what travels to Redis.
#[must_use]
pub fn script_name(sha: &str) -> Option<&'static str> {
    static NAMES: LazyLock<BTreeMap<&'static str, &'static str>> = LazyLock::new(|| {
        let texts = |command: &'static Command| {
            let scripts = std::iter::once(&command.script).chain(&command.sharded);
            scripts.map(|script| (script.get_hash(), command.name))
        };
        all().into_iter().flat_map(texts).collect()
    });
    NAMES.get(sha).copied()
}

// === impl Command ===

impl Command {
    /// `other_keys` are the names of keys that belong to no room, or depend on more than the room;
    /// they come last, and a name that ends with `…` stands for any number of keys. `positions` is
    /// the order of arguments and replies, unless they have names. `source`: its libraries and its file.
    fn new(
        name: &'static str,
        access: Access,
        parts: &'static [Part],
        other_keys: &'static [&'static str],
        positions: Option<Positions>,
        (libraries, file): (&[&str], &str),
    ) -> Self {
        let keys: Vec<_> =
            parts.iter().map(|part| part.name()).chain(other_keys.iter().copied()).collect();
        let of_a_room: &[&str] = match access {
            Access::Deployment => &[],
            Access::Reads | Access::Writes | Access::Copies | Access::Repairs => &[INCARNATION],
        };
        let script = |sharded| {
            let prelude = prelude::prelude(name, access, sharded, &keys, positions.as_ref());
            let texts = [&[&*prelude, DOCUMENT], of_a_room, libraries, &[file]].concat();
            Script::new(&texts.join("\n"))
        };
        Self {
            name,
            access,
            parts,
            script: script(false),
            sharded: (access != Access::Deployment).then(|| script(true)),
            #[cfg(test)]
            keys,
            #[cfg(test)]
            positions,
        }
    }

    /// What it does to a room.
    pub(crate) fn access(&self) -> Access {
        self.access
    }

    /// Its file's name.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Its text. `sharded`: that which pushes at the room's own shard.
    pub(crate) fn script(&self, sharded: bool) -> &Script {
        self.sharded.as_ref().filter(|_| sharded).unwrap_or(&self.script)
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
                let document: &[&str] = match command.access {
                    Access::Deployment => &["now_ms", "document"],
                    _ => &["now_ms", "seen", "document"],
                };
                assert_eq!(names(&header, "ARGV  "), document, "{}", command.name);
                continue;
            };
            let with_items = |all: Vec<&'static str>, item: &[&'static str]| {
                if item.is_empty() { all } else { [all, vec!["|"], item.to_vec()].concat() }
            };
            let arguments = with_items([&["now_ms", "seen"], order.call].concat(), order.item);
            assert_eq!(names(&header, "ARGV  "), arguments, "{}", command.name);
            let reply = with_items(order.reply.to_vec(), order.reply_item);
            assert_eq!(names(&header, "Returns  "), reply, "{}", command.name);
        }
    }
}
