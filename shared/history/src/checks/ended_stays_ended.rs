//! No session lives after its end was acknowledged, and none begins of a place that was given back.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    Event, Invariant, What,
    check::{Check, Facts, Findings, Seen, Turn},
    checks::holding,
};

/// A number whose session was ended, or whose place was given back, which somebody knows, never has a session again.
///
/// A violation: a seat taken, a claim repeated or a session renewed by a call that began after
/// the end was acknowledged. Why: whoever was sent away, or has said that it is done, is gone, and its
/// seat is another's.
///
/// Not a violation: such an answer to a call that was under way when the end was acknowledged; an end
/// of unknown outcome; an end that found no session, because the visitor may enter later; gateways
/// that verify tokens by themselves, which histories do not show; any number after a reset; a place that was used on the
/// other side of a split than where it was given back: later, or before, if it was given back until `settles_ms` after the
/// split; an end that only those know who are apart; and one that Redis lost, as a restoration shows, when all had stopped
/// who ran when it came, or, while somebody is awaited, when none of them had told before the restoration: whoever has a
/// ticket and may be inside is not thrown out for a silence.
#[derive(Debug, Clone, Default)]
pub(super) struct EndedStaysEnded {
    ends: FxHashMap<(u64, u64), End>,
    /// Who was inside apart.
    apart: FxHashSet<(u64, u64)>,
    /// When the last split was over, ms.
    healed_ms: Option<u64>,
    services: FxHashMap<Arc<str>, Service>,
    /// The reset epoch and the generation of the room.
    state: (u64, u32),
    /// When that was heard of for the first time, ms.
    since_ms: u64,
    /// Whether somebody is awaited, and in which state that was heard of.
    awaits: ((u64, u32), bool),
}

/// When a service was there, ms.
#[derive(Debug, Clone, Default)]
struct Service {
    /// It was heard of for the first time,
    first: u64,
    /// and for the last.
    last: u64,
    /// It last began to tell what it had seen.
    testified: u64,
    /// The same before the room came to its state; `None`: it was silent.
    spoke: Option<u64>,
}

#[derive(Debug, Clone)]
struct End {
    event: Arc<Event>,
    state: (u64, u32),
}

// === impl EndedStaysEnded ===

impl Check for EndedStaysEnded {
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        if !matches!(now.what, What::Visitor(_) | What::KeyLost) {
            let new = || Service { first: now.at_ms, ..Service::default() };
            let service = self.services.entry(Arc::clone(&now.by)).or_insert_with(new);
            service.last = now.at_ms;
            if matches!(now.what, What::Testified) {
                service.testified = now.began_ms;
            }
        }
        if let What::Snapshot(seen) = &now.what {
            let state = (seen.reset_epoch, seen.generation);
            if state >= self.awaits.0 {
                self.awaits = (state, seen.awaits);
            }
        }
        if let Some(state) = now.state().filter(|state| *state > self.state) {
            self.come_to(state, now.at_ms);
        }
        for holder in over(&now.what) {
            if self.is_inside_apart(holder, now, facts.bounds.settles_ms) {
                continue;
            }
            let end = || End { event: now.keep(), state: self.state };
            self.ends.entry(holder).or_insert_with(end);
        }
        let Some(held) = holding(now).filter(|_| !self.ends.is_empty()) else { return };
        for holder in held.holders() {
            let end = self.ends.get(&holder).filter(|end| now.follows(&end.event));
            if let Some(end) = end.filter(|end| self.is_known(end)) {
                let what = format!("number {} has a session after its end", holder.1);
                found.add(Invariant::EndedStaysEnded, what, &[&end.event, now]);
            }
        }
    }

    /// On the other side nobody can know that a place was given back here: whoever has entered by it there stays inside.
    fn hear_apart(&mut self, now: &Seen<'_>, _facts: &Facts, _found: &mut Findings<'_>) {
        let Some(held) = holding(now) else { return };
        for holder in held.holders() {
            self.apart.insert(holder);
            let is_place = |end: &End| matches!(end.event.what, What::GivenUp { .. });
            if self.ends.get(&holder).is_some_and(is_place) {
                self.ends.remove(&holder);
            }
        }
    }

    fn turn(&mut self, turn: &Turn, _facts: &Facts) {
        self.healed_ms = turn.is_over.then_some(turn.at_ms);
    }
}

impl EndedStaysEnded {
    /// Whether it is a place that is given back while those who were apart may not have told yet who entered by it there.
    fn is_inside_apart(&self, holder: (u64, u64), now: &Event, settles_ms: u64) -> bool {
        let has_settled =
            self.healed_ms.is_some_and(|healed_ms| now.began_ms > healed_ms + settles_ms);
        matches!(now.what, What::GivenUp { .. }) && !has_settled && self.apart.contains(&holder)
    }

    fn come_to(&mut self, state: (u64, u32), at_ms: u64) {
        for service in self.services.values_mut() {
            let testified = service.testified;
            service.spoke = (testified >= self.since_ms).then_some(testified);
        }
        (self.state, self.since_ms) = (state, at_ms);
    }

    /// Whether Redis has lost nothing since, or somebody runs still who was told, and has told it, if that is not known
    /// of all.
    fn is_known(&self, end: &End) -> bool {
        let ended_ms = end.event.at_ms;
        let was_restored = self.state.1 > 1;
        let all_have_told = !was_restored || self.awaits == (self.state, false);
        let has_told = |service: &Service| {
            service.first <= ended_ms
                && service.last >= self.since_ms
                && (all_have_told || service.spoke.is_some_and(|told_ms| told_ms >= ended_ms))
        };
        end.state == self.state || self.services.values().any(has_told)
    }
}

/// By reset epoch and number: who is out for good.
fn over(what: &What) -> Vec<(u64, u64)> {
    match what {
        What::Ended(ended) => {
            let sessions = ended.sessions.iter().filter(|session| session.ended);
            sessions.map(|session| (ended.reset_epoch, session.number)).collect()
        }
        What::GivenUp { reset_epoch, places, .. } => {
            places.iter().map(|(number, _)| (*reset_epoch, *number)).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Call, ClaimedAs, Ended, EndedSession, ServersAre, SnapshotSeen, Token, Touched,
        checks::testing::{EPOCH, History, claimed, end_sent, ended, rules, snapshot, token},
    };

    fn renewed(number: u64) -> What {
        let token = Some(token(10, 310));
        What::Touched(Touched { id_epoch: EPOCH, generation: 1, number, token })
    }

    fn restored(awaits: bool) -> What {
        What::Snapshot(SnapshotSeen { generation: 2, awaits, ..snapshot(0, rules()) })
    }

    #[test]
    fn a_renewal_or_a_claim_after_the_end_is_found() {
        let left = || History::new().does(5, renewed(3)).does(9, ended(3)).holds();
        left().does(10, renewed(3)).breaks(Invariant::EndedStaysEnded);
        let again = claimed(3, ClaimedAs::Repeated(token(10, 310)));
        left().does(10, again).breaks(Invariant::EndedStaysEnded);
    }

    /// Number 3 gives its place back.
    fn given_back() -> What {
        What::GivenUp { reset_epoch: EPOCH, places: vec![(3, None)], positions: vec![3] }
    }

    fn used(number: u64, as_: fn(Token) -> ClaimedAs) -> What {
        claimed(number, as_(token(10, 310)))
    }

    /// `b` is apart since 9 ms.
    fn split() -> History {
        let split = ServersAre::Split { since_ms: 8, apart: vec!["b".into()] };
        let begun = History::new().does(7, What::Servers(ServersAre::Lagging));
        begun.does(9, What::Servers(split))
    }

    fn healed(history: History) -> History {
        history.does(15, What::Servers(ServersAre::Healed))
    }

    #[test]
    fn whoever_has_given_its_place_back_does_not_enter() {
        let left = || History::new().does(9, given_back()).holds();
        left().does(10, used(4, ClaimedAs::Seated)).holds();
        left().does(10, used(3, ClaimedAs::Seated)).breaks(Invariant::EndedStaysEnded);
    }

    #[test]
    fn whoever_has_entered_on_the_other_side_of_a_split_stays_inside() {
        let left = || split().call((11, 11), "a", given_back());
        let apart = left().call((13, 13), "b", used(3, ClaimedAs::Seated)).holds();
        healed(apart).call((20, 20), "a", used(3, ClaimedAs::Repeated)).holds();
        let entered = healed(left()).call((20, 20), "a", used(3, ClaimedAs::Seated));
        entered.breaks(Invariant::EndedStaysEnded);
    }

    #[test]
    fn whoever_entered_apart_before_its_place_was_given_back_here_stays_inside() {
        let apart = || split().call((11, 11), "b", used(3, ClaimedAs::Seated));
        let again = |at| {
            let left = healed(apart()).call((at, at), "a", given_back());
            left.call((at + 5, at + 5), "a", used(3, ClaimedAs::Repeated))
        };
        again(16).holds();
        // By then all who were apart have told of it, and nobody who is inside gives a place back.
        again(10_016).breaks(Invariant::EndedStaysEnded);
    }

    #[test]
    fn what_redis_lost_nobody_knows_if_all_have_stopped_who_were_told() {
        let again = || {
            let token = Some(token(10, 310));
            What::Touched(Touched { id_epoch: EPOCH, generation: 2, number: 3, token })
        };
        let left = || {
            let left = History::new().call((5, 5), "a", renewed(3)).call((9, 9), "a", ended(3));
            left.call((15, 15), "b", restored(false))
        };
        left().call((20, 20), "b", again()).holds();
        left().call((20, 20), "a", again()).breaks(Invariant::EndedStaysEnded);
        let told = left().call((20, 20), "b", again()).call((30, 30), "a", renewed(4));
        told.call((40, 40), "b", again()).breaks(Invariant::EndedStaysEnded);
        left().call((20, 20), "b", renewed(3)).breaks(Invariant::EndedStaysEnded);
    }

    #[test]
    fn while_somebody_is_awaited_an_end_is_known_by_whoever_has_told() {
        let again = || {
            let token = Some(token(10, 310));
            What::Touched(Touched { id_epoch: EPOCH, generation: 2, number: 3, token })
        };
        // "a" knows of the end, and of "b" the leader has heard.
        let left = || History::new().call((9, 9), "a", ended(3));
        let silent = || {
            let told = left().call((15, 15), "b", What::Testified);
            told.call((20, 20), "b", restored(true)).call((21, 21), "a", What::RoomMissing)
        };
        silent().call((25, 25), "b", again()).holds();
        let heard = || {
            let late = silent().call((25, 25), "b", again()).call((30, 30), "a", What::Testified);
            late.call((35, 35), "b", again())
        };
        heard().holds();
        let dismissed = heard().call((40, 40), "b", restored(false));
        dismissed.call((45, 45), "b", again()).breaks(Invariant::EndedStaysEnded);
        let told = left().call((15, 15), "a", What::Testified).call((20, 20), "b", restored(true));
        let told = told.call((25, 25), "b", again()).call((26, 26), "a", What::RoomMissing);
        told.call((30, 30), "b", again()).breaks(Invariant::EndedStaysEnded);
    }

    #[test]
    fn calls_under_way_and_other_numbers_pass() {
        let history = History::new().call((5, 9), "b", ended(3));
        let history = history.call((9, 12), "a", renewed(3)).does(13, renewed(4)).holds();
        let gone =
            What::Touched(Touched { id_epoch: EPOCH, generation: 1, number: 3, token: None });
        history.does(14, gone).holds();
    }

    #[test]
    fn an_end_that_is_unknown_or_found_nothing_proves_nothing() {
        let numbers = vec![3];
        let lost = What::Unknown(Call::End { reset_epoch: EPOCH, numbers });
        let history = History::new().does(5, end_sent(3)).does(6, lost).does(7, renewed(3));
        let sessions = vec![EndedSession { number: 3, ended: false }];
        let none = What::Ended(Ended { reset_epoch: EPOCH, sessions });
        history.does(8, none).does(9, renewed(3)).holds();
    }
}
