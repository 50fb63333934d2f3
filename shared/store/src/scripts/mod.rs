//! The registry of Lua scripts. Call sites never see a file name, a key order or a SHA: each
//! script has one typed function in [`crate::commands`].

use std::sync::LazyLock;

use redis::Script;

macro_rules! scripts {
    ($($name:ident = $file:literal [$($library:literal),*];)*) => {
        $(pub(crate) static $name: LazyLock<Script> = LazyLock::new(|| {
            Script::new(concat!($(include_str!(concat!("lib/", $library, ".lua")), "\n",)*
                include_str!(concat!($file, ".lua"))))
        });)*

        /// Every script with its file's name.
        #[cfg(test)]
        fn all() -> Vec<(&'static str, &'static Script)> {
            vec![$(($file, &*$name)),*]
        }
    };
}

scripts! {
    APPLY_PLAN = "apply_plan" ["room", "rate", "fence", "serving", "publish"];
    CHECK_IN = "check_in" [];
    CLAIM = "claim" ["room", "rate", "seats", "serving"];
    DELETE_ROOM = "delete_room" [];
    DRAW = "draw" ["room", "rate", "fence", "publish"];
    EXPIRED_TOKENS = "expired_tokens" ["room", "seats"];
    INCREMENT = "increment" ["room", "rate", "serving", "publish"];
    JOIN = "join" ["room", "rate", "seats", "serving", "presence", "grants"];
    EXTEND_CLAIM_WINDOW = "extend_claim_window" ["room"];
    LAGGING = "lagging" ["room"];
    LEASE = "lease" [];
    LEAVE = "leave" ["room", "seats"];
    NOTE_CHANGE = "note_change" ["room"];
    POSITION_EXPIRY = "position_expiry" ["room", "serving"];
    PUT_CONFIG = "put_config" ["room", "rate", "publish", "phases"];
    READ_SNAPSHOT = "read_snapshot" ["room", "rate", "publish"];
    REPLACE_KEY_RING = "replace_key_ring" [];
    RESET = "reset" ["room", "rate", "publish"];
    RESTORE = "restore" ["room", "rate", "serving", "publish", "phases"];
    ROLL_UP = "roll_up" ["room", "fence"];
    BEGIN_TICK = "begin_tick" ["room", "rate", "fence", "seats", "serving"];
    TAKE_CHANGES = "take_changes" ["room"];
    TOUCH = "touch" ["room", "seats"];
    SWITCH_PHASE = "switch_phase" ["room", "rate", "fence", "publish", "phases"];
    REPORT_WATERMARKS = "report_watermarks" ["room"];
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs};

    #[test]
    fn every_file_is_registered() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/scripts");
        let files: BTreeSet<String> = fs::read_dir(folder)
            .unwrap()
            .filter_map(|entry| {
                Some(entry.unwrap().file_name().to_str()?.strip_suffix(".lua")?.to_owned())
            })
            .collect();
        let registered: BTreeSet<String> =
            super::all().iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(files, registered);
    }

    #[test]
    fn every_script_opens_with_its_contract_and_asserts_its_counts() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/scripts");
        for (name, _) in super::all() {
            let text = fs::read_to_string(format!("{folder}/{name}.lua")).unwrap();
            assert!(text.starts_with(&format!("--[[ {name}: ")), "{name}");
            for word in ["\nKEYS  1 ", "\nARGV  1 ", "\nReturns ", "\nassert(#KEYS "] {
                assert!(text.contains(word), "{name}: {word:?}");
            }
        }
    }
}
