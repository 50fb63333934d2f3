//! For how long tokens may still be valid after the key that signs them has changed: so long that key is kept.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use vestibule_domain::{RoomId, RoomSnapshot, settings::MAX_SECONDS};
use vestibule_store::Feed;

/// For how many seconds services may still sign with the old key after the new one took over.
const SETTLES: u64 = 60;

/// Until when tokens of each room may be valid, unix seconds: also of settings that are in force no more, as far as this
/// instance has seen them. Sessions that began under an event of hours go on when it is over.
#[derive(Debug, Default)]
pub(crate) struct Validities(Mutex<BTreeMap<RoomId, u64>>);

// === impl Validities ===

impl Validities {
    /// Notes what is in force at `now` (unix seconds); returns for how long, in seconds, a token of any room may still be
    /// valid.
    pub(crate) fn note(&self, feed: &Feed, now: u64) -> u64 {
        let rooms: Vec<_> = feed.rooms().iter().map(|known| known.snapshot()).collect();
        self.note_all(rooms.iter().map(AsRef::as_ref), now)
    }

    fn note_all<'a>(&self, rooms: impl Iterator<Item = &'a RoomSnapshot>, now: u64) -> u64 {
        let mut until = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        until.retain(|_, until| *until > now);
        for room in rooms {
            let latest = until.entry(room.room.clone()).or_default();
            *latest = (*latest).max(now + of_room(room, now));
        }
        let longest = until.values().max().map_or(0, |until| until - now);
        longest.min(MAX_SECONDS) + SETTLES
    }
}

/// How long a token of this room may still be valid: as its settings say, or as its longest-lived
/// AWS-style token does, whose validity its caller chose.
fn of_room(room: &RoomSnapshot, now: u64) -> u64 {
    room.settings.longest_validity_seconds().max(room.tokens_until.saturating_sub(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room() -> RoomSnapshot {
        serde_json::from_str(
            r#"{"room":"r","settings":{"token_validity_seconds":100,"session_duration_seconds":50},
            "reset_epoch":7,"generation":1,"now_ms":1,"queue_counter":0,"serving_counter":0,
            "admitted":0,"active":0,"unconfirmed":0,"expired":0,"skipped":0,"expired_position":0,
            "admitted_last_minute":0,"tokens_until":5000,"figures":{}}"#,
        )
        .unwrap()
    }

    #[test]
    fn a_token_with_a_validity_of_its_own_keeps_its_key_published() {
        let room = room();
        assert_eq!(of_room(&room, 1_000), 4_000);
        assert_eq!(of_room(&room, 4_950), 100);
        assert_eq!(of_room(&room, 9_000), 100);
    }

    #[test]
    fn what_was_longer_before_counts_until_its_tokens_have_ended() {
        let (validities, short) = (Validities::default(), room());
        let mut long = room();
        long.settings.session_duration_seconds = 3_600;
        assert_eq!(validities.note_all([&long].into_iter(), 10_000), 3_600 + SETTLES);
        assert_eq!(validities.note_all([&short].into_iter(), 10_600), 3_000 + SETTLES);
        assert_eq!(validities.note_all([].into_iter(), 13_000), 600 + SETTLES, "of a deleted room");
        assert_eq!(validities.note_all([&short].into_iter(), 13_600), 100 + SETTLES);
    }
}
