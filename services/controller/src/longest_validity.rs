//! For how long tokens may still be valid after the key that signs them has changed: so long that key is kept.

use vestibule_domain::{RoomSnapshot, settings::MAX_SECONDS};

use crate::state::Controller;

/// For how many seconds services may still sign with the old key after the new one took over.
const SETTLES: u64 = 60;

/// For how long, in seconds, a token of any room may be valid at `now` (unix seconds).
pub(crate) fn longest_validity(controller: &Controller, now: u64) -> u64 {
    let rooms = controller.feed.rooms();
    let longest = rooms.iter().map(|room| of_room(&room.snapshot(), now)).max();
    longest.unwrap_or(0).min(MAX_SECONDS) + SETTLES
}

/// How long a token of this room may still be valid: as its settings say, or as its longest-lived
/// AWS-style token does, whose validity its caller chose.
fn of_room(room: &RoomSnapshot, now: u64) -> u64 {
    room.settings.longest_validity_seconds().max(room.tokens_until.saturating_sub(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_with_a_validity_of_its_own_keeps_its_key_published() {
        let room: RoomSnapshot = serde_json::from_str(
            r#"{"room":"r","settings":{"token_validity_seconds":100,"session_duration_seconds":50},
            "reset_epoch":7,"generation":1,"now_ms":1,"queue_counter":0,"serving_counter":0,
            "admitted":0,"active":0,"unconfirmed":0,"expired":0,"skipped":0,"expired_position":0,
            "admitted_last_minute":0,"tokens_until":5000,"figures":{}}"#,
        )
        .unwrap();
        assert_eq!(of_room(&room, 1_000), 4_000);
        assert_eq!(of_room(&room, 4_950), 100);
        assert_eq!(of_room(&room, 9_000), 100);
    }
}
