//! No session lives after its end was acknowledged, and none begins of a place that was given back.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::{
    Event, Invariant, What,
    check::{Check, Facts, Findings, Seen},
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
/// other side of a split than where it was given back; an end that only those know who are apart; and one that Redis
/// lost, as a restoration shows, when all had stopped who ran when it came.
#[derive(Debug, Clone, Default)]
pub(super) struct EndedStaysEnded {
    ends: FxHashMap<(u64, u64), End>,
    /// When each service was heard of for the first and the last time, ms.
    services: FxHashMap<Arc<str>, (u64, u64)>,
    /// The reset epoch and the generation of the room.
    state: (u64, u32),
    /// When that was heard of for the first time, ms.
    since_ms: u64,
}

#[derive(Debug, Clone)]
struct End {
    event: Arc<Event>,
    state: (u64, u32),
}

// === impl EndedStaysEnded ===

impl Check for EndedStaysEnded {
    fn observe(&mut self, now: &Seen<'_>, _facts: &Facts, found: &mut Findings<'_>) {
        if !matches!(now.what, What::Visitor(_) | What::KeyLost) {
            let heard = self.services.entry(Arc::clone(&now.by)).or_insert((now.at_ms, 0));
            heard.1 = now.at_ms;
        }
        if let Some(state) = now.state().filter(|state| *state > self.state) {
            (self.state, self.since_ms) = (state, now.at_ms);
        }
        for holder in over(&now.what) {
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
            let is_place = |end: &End| matches!(end.event.what, What::GivenUp { .. });
            if self.ends.get(&holder).is_some_and(is_place) {
                self.ends.remove(&holder);
            }
        }
    }
}

impl EndedStaysEnded {
    /// Whether Redis has lost nothing since, or somebody runs still who was told.
    fn is_known(&self, end: &End) -> bool {
        let was_told = |(first_ms, last_ms): &(u64, u64)| {
            *first_ms <= end.event.at_ms && *last_ms >= self.since_ms
        };
        end.state == self.state || self.services.values().any(was_told)
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
        Call, ClaimedAs, Ended, EndedSession, ServersAre, Touched,
        checks::testing::{EPOCH, History, claimed, end_sent, ended, token},
    };

    fn renewed(number: u64) -> What {
        let token = Some(token(10, 310));
        What::Touched(Touched { id_epoch: EPOCH, generation: 1, number, token })
    }

    #[test]
    fn a_renewal_or_a_claim_after_the_end_is_found() {
        let left = || History::new().does(5, renewed(3)).does(9, ended(3)).holds();
        left().does(10, renewed(3)).breaks(Invariant::EndedStaysEnded);
        let again = claimed(3, ClaimedAs::Repeated(token(10, 310)));
        left().does(10, again).breaks(Invariant::EndedStaysEnded);
    }

    #[test]
    fn whoever_has_given_its_place_back_does_not_enter() {
        let places = vec![(3, None)];
        let back = What::GivenUp { reset_epoch: EPOCH, places, positions: vec![3] };
        let left = || History::new().does(9, back.clone()).holds();
        let entered = |number| claimed(number, ClaimedAs::Seated(token(10, 310)));
        left().does(10, entered(4)).holds();
        left().does(10, entered(3)).breaks(Invariant::EndedStaysEnded);
    }

    #[test]
    fn whoever_has_entered_on_the_other_side_of_a_split_stays_inside() {
        let servers = |are| What::Servers(are);
        let split = servers(ServersAre::Split { since_ms: 8, apart: vec!["b".into()] });
        let back =
            What::GivenUp { reset_epoch: EPOCH, places: vec![(3, None)], positions: vec![3] };
        let entered = |as_: fn(_) -> _| claimed(3, as_(token(10, 310)));
        let left = || {
            let begun = History::new().does(7, servers(ServersAre::Lagging));
            begun.does(9, split.clone()).call((11, 11), "a", back.clone())
        };
        let healed = left().call((13, 13), "b", entered(ClaimedAs::Seated)).holds();
        let healed = healed.does(15, servers(ServersAre::Healed));
        healed.call((20, 20), "a", entered(ClaimedAs::Repeated)).holds();
        let healed = left().does(15, servers(ServersAre::Healed));
        healed.call((20, 20), "a", entered(ClaimedAs::Seated)).breaks(Invariant::EndedStaysEnded);
    }

    #[test]
    fn what_redis_lost_nobody_knows_if_all_have_stopped_who_were_told() {
        let again = || {
            let token = Some(token(10, 310));
            What::Touched(Touched { id_epoch: EPOCH, generation: 2, number: 3, token })
        };
        let left = || History::new().call((5, 5), "a", renewed(3)).call((9, 9), "a", ended(3));
        left().call((20, 20), "b", again()).holds();
        left().call((20, 20), "a", again()).breaks(Invariant::EndedStaysEnded);
        let told = left().call((20, 20), "b", again()).call((30, 30), "a", renewed(4));
        told.call((40, 40), "b", again()).breaks(Invariant::EndedStaysEnded);
        left().call((20, 20), "b", renewed(3)).breaks(Invariant::EndedStaysEnded);
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
