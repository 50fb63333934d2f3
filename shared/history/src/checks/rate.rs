//! No 60 seconds hold more admissions than the rate in force.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    Call, Event, Invariant, Rules, What,
    check::{Check, Facts, Findings, Seen},
    checks::holding,
};

const WINDOW_MS: u64 = 60_000;

/// The admissions that certainly lie within 60 seconds are at most as many as the limit.
///
/// Two admissions certainly lie within 60 seconds if the later one was known less than 60 s after the
/// earlier one's call *began*. So slow calls make the check milder, never wrong.
///
/// A violation: more such admissions than the highest limit that may have been in force within
/// these 60 seconds. Why: the rate is what the site survives of newcomers.
///
/// Not a violation: renewals and repeated claims; admissions of an open or suspended room, and windows
/// in which the room may have been open or without a limit; a limit that was lowered, for the 60 s
/// after that; admissions of a room that was deleted, for another room of its name.
///
/// Each side of a split has the rate by itself: neither knows who enters on the other. A room that was deleted on one
/// may be another one on both once that is over.
#[derive(Debug, Clone, Default)]
pub(super) struct Rate {
    /// When calls began → how many they admitted, and one of them.
    admitted: BTreeMap<(u64, u64), (u64, Arc<Event>)>,
    sum: u64,
    nth: u64,
    /// When a room of this name was last deleted.
    deleted_ms: Option<u64>,
    /// One was deleted on the other side of a split, so that a later reset epoch may be that of another room.
    was_deleted_apart: bool,
    /// The latest reset epoch of an admission.
    reset_epoch: u64,
}

// === impl Rate ===

impl Check for Rate {
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        if let What::Deleted { .. } | What::Sent(Call::Delete) = &now.what {
            self.begin_anew(Some(now.at_ms));
        }
        let Some(held) = holding(now).filter(|held| held.is_new) else { return };
        if self.deleted_ms.is_some_and(|deleted_ms| now.began_ms <= deleted_ms) {
            return;
        }
        let reset_epoch = now.reset_epoch().unwrap_or(0);
        if self.was_deleted_apart && reset_epoch > self.reset_epoch {
            self.begin_anew(self.deleted_ms);
        }
        self.reset_epoch = self.reset_epoch.max(reset_epoch);
        let from_ms = (now.at_ms + 1).saturating_sub(WINDOW_MS);
        while let Some(first) = self.admitted.first_entry()
            && first.key().0 < from_ms
        {
            self.sum -= first.remove().0;
        }
        // Everyone enters there, and nobody is counted.
        let is_open = |rules: &Rules| rules.open;
        if facts.rules(now.began_ms, now.at_ms).any(is_open) {
            return;
        }
        let admitted_ms = held.admitted_from(now, facts);
        if admitted_ms < from_ms {
            return;
        }
        self.nth += 1;
        self.sum += held.count;
        self.admitted.insert((admitted_ms, self.nth), (held.count, now.keep()));
        let limit = facts.highest((from_ms, now.at_ms), |rules| rules.per_minute);
        if let Some(limit) = limit
            && self.sum > limit
            && let Some((_, (_, first))) = self.admitted.first_key_value()
        {
            let what = format!("{} admissions in 60 s, and the limit is {limit}", self.sum);
            found.add(Invariant::Rate, what, &[first, now]);
        }
    }

    fn hear_apart(&mut self, now: &Seen<'_>, _facts: &Facts, _found: &mut Findings<'_>) {
        self.was_deleted_apart |= matches!(now.what, What::Sent(Call::Delete));
    }
}

impl Rate {
    fn begin_anew(&mut self, deleted_ms: Option<u64>) {
        *self = Self { deleted_ms, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ClaimedAs, PutAs,
        checks::testing::{History, claimed, entered, put, rules, token},
    };

    fn limit(per_minute: u64) -> Rules {
        Rules { per_minute: Some(per_minute), ..rules() }
    }

    fn seated(number: u64) -> What {
        claimed(number, ClaimedAs::Seated(token(1, 310)))
    }

    fn used_up() -> History {
        let history = History::ruled(limit(3)).does(1_000, entered(1, 9, 2, Some(token(1, 310))));
        history.does(30_000, seated(3)).holds()
    }

    #[test]
    fn one_too_many_within_sixty_seconds_is_found() {
        used_up().does(60_999, seated(4)).breaks(Invariant::Rate);
        used_up().does(61_000, seated(4)).does(61_001, seated(5)).holds();
    }

    #[test]
    fn a_join_that_is_answered_late_counts_when_its_token_says() {
        let late = |issued_at| entered(9, 1, 1, Some(token(issued_at, 310)));
        let history =
            || History::ruled(limit(2)).does(50_000, entered(1, 2, 2, Some(token(50, 350))));
        history().call((100_000, 100_009), "a", late(40)).holds();
        history().call((100_000, 100_009), "a", late(41)).breaks(Invariant::Rate);
    }

    #[test]
    fn calls_that_may_have_been_further_apart_pass() {
        let history = History::ruled(limit(1)).call((1_000, 1_900), "a", seated(1));
        history.call((60_990, 61_500), "a", seated(2)).holds();
        let history = History::ruled(limit(1)).call((1_000, 1_900), "a", seated(1));
        history.call((60_500, 60_999), "a", seated(2)).breaks(Invariant::Rate);
    }

    #[test]
    fn a_lowered_limit_binds_whole_windows_after_it() {
        let lower = put(Some(2), limit(1), PutAs::Changed);
        let history = used_up().does(31_000, lower).does(89_000, seated(4)).holds();
        history.does(91_100, seated(5)).breaks(Invariant::Rate);
    }

    #[test]
    fn another_room_of_the_same_name_begins_anew() {
        let history = used_up().call((31_000, 31_005), "c", What::Deleted { existed: true });
        let history = history.does(31_006, put(None, limit(3), PutAs::Created));
        let history = history.call((31_004, 31_010), "a", seated(9)).does(31_020, seated(1));
        let history = history.does(31_021, seated(2)).does(31_022, seated(3)).holds();
        history.does(31_023, seated(4)).breaks(Invariant::Rate);
    }

    #[test]
    fn repeated_claims_and_open_rooms_do_not_count() {
        used_up().does(31_000, claimed(3, ClaimedAs::Repeated(token(1, 310)))).holds();
        let open = Rules { open: true, ..limit(1) };
        History::ruled(open).does(5, seated(1)).does(6, seated(2)).holds();
    }
}
