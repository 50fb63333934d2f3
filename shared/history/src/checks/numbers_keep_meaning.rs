//! A place stays valid until the room is reset or deleted, or the place expires by the rules.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    Act, Call, Claimed, ClaimedAs, Event, Invariant, SessionApi, ToldStatus, What,
    check::{Check, Facts, Findings, Seen},
    checks::holding,
};

/// Nobody who has a place is told that there is none.
///
/// A violation, of claims: `foreign` for an id of an epoch that nothing can have ended; `session ended`
/// for a number that never had one, and was not given back; `position expired` although the position was certainly not served
/// for as long as the rules give it (an AWS-style visitor the expiry, a visitor of the page twice
/// that), or does not expire at all. Of honest visitors: being told that what they carry is unknown.
/// Why: the number is all that a visitor has.
///
/// A position was certainly not served when a call began that then found the counter below it. Its time
/// begins at the latest of that, of the visitor's arrival, and of its last claim that found no seat.
///
/// Not a violation: any of this when a reset or a deletion may have taken effect since; what hostile
/// visitors are told. `session ended` is checked only in complete histories, and not where
/// the outcome of a claim is unknown. Sessions that began on the other side of a split count, and places that were
/// given back there.
#[derive(Debug, Clone, Default)]
pub(super) struct NumbersKeepMeaning {
    epochs: FxHashMap<u64, Arc<Event>>,
    /// Who may have had a session, or have given its place back.
    may_be_over: FxHashSet<(u64, u64)>,
    no_seat: FxHashMap<(u64, u64), u64>,
    visitors: FxHashMap<Arc<str>, Arc<Event>>,
}

// === impl NumbersKeepMeaning ===

impl Check for NumbersKeepMeaning {
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        match &now.what {
            What::Claimed(claimed) => self.claimed(claimed, now, facts, found),
            What::Visitor(Act::Arrived { honest: true, .. }) => {
                self.visitors.insert(Arc::clone(&now.by), now.keep());
            }
            What::Visitor(Act::Asked(asked)) if asked.status == ToldStatus::Unknown => {
                if let Some(arrived) = self.visitors.get(&now.by)
                    && !facts.may_be_void(arrived.began_ms)
                {
                    let what = format!("{} is told that its place is unknown", now.by);
                    found.add(Invariant::NumbersKeepMeaning, what, &[arrived, now]);
                }
            }
            _ => {}
        }
        if let Some(epoch) = now.reset_epoch() {
            self.epochs.entry(epoch).or_insert_with(|| now.keep());
        }
        self.may_be_over(now);
    }

    fn hear_apart(&mut self, now: &Seen<'_>, _facts: &Facts, _found: &mut Findings<'_>) {
        self.may_be_over(now);
    }
}

impl NumbersKeepMeaning {
    /// Takes in who may have had a session, or have given its place back.
    fn may_be_over(&mut self, now: &Seen<'_>) {
        match &now.what {
            What::Unknown(Call::Claim { reset_epoch, number, .. }) => {
                self.may_be_over.insert((*reset_epoch, *number));
            }
            What::Sent(Call::GiveUp { reset_epoch, numbers, .. }) => {
                self.may_be_over.extend(numbers.iter().map(|number| (*reset_epoch, *number)));
            }
            What::Joined(joined) if joined.again => {
                let numbers = joined.first..joined.first + joined.count;
                self.may_be_over.extend(numbers.map(|number| (joined.reset_epoch, number)));
            }
            _ => {}
        }
        if let Some(held) = holding(now) {
            self.may_be_over.extend(held.holders());
        }
    }

    fn claimed(
        &mut self,
        claimed: &Claimed,
        now: &Seen<'_>,
        facts: &Facts,
        found: &mut Findings<'_>,
    ) {
        let holder = (claimed.id_epoch, claimed.number);
        match &claimed.outcome {
            ClaimedAs::Foreign => {
                if let Some(first) = self.epochs.get(&claimed.id_epoch)
                    && !facts.may_be_void(first.began_ms)
                {
                    let what = format!("number {} is foreign in its own epoch", claimed.number);
                    found.add(Invariant::NumbersKeepMeaning, what, &[first, now]);
                }
            }
            ClaimedAs::SessionEnded
                if facts.bounds.is_complete && !self.may_be_over.contains(&holder) =>
            {
                let what = format!(
                    "the session of number {} is over, and it never had one",
                    claimed.number
                );
                found.add(Invariant::NumbersKeepMeaning, what, &[now]);
            }
            ClaimedAs::PositionExpired => self.expired(claimed, now, facts, found),
            // Of whom its network keeps out, the time runs.
            ClaimedAs::NoSeat if claimed.network.is_some_and(|network| network.kept_out) => {}
            ClaimedAs::NoSeat => drop(self.no_seat.insert(holder, now.began_ms)),
            _ => {}
        }
    }

    fn expired(&self, claimed: &Claimed, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        let Some(position) = claimed.position else { return };
        let unserved = facts.unserved_until(claimed.reset_epoch, position);
        let asked = self.no_seat.get(&(claimed.id_epoch, claimed.number)).copied().unwrap_or(0);
        let since = unserved.max(claimed.entered_at * 1000).max(asked);
        let times = if claimed.api == SessionApi::Visitor { 2_000 } else { 1_000 };
        let least = shortest_expiry(facts, now).map(|seconds| seconds.saturating_mul(times));
        if let Some(least) = least
            && now.at_ms.saturating_sub(since) < least
        {
            let late = now.at_ms.saturating_sub(since);
            let what =
                format!("position {position} expired, which was served for {late} ms at most");
            found.add(Invariant::NumbersKeepMeaning, what, &[now]);
        }
    }
}

/// The shortest expiry that may be in force, in seconds; `None`: nothing is known. Without an expiry
/// it is infinite.
fn shortest_expiry(facts: &Facts, now: &Event) -> Option<u64> {
    let rules = facts.rules(now.began_ms, now.at_ms);
    rules.map(|rules| rules.position_expiry_seconds.unwrap_or(u64::MAX)).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Rules,
        checks::testing::{EPOCH, History, arrived, asked, claimed, joined, rules, token},
    };

    fn served(serving_counter: i64) -> What {
        What::Served { reset_epoch: EPOCH, serving_counter }
    }

    fn expired(api: SessionApi) -> What {
        let What::Claimed(claim) = claimed(5, ClaimedAs::PositionExpired) else { unreachable!() };
        What::Claimed(Claimed { api, ..claim })
    }

    /// Position 5 is not served at 100 s, and served at 101 s.
    fn turn() -> History {
        History::ruled(Rules { position_expiry_seconds: Some(10), ..rules() })
            .does(100_000, served(4))
            .does(101_000, served(5))
    }

    #[test]
    fn a_position_that_expires_too_early_is_found() {
        turn().does(109_999, expired(SessionApi::Aws)).breaks(Invariant::NumbersKeepMeaning);
        turn().does(110_000, expired(SessionApi::Aws)).holds();
        turn().does(119_999, expired(SessionApi::Visitor)).breaks(Invariant::NumbersKeepMeaning);
        turn().does(120_000, expired(SessionApi::Visitor)).holds();
    }

    #[test]
    fn the_time_begins_anew_for_who_found_no_seat() {
        let history = turn().does(105_000, claimed(5, ClaimedAs::NoSeat));
        history.does(114_000, expired(SessionApi::Aws)).breaks(Invariant::NumbersKeepMeaning);
    }

    #[test]
    fn where_nothing_expires_nothing_expires() {
        let never = Rules { position_expiry_seconds: None, ..rules() };
        let history = History::ruled(never).does(100_000_000, expired(SessionApi::Aws));
        history.breaks(Invariant::NumbersKeepMeaning);
        History::new().does(100_000_000, expired(SessionApi::Aws)).holds();
    }

    #[test]
    fn a_foreign_id_needs_a_reset() {
        let foreign = || claimed(5, ClaimedAs::Foreign);
        let history = || History::new().does(5, joined(1, 9));
        history().does(9, foreign()).breaks(Invariant::NumbersKeepMeaning);
        history().call((6, 6), "c", What::Sent(Call::Reset)).does(9, foreign()).holds();
        History::new().does(9, foreign()).holds();
    }

    #[test]
    fn a_session_is_over_only_if_there_was_one() {
        let over = || claimed(5, ClaimedAs::SessionEnded);
        History::new().does(9, over()).breaks(Invariant::NumbersKeepMeaning);
        let inside = claimed(5, ClaimedAs::Seated(token(1, 9)));
        History::new().does(8, inside).does(9, over()).holds();
        let lost = What::Unknown(Call::Claim {
            reset_epoch: EPOCH,
            number: 5,
            position: Some(5),
            api: SessionApi::Visitor,
            network: None,
        });
        History::new().does(8, lost).does(9, over()).holds();
        let mut again = joined(4, 6);
        let What::Joined(join) = &mut again else { unreachable!() };
        join.again = true;
        History::new().does(8, again).does(9, over()).holds();
        let given_up =
            What::Sent(Call::GiveUp { reset_epoch: EPOCH, numbers: vec![5], networks: Vec::new() });
        History::new().does(8, given_up).does(9, over()).holds();
    }

    #[test]
    fn an_honest_visitor_is_never_unknown_without_a_reset() {
        let history = || History::new().call((5, 5), "ann", arrived(5));
        let unknown = || asked(ToldStatus::Unknown, 5);
        history().call((9, 9), "ann", unknown()).breaks(Invariant::NumbersKeepMeaning);
        history().does(8, What::Sent(Call::Delete)).call((9, 9), "ann", unknown()).holds();
        history().call((9, 9), "bob", unknown()).holds();
    }
}
