//! Live sessions never exceed the ceiling in force when one is admitted.

use std::{collections::BTreeSet, sync::Arc};

use rustc_hash::FxHashMap;

use crate::{
    ClaimedAs, Event, Invariant, What,
    check::{Check, Facts, Findings, Seen, Turn},
    checks::{holding, may_end},
};

/// After each admission, no more sessions are certainly alive than the ceiling allows.
///
/// A session is certainly alive from the moment somebody knows that it has a seat, as long as
/// its token is valid (that is, *before* the second in which it expires, while Redis counts the seat
/// as taken to the end of that second) and until the first call that may end it is *sent*. Then it
/// counts again only if a call that began after that end was settled finds it alive. So seats
/// that come free while an admission is under way are never counted, in either clock.
///
/// A violation: an admission after which more sessions are certainly alive than the highest ceiling
/// that may have been in force while the call was under way. Why: the ceiling is what the site
/// survives.
///
/// Not a violation: more sessions than a ceiling that was lowered after they were admitted, or after their
/// seats were held for them; sessions of a time when the room was open to all or had no ceiling; visitors of a suspended room, who take no
/// seat; a seat whose end was sent and never answered; anything while no rules are known.
///
/// Each side of a split has the ceiling by itself: neither knows who enters on the other. Once it is over, whoever
/// entered apart counts as soon as somebody finds its session alive; and an end that somebody apart has sent may take
/// effect.
#[derive(Debug, Clone, Default)]
pub(super) struct Ceiling {
    live: FxHashMap<(u64, u64), u64>,
    /// When the token of each expires, unix seconds, and who holds it.
    by_end: BTreeSet<(u64, (u64, u64))>,
    /// Until when calls that may end a session may be under way, ms.
    ending: FxHashMap<(u64, u64), u64>,
    /// Until when a seat is held for each, ms.
    held: FxHashMap<(u64, u64), u64>,
    reset_epoch: u64,
    last: Option<Arc<Event>>,
    /// Sessions whose ends were sent by those apart.
    ended_apart: Vec<(u64, u64)>,
}

// === impl Ceiling ===

impl Check for Ceiling {
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        self.end(now, facts.bounds.settles_ms);
        self.hold(now);
        let Some(held) = holding(now) else { return };
        if held.reset_epoch > self.reset_epoch {
            // A reset has ended all others.
            self.reset_epoch = held.reset_epoch;
            self.live.clear();
            self.by_end.clear();
            self.ending.clear();
        }
        if held.reset_epoch < self.reset_epoch {
            return;
        }
        for holder in held.holders() {
            if self.ending.get(&holder).is_none_or(|until| now.began_ms > *until) {
                self.keep(holder, held.token.expires_at);
            }
        }
        let comes_for_its_seat =
            held.holders().all(|holder| self.held.remove(&holder) >= Some(now.began_ms));
        let is_new = held.is_new && !comes_for_its_seat;
        self.forget_expired(now.at_ms + facts.bounds.clock_error_ms);
        if is_new {
            self.check(now, held.admitted_from(now, facts), facts, found);
        }
    }

    fn hear_apart(&mut self, now: &Seen<'_>, facts: &Facts, _found: &mut Findings<'_>) {
        if let Some((epoch, numbers)) = may_end(now) {
            self.end(now, facts.bounds.settles_ms);
            self.ended_apart.extend(numbers.into_iter().map(|number| (epoch, number)));
        }
    }

    fn turn(&mut self, turn: &Turn, facts: &Facts) {
        if turn.is_over {
            for holder in std::mem::take(&mut self.ended_apart) {
                self.ending.insert(holder, turn.at_ms + facts.bounds.settles_ms);
                self.forget(holder);
            }
        }
    }
}

impl Ceiling {
    fn hold(&mut self, now: &Seen<'_>) {
        if let What::Claimed(claimed) = &now.what
            && let ClaimedAs::Held { until_ms } = claimed.outcome
        {
            self.held.insert((claimed.id_epoch, claimed.number), until_ms);
        }
    }

    fn end(&mut self, now: &Seen<'_>, settles_ms: u64) {
        let Some((epoch, numbers)) = may_end(now) else { return };
        let is_answered = matches!(now.what, What::Ended(_));
        let until = if is_answered { now.at_ms } else { now.at_ms + settles_ms };
        for number in numbers {
            self.ending.insert((epoch, number), until);
            self.forget((epoch, number));
        }
    }

    fn keep(&mut self, holder: (u64, u64), expires_at: u64) {
        let end = self.live.get(&holder).copied().unwrap_or(0);
        if expires_at > end {
            self.by_end.remove(&(end, holder));
            self.by_end.insert((expires_at, holder));
            self.live.insert(holder, expires_at);
        }
    }

    fn forget(&mut self, holder: (u64, u64)) {
        if let Some(end) = self.live.remove(&holder) {
            self.by_end.remove(&(end, holder));
        }
    }

    fn forget_expired(&mut self, now_ms: u64) {
        while let Some(&(end, holder)) = self.by_end.first()
            && end * 1000 <= now_ms
        {
            self.forget(holder);
        }
    }

    /// Whether there are too many after those have entered who were admitted at `from_ms` at the soonest.
    fn check(&mut self, now: &Seen<'_>, from_ms: u64, facts: &Facts, found: &mut Findings<'_>) {
        let live = self.live.len() as u64;
        let ceiling = facts.highest((from_ms, now.at_ms), |rules| rules.ceiling);
        if let Some(ceiling) = ceiling
            && live > ceiling
        {
            let what = format!("{live} sessions are alive, and the ceiling is {ceiling}");
            let before = self.last.as_deref();
            let evidence: Vec<_> = before.into_iter().chain([now.event]).collect();
            found.add(Invariant::Ceiling, what, &evidence);
        }
        self.last = Some(now.keep());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        PutAs, Rules,
        checks::testing::{
            EPOCH, History, claimed, end_sent, ended, entered, put, put_sent, rules, token,
        },
    };

    fn limit(ceiling: u64) -> Rules {
        Rules { ceiling: Some(ceiling), ..rules() }
    }

    fn seated(number: u64, expires_at: u64) -> What {
        claimed(number, ClaimedAs::Seated(token(10, expires_at)))
    }

    /// Two of two seats are taken, until 310 and 320 s.
    fn full() -> History {
        let history = History::ruled(limit(2)).does(10_000, entered(1, 5, 1, Some(token(10, 310))));
        history.does(20_000, seated(2, 320)).holds()
    }

    #[test]
    fn one_too_many_is_found() {
        full().does(30_000, seated(3, 330)).breaks(Invariant::Ceiling);
        let history = History::ruled(limit(2));
        history.does(9, entered(1, 3, 3, Some(token(10, 310)))).breaks(Invariant::Ceiling);
    }

    #[test]
    fn a_join_that_is_answered_late_took_its_seat_when_its_token_says() {
        let lowered = || {
            let lower = put(Some(2), limit(1), PutAs::Changed);
            History::ruled(limit(2))
                .does(10_000, entered(1, 1, 1, Some(token(10, 310))))
                .does(20_000, lower)
        };
        let asked_again = (29_000, 29_010);
        let of_then = entered(2, 1, 1, Some(token(12, 312)));
        lowered().call(asked_again, "a", of_then).holds();
        let of_now = entered(2, 1, 1, Some(token(29, 329)));
        lowered().call(asked_again, "a", of_now).breaks(Invariant::Ceiling);
    }

    #[test]
    fn a_join_that_was_asked_again_in_the_same_second_may_have_taken_its_seat_before() {
        let lowered = || {
            History::ruled(limit(2))
                .does(10_000, entered(1, 1, 1, Some(token(10, 310))))
                .does(20_300, put(Some(2), limit(1), PutAs::Changed))
        };
        let joined = |again| {
            let mut joined = entered(2, 1, 1, Some(token(20, 320)));
            let What::Joined(join) = &mut joined else { unreachable!() };
            join.again = again;
            joined
        };
        lowered().call((20_500, 20_600), "a", joined(true)).holds();
        lowered().call((20_500, 20_600), "a", joined(false)).breaks(Invariant::Ceiling);
    }

    #[test]
    fn a_seat_comes_free_by_expiry_or_by_a_call_that_may_have_ended_it() {
        full().does(309_999, seated(3, 600)).breaks(Invariant::Ceiling);
        full().does(310_000, seated(3, 600)).holds();
        full().does(30_000, end_sent(2)).does(30_001, seated(3, 600)).holds();
        full().does(30_000, ended(1)).does(30_001, seated(3, 600)).holds();
    }

    #[test]
    fn a_renewed_session_lives_on() {
        let renewed = claimed(1, ClaimedAs::Repeated(token(200, 500)));
        full().does(200_000, renewed).does(315_000, seated(3, 600)).breaks(Invariant::Ceiling);
    }

    #[test]
    fn a_renewal_while_the_end_is_under_way_proves_nothing() {
        let renewed = || claimed(2, ClaimedAs::Repeated(token(10, 320)));
        let ending = || full().does(30_000, end_sent(2)).does(30_002, renewed());
        ending().does(30_003, seated(3, 600)).does(30_004, ended(2)).holds();
        let sessions = vec![crate::EndedSession { number: 2, ended: false }];
        let none = What::Ended(crate::Ended { reset_epoch: EPOCH, sessions });
        let there = ending().does(30_004, none).does(30_005, renewed()).holds();
        there.does(30_006, seated(3, 600)).breaks(Invariant::Ceiling);
    }

    #[test]
    fn while_a_ceiling_is_changed_both_may_hold() {
        let history = full().call((30_000, 30_000), "c", put_sent(Some(2), limit(3)));
        let history = history.does(30_001, seated(3, 600)).holds();
        let changed = put(Some(2), limit(3), PutAs::Changed);
        let history = history.call((30_000, 30_005), "c", changed).does(40_000, end_sent(3));
        history
            .does(40_001, seated(4, 600))
            .holds()
            .does(40_002, seated(5, 600))
            .breaks(Invariant::Ceiling);
    }

    #[test]
    fn a_lowered_ceiling_binds_whoever_comes_after() {
        let lower = || put(Some(2), limit(1), PutAs::Changed);
        let history = full().call((30_000, 30_010), "c", lower()).holds();
        let history = history.call((30_005, 30_020), "a", end_sent(2)).holds();
        history.call((30_011, 30_030), "a", seated(3, 600)).breaks(Invariant::Ceiling);
        let history = full().does(29_000, end_sent(2)).call((30_000, 30_010), "c", lower());
        history.call((30_005, 30_030), "a", seated(3, 600)).holds();
    }

    #[test]
    fn a_seat_that_was_held_before_the_ceiling_was_lowered_is_its_visitors() {
        let held = || {
            let history = History::ruled(limit(2));
            let history = history.does(10_000, entered(1, 5, 1, Some(token(10, 310))));
            let history = history.does(11_000, claimed(2, ClaimedAs::Held { until_ms: 41_000 }));
            history.call((30_000, 30_010), "c", put(Some(2), limit(1), PutAs::Changed))
        };
        held().does(40_999, seated(2, 320)).holds();
        held().does(41_001, seated(2, 320)).breaks(Invariant::Ceiling);
        held().does(31_000, seated(3, 320)).breaks(Invariant::Ceiling);
    }

    #[test]
    fn a_reset_frees_all_seats() {
        let mut fresh = entered(1, 2, 2, Some(token(30, 330)));
        let What::Joined(join) = &mut fresh else { unreachable!() };
        join.reset_epoch += 1;
        full().does(30_000, fresh).holds();
    }

    #[test]
    fn without_rules_or_in_an_open_room_there_is_no_ceiling() {
        let many = || entered(1, 9, 9, Some(token(1, 310)));
        History::new().does(9, many()).holds();
        History::ruled(Rules { open: true, ..limit(1) }).does(9, many()).holds();
    }
}
