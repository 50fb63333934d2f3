//! An acknowledged key stays in the ring until it is over, and every token's key is in the ring.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    Call, Event, Invariant, Key, What,
    check::{Check, Facts, Findings, Seen, Turn},
    checks::holding,
};

/// Keys that were published stay published for as long as their tokens may be valid, and sign only
/// when they are.
///
/// A violation: for longer than the bound of a service's lag, every read of the ring is without a key that was in
/// it, by calls that began after that was known, while the key is not past its end and nobody has sent a ring without
/// it; no ring at all for longer than the bound; a token by a key that no known ring holds; a token that outlives its key by
/// more than the bound. Why: a gateway refuses tokens whose key it cannot find.
///
/// Not a violation: an older ring that Redis has gone back to, until a service puts back what it lacks, or if those who
/// knew it have stopped since, all of them, or for as long as they try to read the ring and Redis does not answer, or to
/// put it back and Redis does not take it, or while all of them are apart, during a split; a ring that is missing as a
/// whole while it is restored; reads under way during a change; a key that somebody has withdrawn, also if it is not known
/// whether that worked; tokens while no ring is known. A
/// ring that somebody apart has put, during a split, is one that may be there afterwards.
#[derive(Debug, Clone, Default)]
pub(super) struct KeysSurvive {
    known: FxHashMap<String, Known>,
    missing_since: Option<Arc<Event>>,
    /// Who is apart.
    apart: Vec<Arc<str>>,
}

#[derive(Debug, Clone)]
struct Known {
    /// How it is known.
    seen: Arc<Event>,
    /// Somebody knows that it was in the ring, and not only that it may be.
    was_there: bool,
    retires_at: Option<u64>,
    /// Somebody has sent a ring without it.
    is_withdrawn: bool,
    /// Who has seen it there, or put it there.
    by: FxHashSet<Arc<str>>,
    /// Since when it is missing,
    missing_since: Option<Arc<Event>>,
    /// and whether one of those has seen that.
    is_missed: bool,
}

// === impl KeysSurvive ===

impl Check for KeysSurvive {
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        match &now.what {
            What::Sent(Call::ChangeKeys { keys }) => {
                self.withdraw(keys);
                self.learn(keys, false, now);
            }
            What::Unknown(Call::ChangeKeys { keys }) => self.put_back(keys),
            What::Unknown(Call::ReadKeys) => self.unread(&now.by),
            What::KeysChanged { keys, changed: true } => self.learn(keys, true, now),
            What::KeysRead { keys: Some(keys) } => {
                self.missing_since = None;
                self.compare(keys, now, facts, found);
                self.learn(keys, true, now);
            }
            What::KeysRead { keys: None } => self.missing(now, facts, found),
            _ => self.token(now, facts, found),
        }
    }

    fn hear_apart(&mut self, now: &Seen<'_>, _facts: &Facts, _found: &mut Findings<'_>) {
        if let What::Sent(Call::ChangeKeys { keys }) = &now.what {
            self.withdraw(keys);
            let is_new = |key: &&Key| !self.known.contains_key(&key.kid);
            let new: Vec<_> = keys.iter().filter(is_new).cloned().collect();
            self.learn(&new, false, now);
        }
    }

    fn turn(&mut self, turn: &Turn, _facts: &Facts) {
        let apart = std::mem::replace(&mut self.apart, turn.apart.clone());
        let were_apart = |known: &Known| known.by.iter().all(|by| apart.contains(by));
        for known in self.known.values_mut().filter(|known| turn.is_over && were_apart(known)) {
            known.missing_since = None;
        }
    }
}

impl KeysSurvive {
    /// Keys that `keys` leaves out may be gone from now on.
    fn withdraw(&mut self, keys: &[Key]) {
        for (kid, known) in &mut self.known {
            known.is_withdrawn |= !keys.iter().any(|key| key.kid == *kid);
        }
    }

    /// Somebody tried to put these back, and Redis did not take them, or did not say so.
    fn put_back(&mut self, keys: &[Key]) {
        for key in keys {
            if let Some(known) = self.known.get_mut(&key.kid) {
                known.missing_since = None;
            }
        }
    }

    /// Redis did not answer one who could miss a key, and put it back.
    fn unread(&mut self, by: &Arc<str>) {
        for known in self.known.values_mut().filter(|known| known.by.contains(by)) {
            known.missing_since = None;
        }
    }

    fn learn(&mut self, keys: &[Key], was_there: bool, now: &Seen<'_>) {
        for key in keys {
            let known = self.known.entry(key.kid.clone()).or_insert_with(|| Known {
                seen: now.keep(),
                was_there,
                retires_at: None,
                is_withdrawn: false,
                by: FxHashSet::default(),
                missing_since: None,
                is_missed: false,
            });
            if was_there {
                known.by.insert(Arc::clone(&now.by));
            }
            if was_there && !known.was_there {
                (known.seen, known.was_there) = (now.keep(), true);
            }
            known.retires_at = known.retires_at.or(key.retires_at);
        }
    }

    fn compare(&mut self, keys: &[Key], now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        for (kid, known) in &mut self.known {
            let is_over = known.retires_at.is_some_and(|end| end * 1000 <= now.at_ms);
            let is_there = keys.iter().any(|key| key.kid == *kid);
            let must_be = known.was_there && !is_over && !known.is_withdrawn;
            if is_there || !must_be {
                (known.missing_since, known.is_missed) = (None, false);
            } else if now.follows(&known.seen) {
                let since = known.missing_since.get_or_insert_with(|| now.keep());
                let missing_ms = now.began_ms.saturating_sub(since.at_ms);
                known.is_missed |= known.by.contains(&now.by);
                if known.is_missed && missing_ms > facts.bounds.key_lag_ms {
                    let what = format!("key {kid} has not been in the ring for {missing_ms} ms");
                    found.add(Invariant::KeysSurvive, what, &[&known.seen, since, now]);
                }
            }
        }
    }

    fn missing(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        let Some(known) = self.known.values().next() else { return };
        let since = self.missing_since.get_or_insert_with(|| now.keep());
        let missing_ms = now.began_ms.saturating_sub(since.at_ms);
        if missing_ms > facts.bounds.restored_within_ms {
            let what = format!("there has been no key ring for {missing_ms} ms");
            found.add(Invariant::KeysSurvive, what, &[&known.seen, since, now]);
            self.missing_since = None;
        }
    }

    fn token(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        let Some(held) = holding(now).filter(|held| !held.token.kid.is_empty()) else { return };
        if self.known.is_empty() {
            return;
        }
        let (kid, expires_at) = (&held.token.kid, held.token.expires_at);
        let Some(known) = self.known.get(kid) else {
            let what = format!("a token is signed by key {kid}, which is in no ring");
            found.add(Invariant::KeysSurvive, what, &[now]);
            return;
        };
        let lag = facts.bounds.key_lag_ms / 1000;
        if let Some(end) = known.retires_at.filter(|end| end + lag < expires_at) {
            let what = format!("a token lives until {expires_at}, and its key {kid} until {end}");
            found.add(Invariant::KeysSurvive, what, &[&known.seen, now]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ClaimedAs,
        checks::testing::{History, claimed, token},
    };

    fn ring(kids: &[&str], retires_at: Option<u64>) -> Vec<Key> {
        let key = |kid: &&str| Key { kid: (*kid).to_owned(), retires_at, signs_from: None };
        kids.iter().map(key).collect()
    }

    fn read(kids: &[&str]) -> What {
        What::KeysRead { keys: Some(ring(kids, None)) }
    }

    fn published() -> History {
        let changed = What::KeysChanged { keys: ring(&["k1", "k2"], None), changed: true };
        History::new().does(1, read(&["k1"])).call((4, 9), "c", changed).holds()
    }

    #[test]
    fn a_key_that_vanishes_is_found() {
        published().does(10, read(&["k1", "k2"])).holds();
        let missing = || published().call((10, 10), "c", read(&["k1"])).holds();
        missing().does(5_010, read(&["k1"])).holds();
        missing().does(5_011, read(&["k1"])).breaks(Invariant::KeysSurvive);
        let back = missing().does(900, read(&["k1", "k2"]));
        back.does(1_000, read(&["k1"])).does(5_900, read(&["k1"])).holds();
        published().call((9, 12), "a", read(&["k1"])).holds();
        let refused = |keys: &[&str]| {
            let call = Call::ChangeKeys { keys: ring(keys, None) };
            missing().does(3_000, What::Sent(call.clone())).does(3_001, What::Unknown(call))
        };
        refused(&["k1", "k2"]).does(5_011, read(&["k1"])).does(10_000, read(&["k1"])).holds();
        let given_up = refused(&["k1", "k2"]).does(5_011, read(&["k1"]));
        given_up.does(10_100, read(&["k1"])).breaks(Invariant::KeysSurvive);
    }

    #[test]
    fn a_key_that_only_those_knew_who_have_stopped_is_missed_by_nobody() {
        let others = || published().does(10, read(&["k1"])).does(9_000, read(&["k1"])).holds();
        others().call((9_500, 9_500), "c", read(&["k1"])).breaks(Invariant::KeysSurvive);
        let both = published().does(10, read(&["k1", "k2"])).does(900, read(&["k1"]));
        both.does(9_000, read(&["k1"])).breaks(Invariant::KeysSurvive);
    }

    #[test]
    fn a_key_that_nobody_can_read_is_missed_from_when_redis_answers_again() {
        let outage = |by| {
            let missing = published().call((10, 10), "a", read(&["k1"])).holds();
            missing.call((5_900, 5_900), by, What::Unknown(Call::ReadKeys))
        };
        let first = || outage("c").call((6_000, 6_000), "c", read(&["k1"])).holds();
        first().call((11_000, 11_000), "c", read(&["k1"])).holds();
        first().call((11_001, 11_001), "c", read(&["k1"])).breaks(Invariant::KeysSurvive);
        let known = outage("a").call((6_000, 6_000), "c", read(&["k1"]));
        known.breaks(Invariant::KeysSurvive);
    }

    #[test]
    fn a_key_may_be_withdrawn_or_be_over() {
        let keys = ring(&["k2"], None);
        let sent = What::Sent(Call::ChangeKeys { keys });
        published().does(10, sent).does(11, read(&["k2"])).holds();
        let retired = What::KeysRead { keys: Some(ring(&["k1", "k2"], Some(20))) };
        let history = published().does(10, retired).does(20_000, read(&["k9"]));
        history.holds();
    }

    #[test]
    fn a_key_that_was_only_sent_need_not_be_there() {
        let keys = ring(&["k1", "k2", "k3"], None);
        let sent = What::Sent(Call::ChangeKeys { keys: keys.clone() });
        let refused = What::KeysChanged { keys, changed: false };
        let history = published().does(10, sent).does(11, refused);
        history.does(12, read(&["k1", "k2"])).holds();
    }

    #[test]
    fn a_ring_may_be_missing_for_a_while_only() {
        let none = || What::KeysRead { keys: None };
        let history = published().does(10, none()).does(60_010, none()).holds();
        history.does(60_011, none()).breaks(Invariant::KeysSurvive);
    }

    #[test]
    fn a_token_is_signed_by_a_key_of_the_ring_and_does_not_outlive_it() {
        let seated = |number, expires_at| claimed(number, ClaimedAs::Seated(token(1, expires_at)));
        History::new().does(1, seated(1, 300)).holds();
        published().does(10, seated(1, 300)).holds();
        let other = History::new().does(1, read(&["k7"]));
        other.does(10, seated(1, 300)).breaks(Invariant::KeysSurvive);
        let retired = || What::KeysRead { keys: Some(ring(&["k1", "k2"], Some(200))) };
        published().does(10, retired()).does(11, seated(1, 205)).holds();
        published().does(10, retired()).does(11, seated(1, 206)).breaks(Invariant::KeysSurvive);
    }
}
