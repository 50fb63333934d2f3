//! A snapshot as the difference from one that came before: what changes while people just come and go. Whoever
//! has a snapshot of the same *basis*, the digest of all that is left out, puts both together; everybody else waits for
//! the next whole one. Which fields are left out decides `scripts/lib/publish.lua` in the store.

mod short_figures;

use serde::Deserialize;

pub use self::short_figures::ShortFigures;
use crate::{RoomId, RoomSnapshot};

/// What a difference says; its fields are those of [`RoomSnapshot`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[expect(missing_docs, reason = "see there")]
pub struct Difference {
    pub room: RoomId,
    pub basis: String,
    pub seq: u64,
    pub now_ms: u64,
    pub queue_counter: u64,
    pub serving_counter: i64,
    pub admitted: u64,
    pub active: u64,
    pub unconfirmed: u64,
    pub expired: u64,
    pub left: u64,
    pub expired_position: u64,
    pub admitted_last_minute: u64,
    pub tokens_until: u64,
    pub cumulative_hazard: u64,
    pub figures: ShortFigures,
}

// === impl Difference ===

impl Difference {
    /// The snapshot that it is, if `last` has what it leaves out.
    #[must_use]
    pub fn over(self, last: &RoomSnapshot) -> Option<RoomSnapshot> {
        let fits = self.room == last.room && self.basis == last.basis && !self.basis.is_empty();
        // All fields by name: whoever adds one has to say whose it is.
        fits.then(|| RoomSnapshot {
            room: self.room,
            basis: self.basis,
            seq: self.seq,
            now_ms: self.now_ms,
            queue_counter: self.queue_counter,
            serving_counter: self.serving_counter,
            admitted: self.admitted,
            active: self.active,
            unconfirmed: self.unconfirmed,
            expired: self.expired,
            left: self.left,
            expired_position: self.expired_position,
            admitted_last_minute: self.admitted_last_minute,
            tokens_until: self.tokens_until,
            cumulative_hazard: self.cumulative_hazard,
            figures: self.figures.into(),
            format: last.format,
            settings: last.settings.clone(),
            event: last.event.clone(),
            draws: last.draws.clone(),
            config_version: last.config_version,
            pool_first: last.pool_first,
            pool_last: last.pool_last,
            excused_until_ms: last.excused_until_ms,
            reset_epoch: last.reset_epoch,
            generation: last.generation,
            nonce: last.nonce.clone(),
            follows: last.follows.clone(),
            skipped: last.skipped,
            awaits: last.awaits.clone(),
            left_out: last.left_out.clone(),
            rests: last.rests,
            unconfirmed_until: last.unconfirmed_until,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TickFigures, snapshot::test_support};

    fn difference(room: &str, basis: &str) -> Difference {
        let json = format!(
            r#"{{"format":2,"room":"{room}","basis":"{basis}","seq":8,"now_ms":1250,"queue_counter":60,
            "serving_counter":-2,"admitted":7,"active":6,"unconfirmed":5,"expired":4,"left":3,
            "expired_position":2,"admitted_last_minute":1,"tokens_until":9,"cumulative_hazard":11,
            "figures":{{"others":{{"waiting":50}},"positions":[9,1],"people":[1,2]}},"of_a_later_release":1}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    fn whole() -> RoomSnapshot {
        let mut room = test_support::snapshot(53, 10);
        (room.basis, room.format) = ("ab12".to_owned(), 1);
        (room.nonce, room.seq, room.config_version) = ("n".to_owned(), 7, 3);
        room.settings.total_active_users = Some(100);
        room.left_out = vec![(5, 9)];
        room
    }

    #[test]
    fn both_together_are_a_snapshot() {
        let room = difference("r", "ab12").over(&whole()).unwrap();
        let expected = RoomSnapshot {
            seq: 8,
            now_ms: 1250,
            queue_counter: 60,
            serving_counter: -2,
            admitted: 7,
            active: 6,
            unconfirmed: 5,
            expired: 4,
            left: 3,
            expired_position: 2,
            admitted_last_minute: 1,
            tokens_until: 9,
            cumulative_hazard: 11,
            figures: TickFigures {
                waiting: 50,
                ahead: vec![(9, 1), (10, 3)],
                ..TickFigures::default()
            },
            ..whole()
        };
        assert_eq!(room, expected);
        let next = difference("r", "ab12").over(&room);
        assert_eq!(next, Some(expected), "it serves for the next difference as well");
    }

    #[test]
    fn a_difference_from_another_snapshot_fits_nothing() {
        assert_eq!(difference("r", "ab13").over(&whole()), None);
        assert_eq!(difference("other", "ab12").over(&whole()), None);
        let of_an_older_release = RoomSnapshot { basis: String::new(), ..whole() };
        assert_eq!(difference("r", "ab12").over(&of_an_older_release), None);
        assert_eq!(
            difference("r", "").over(&of_an_older_release),
            None,
            "nobody says what it left out"
        );
    }
}
