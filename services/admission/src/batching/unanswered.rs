//! Joins whose answers were lost. Redis may have handed out numbers, and seats, that nobody knows of: the call is sent
//! again under its name, and what it gave goes to whoever comes next.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rustc_hash::FxHashMap;
use vestibule_domain::RoomId;

use super::{join_key::JoinKey, newcomer::Newcomer};

/// A number that nobody was given for so long is nobody's any more, ms: it may have been passed over. Shorter than Redis
/// keeps answers.
const FRESH_MS: u64 = 30_000;

/// A call that was sent: its name, how many it is for, and what their tokens are made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SentJoin {
    pub(super) call: String,
    pub(super) count: u64,
    pub(super) networks: Vec<u64>,
    pub(super) key_id: String,
    pub(super) issuer: String,
}

/// A room's epoch and time, ms.
pub(super) type When = (u64, u64);

/// A number that nobody has, and the digest of the network that it counts for.
pub(super) type Spare = (Option<u64>, Newcomer);

/// What is left of lost answers, by kind of join.
#[derive(Debug, Default)]
pub(super) struct Unanswered(Mutex<FxHashMap<JoinKey, Left>>);

#[derive(Debug, Default)]
struct Left {
    /// Of this call the answer is not known, and when it was sent, for all that is known.
    sent: Option<(SentJoin, When)>,
    /// Numbers that nobody has, each with the digest of the network that it counts for, if any does.
    spare: VecDeque<Spare>,
}

// === impl Unanswered ===

impl Unanswered {
    /// The call whose answer is not known. It is taken for answered from now on. Nobody would be given what an old one has
    /// taken, or one of before a reset; and if that was never carried out, it had better not be now.
    pub(super) fn take(
        &self,
        key: &JoinKey,
        (reset_epoch, now_ms): When,
    ) -> Option<(SentJoin, When)> {
        let (sent, when) = self.lock().get_mut(key)?.sent.take()?;
        let is_fresh = when.0 == reset_epoch && now_ms.saturating_sub(when.1) < FRESH_MS;
        is_fresh.then_some((sent, when))
    }

    /// The answer of this call is not known, which was sent first at `when`.
    pub(super) fn keep(&self, key: &JoinKey, sent: SentJoin, when: When) {
        self.lock().entry(key.clone()).or_default().sent = Some((sent, when));
    }

    /// Nobody has these numbers.
    pub(super) fn spare(&self, key: &JoinKey, numbers: Vec<Spare>) {
        if !numbers.is_empty() {
            self.lock().entry(key.clone()).or_default().spare.extend(numbers);
        }
    }

    /// For each newcomer of these networks a number that nobody has, of a room in this epoch at `now_ms`, if one is left
    /// that counts for its network: the limits of that hold for whoever has the number. The lowest first.
    pub(super) fn give(
        &self,
        key: &JoinKey,
        networks: &[Option<u64>],
        (reset_epoch, now_ms): When,
    ) -> Vec<Option<Newcomer>> {
        let mut left = self.lock();
        let Some(left) = left.get_mut(key) else { return vec![None; networks.len()] };
        left.spare.retain(|(_, one)| {
            one.reset_epoch == reset_epoch && now_ms.saturating_sub(one.now_ms) < FRESH_MS
        });
        let mut give = |network: &Option<u64>| {
            let nth = left.spare.iter().position(|(counts_for, _)| counts_for == network)?;
            left.spare.remove(nth).map(|(_, one)| one)
        };
        networks.iter().map(&mut give).collect()
    }

    /// Forgets what is left in rooms that are not there.
    pub(super) fn retain_rooms(&self, is_there: impl Fn(&RoomId) -> bool) {
        self.lock().retain(|key, _| is_there(&key.room));
    }

    fn lock(&self) -> MutexGuard<'_, FxHashMap<JoinKey, Left>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use vestibule_domain::Place;
    use vestibule_store::JoinMode;

    use super::*;
    use crate::batching::join_key::Reach;

    fn key(mode: JoinMode) -> JoinKey {
        JoinKey { room: RoomId::new("r").unwrap(), mode, reach: Reach::Unlimited }
    }

    fn newcomer(number: u64, reset_epoch: u64, now_ms: u64) -> Spare {
        let newcomer = Newcomer {
            place: Place { number, entered_at: 1, region: 0 },
            reset_epoch,
            generation: 1,
            now_ms,
            serving: 0,
            awaits_draw: false,
            token: None,
        };
        (None, newcomer)
    }

    #[test]
    fn a_call_is_unanswered_until_it_is_taken() {
        let (left, room) = (Unanswered::default(), key(JoinMode::Enter));
        assert_eq!(left.take(&room, (7, 1_000)), None);
        let sent = SentJoin {
            call: "a-1".into(),
            count: 3,
            networks: Vec::new(),
            key_id: "k".into(),
            issuer: "i".into(),
        };
        let kept_then = |kind: &JoinKey, now| {
            left.keep(&room, sent.clone(), (7, 1_000));
            left.take(kind, now)
        };
        assert_eq!(kept_then(&key(JoinMode::Queue), (7, 1_000)), None, "another kind of join");
        assert_eq!(kept_then(&room, (7, 30_999)), Some((sent.clone(), (7, 1_000))));
        assert_eq!(left.take(&room, (7, 30_999)), None, "it is taken for answered");
        assert_eq!(kept_then(&room, (7, 31_000)), None, "nobody would be given its numbers");
        assert_eq!(kept_then(&room, (8, 1_000)), None, "the room was reset");
    }

    #[test]
    fn spare_numbers_go_to_whoever_comes_next_unless_they_are_old() {
        let (left, room) = (Unanswered::default(), key(JoinMode::Enter));
        let numbers = vec![newcomer(3, 7, 1_000), newcomer(4, 6, 1_000), newcomer(5, 7, 20_000)];
        left.spare(&room, numbers);
        let given = |count, now_ms| {
            let given = left.give(&room, &vec![None; count], (7, now_ms));
            given.iter().flatten().map(|one| one.place.number).collect::<Vec<_>>()
        };
        assert_eq!(given(1, 30_000), [3]);
        assert_eq!(given(9, 49_000), [5], "that of before a reset is void");
        left.spare(&room, vec![newcomer(6, 7, 1_000)]);
        assert!(given(9, 31_000).is_empty());
    }

    #[test]
    fn a_spare_number_goes_to_a_newcomer_of_the_network_that_it_counts_for() {
        let (left, room) = (Unanswered::default(), key(JoinMode::Enter));
        let of = |network, number| (Some(network), newcomer(number, 7, 1_000).1);
        left.spare(&room, vec![of(4, 11), of(5, 12), of(4, 13)]);
        let given = |networks: &[Option<u64>]| -> Vec<_> {
            let given = left.give(&room, networks, (7, 2_000));
            given.iter().map(|one| one.as_ref().map(|one| one.place.number)).collect()
        };
        assert_eq!(given(&[Some(6), Some(5), Some(4)]), [None, Some(12), Some(11)]);
        assert_eq!(given(&[Some(5), Some(4), Some(4)]), [None, Some(13), None]);
    }

    #[test]
    fn of_a_room_that_is_not_there_nothing_is_left() {
        let (left, sale) = (Unanswered::default(), key(JoinMode::Enter));
        let gala = JoinKey { room: RoomId::new("gala").unwrap(), ..sale.clone() };
        for room in [&sale, &gala] {
            left.spare(room, vec![newcomer(3, 7, 1_000)]);
        }
        left.retain_rooms(|room| *room != gala.room);
        let given = [&sale, &gala].map(|room| left.give(room, &[None], (7, 1_000))[0].is_some());
        assert_eq!(given, [true, false]);
    }
}
