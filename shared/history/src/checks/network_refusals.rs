//! Nobody is turned away for a network that has not had its limit, or is only counted.

use std::{mem, sync::Arc};

use rustc_hash::{FxHashMap, FxHashSet};

use super::suspects::Suspects;
use crate::{
    Call, Claimed, ClaimedAs, Event, Invariant, Joined, JoinedAs, What,
    check::{Check, Facts, Findings, Seen},
};

/// A newcomer counts for a minute, and as long as the step of ten seconds in which it came, ms.
const JOINS_MS: u64 = 70_000;
/// A place counts for an hour, and as long as the step of ten minutes in which it was taken, ms.
const PLACES_MS: u64 = 4_200_000;

/// Whoever is turned away, or kept out, for its network is so because others of it may have had all that it may have. So
/// whoever is alone in its network is never refused by it, unless the limit is less than what it took itself.
///
/// A violation: somebody turned away although fewer newcomers of its network may have come within 70 seconds than the
/// limit, or fewer may have places; somebody kept out although fewer numbers of its network ever had a seat, or one held
/// for them; and anybody where the limit is only counted. Why: a limit that is too strict costs people who have done
/// nothing.
///
/// Whichever place is used or given back, the oldest that counts is what counts no more: in an hour it would not anyhow.
///
/// Not a violation: being turned away because of calls of others that were under way, or whose outcome is not known;
/// or because of places that were used or given back before Redis lost something: then they count again, as it may have
/// forgotten. In a room with more networks than are counted one by one nothing is concluded.
#[derive(Debug, Clone, Default)]
pub(super) struct NetworkRefusals {
    state: (u64, u32),
    networks: FxHashMap<u64, Network>,
    /// Number → the network that it came from, in this reset epoch and generation.
    from: FxHashMap<u64, u64>,
    /// What was heard, and may be of a reset that this side does not know yet.
    ahead: Vec<Arc<Event>>,
    suspects: Suspects,
}

/// What a network may have had.
#[derive(Debug, Clone, Default)]
struct Network {
    /// When newcomers were known, ms, in order.
    came: Vec<u64>,
    /// When those were whose places may count, ms, in order.
    places: Vec<u64>,
    /// When places were known to be used or given back, in order, and when those were known that count no more since, ms.
    left: Vec<(u64, u64)>,
    /// Numbers that may have had a seat.
    sat: FxHashSet<u64>,
    /// Joins of unknown outcome: each may have had one, too.
    unheard: u64,
}

/// So many networks are counted one by one.
const MOST: usize = 131_072;

// === impl NetworkRefusals ===

impl Check for NetworkRefusals {
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        self.suspects.settle(Invariant::NetworkRefusals, now.at_ms, facts, found);
        self.begin(now);
        self.take_in(now);
        self.note_what_is_ahead(now, facts);
        self.note_who_leaves(now, facts);
        if self.networks.len() < MOST {
            self.look(now, facts, found);
        }
    }

    /// Calls of those apart that were under way may have come to this side.
    fn hear_apart(&mut self, now: &Seen<'_>, facts: &Facts, _found: &mut Findings<'_>) {
        // Nothing was heard before: what is heard now is not of another reset.
        if self.state == <(u64, u32)>::default() {
            self.begin(now);
        }
        self.take_in(now);
        self.note_what_is_ahead(now, facts);
    }

    fn finish(&mut self, facts: &Facts, found: &mut Findings<'_>) {
        self.suspects.finish(Invariant::NetworkRefusals, facts, found);
    }
}

impl NetworkRefusals {
    /// After a restoration, places that had been used count again.
    fn begin(&mut self, now: &Seen<'_>) {
        let is_told = matches!(now.what, What::Joined(_) | What::Claimed(_));
        let Some(state) = now.state().filter(|_| is_told) else { return };
        if state.0 > self.state.0 {
            let ahead = mem::take(&mut self.ahead);
            *self = Self { state, ..Self::default() };
            for event in &ahead {
                self.take_in(&Seen::new(event));
            }
        } else if state > self.state {
            self.state = state;
            self.from.clear();
            self.networks.values_mut().for_each(Network::count_again);
        }
    }

    /// Keeps what those apart know of a later reset, and joins of unknown outcome, which may have come after one.
    fn note_what_is_ahead(&mut self, now: &Seen<'_>, facts: &Facts) {
        let is_ahead = match &now.what {
            What::Joined(Joined { reset_epoch, .. })
            | What::Claimed(Claimed { reset_epoch, .. })
            | What::Unknown(Call::Claim { reset_epoch, .. }) => *reset_epoch > self.state.0,
            What::Unknown(Call::Join { .. }) => true,
            _ => false,
        };
        if is_ahead {
            let from_ms = now.at_ms.saturating_sub(facts.bounds.settles_ms);
            let state = self.state;
            self.ahead
                .retain(|event| event.at_ms >= from_ms || event.reset_epoch() > Some(state.0));
            self.ahead.push(now.keep());
        }
    }

    /// Takes in what networks may have.
    fn take_in(&mut self, now: &Seen<'_>) {
        match &now.what {
            What::Joined(joined) if joined.reset_epoch == self.state.0 => {
                for (network, became) in joined.networks.iter().flat_map(|seen| &seen.newcomers) {
                    match became {
                        JoinedAs::Seated(number) => {
                            self.come(*network, Some(*number), now);
                            self.sit(*network, *number, now);
                        }
                        JoinedAs::Placed(number) => {
                            self.come(*network, Some(*number), now);
                            if joined.again {
                                self.sit(*network, *number, now);
                            }
                        }
                        JoinedAs::TooManyJoins | JoinedAs::TooManyPlaces => {}
                    }
                }
            }
            What::Unknown(Call::Join { networks, .. }) => {
                for network in networks {
                    self.come(*network, None, now);
                    self.networks.entry(*network).or_default().unheard += 1;
                }
            }
            What::Claimed(claimed) if claimed.reset_epoch == self.state.0 => {
                let sits = matches!(claimed.outcome, ClaimedAs::Seated(_) | ClaimedAs::Held { .. });
                if let Some(from) = claimed.network.filter(|_| sits) {
                    self.sit(from.network, claimed.number, now);
                }
            }
            What::Unknown(Call::Claim { number, network: Some(network), reset_epoch, .. })
                if *reset_epoch == self.state.0 =>
            {
                self.sit(*network, *number, now);
            }
            _ => {}
        }
    }

    /// Notes whose places are used or given back.
    fn note_who_leaves(&mut self, now: &Seen<'_>, facts: &Facts) {
        match &now.what {
            What::Joined(joined) => {
                for (network, became) in joined.networks.iter().flat_map(|seen| &seen.newcomers) {
                    if let JoinedAs::Seated(number) = became {
                        self.leave(*number, Some(*network), now, facts);
                    }
                }
            }
            What::Claimed(claimed) if matches!(claimed.outcome, ClaimedAs::Seated(_)) => {
                let from = claimed.network.map(|from| from.network);
                self.leave(claimed.number, from, now, facts);
            }
            What::GivenUp { reset_epoch, places, .. } if *reset_epoch == self.state.0 => {
                for (number, network) in places {
                    self.leave(*number, *network, now, facts);
                }
            }
            _ => {}
        }
    }

    fn come(&mut self, network: u64, number: Option<u64>, now: &Seen<'_>) {
        let seen = self.networks.entry(network).or_default();
        for times in [&mut seen.came, &mut seen.places] {
            times.drain(..times.partition_point(|at_ms| at_ms + 2 * PLACES_MS < now.at_ms));
            times.push(now.at_ms);
        }
        if let Some(number) = number {
            self.from.insert(number, network);
        }
        self.suspects.explain(network, now.began_ms, 1);
    }

    /// A place counts no more if this number is in the network still from which it came.
    fn leave(&mut self, number: u64, from: Option<u64>, now: &Seen<'_>, facts: &Facts) {
        let Some(network) = from.filter(|_| self.from.get(&number).copied() == from) else {
            return;
        };
        self.from.remove(&number);
        let oldest_ms = now.began_ms.saturating_sub(lasts_ms(PLACES_MS, facts));
        self.networks.entry(network).or_default().leave(oldest_ms, now.at_ms);
    }

    fn sit(&mut self, network: u64, number: u64, now: &Seen<'_>) {
        if self.networks.entry(network).or_default().sat.insert(number) {
            self.suspects.explain(network, now.began_ms, 1);
        }
    }

    /// Looks at those who are refused.
    fn look(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        match &now.what {
            What::Joined(joined) => {
                let Some(seen) = joined.networks.as_ref().filter(|_| !joined.again) else {
                    return;
                };
                for (network, became) in &seen.newcomers {
                    let limit = match became {
                        JoinedAs::TooManyJoins => seen.limits.joins,
                        JoinedAs::TooManyPlaces => seen.limits.places,
                        JoinedAs::Seated(_) | JoinedAs::Placed(_) => continue,
                    };
                    let had = self.had(*network, *became, now, facts);
                    self.refuse((*network, had, limit), seen.limits.only_logs, now, found);
                }
            }
            What::Claimed(claimed) => {
                let Some(from) = claimed.network.filter(|from| from.kept_out) else { return };
                let sat = self.networks.get(&from.network).map_or(0, Network::may_have_sat);
                self.refuse((from.network, sat, from.seats), from.only_logs, now, found);
            }
            _ => {}
        }
    }

    /// What the network may have had of that for which a newcomer is turned away.
    fn had(&self, network: u64, became: JoinedAs, now: &Seen<'_>, facts: &Facts) -> u64 {
        let Some(seen) = self.networks.get(&network) else { return 0 };
        let had = match became {
            JoinedAs::TooManyPlaces => {
                let from_ms = now.began_ms.saturating_sub(lasts_ms(PLACES_MS, facts));
                since(&seen.places, from_ms) + seen.left_since(now.began_ms)
            }
            _ => since(&seen.came, now.began_ms.saturating_sub(lasts_ms(JOINS_MS, facts))),
        };
        had as u64
    }

    fn refuse(
        &mut self,
        (network, had, limit): (u64, u64, Option<u64>),
        only_logs: bool,
        now: &Seen<'_>,
        found: &mut Findings<'_>,
    ) {
        if only_logs {
            let what =
                format!("somebody of network {network} is turned away, and it is only counted");
            found.add(Invariant::NetworkRefusals, what, &[now]);
        } else if let Some(limit) = limit.filter(|limit| had < *limit) {
            let what = format!("network {network} has had {had}, and may have {limit}");
            self.suspects.add(network, limit - had, what, now);
        }
    }
}

/// For how long what counts so long may do so.
fn lasts_ms(counts_ms: u64, facts: &Facts) -> u64 {
    counts_ms + facts.bounds.settles_ms + facts.bounds.clock_error_ms
}

/// How many of these times are not before `from_ms`.
fn since(times: &[u64], from_ms: u64) -> usize {
    times.len() - times.partition_point(|at_ms| *at_ms < from_ms)
}

// === impl Network ===

impl Network {
    /// Of those that count since `oldest_ms` the oldest counts no more.
    fn leave(&mut self, oldest_ms: u64, now_ms: u64) {
        self.left.drain(..self.left.partition_point(|(at_ms, _)| at_ms + 2 * PLACES_MS < now_ms));
        let oldest = self.places.partition_point(|at_ms| *at_ms < oldest_ms);
        if oldest < self.places.len() {
            self.left.push((now_ms, self.places.remove(oldest)));
        }
    }

    fn may_have_sat(&self) -> u64 {
        self.sat.len() as u64 + self.unheard
    }

    /// How many it has lost since, which may not have been known.
    fn left_since(&self, from_ms: u64) -> usize {
        self.left.len() - self.left.partition_point(|(at_ms, _)| *at_ms < from_ms)
    }

    /// All that it lost may count again.
    fn count_again(&mut self) {
        self.places.extend(self.left.drain(..).map(|(_, place_ms)| place_ms));
        self.places.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        NetworkLimitsSeen,
        checks::testing::{EPOCH, History, claimed_from, joined_from, token},
    };

    fn limits() -> NetworkLimitsSeen {
        NetworkLimitsSeen { joins: Some(2), places: Some(2), ..NetworkLimitsSeen::default() }
    }

    fn became(became: JoinedAs) -> What {
        joined_from(9, limits(), &[(7, became)])
    }

    fn place(number: u64) -> What {
        joined_from(number, limits(), &[(7, JoinedAs::Placed(number))])
    }

    fn kept_out(number: u64) -> What {
        let mut what = claimed_from(7, number, ClaimedAs::NoSeat);
        let What::Claimed(claimed) = &mut what else { unreachable!() };
        claimed.network.as_mut().unwrap().kept_out = true;
        what
    }

    fn found(history: History) -> usize {
        history.holds().finish().violations.len()
    }

    #[test]
    fn whoever_is_alone_is_not_turned_away() {
        let one = || History::new().does(1_000, place(1));
        let two = || one().does(2_000, place(2));
        for away in [JoinedAs::TooManyJoins, JoinedAs::TooManyPlaces] {
            assert_eq!(found(one().does(3_000, became(away))), 1);
            assert_eq!(found(two().does(3_000, became(away))), 0);
        }
        assert_eq!(found(two().does(83_000, became(JoinedAs::TooManyJoins))), 1, "long ago");
    }

    fn given_up(number: u64) -> What {
        let (places, positions) = (vec![(number, Some(7))], vec![number]);
        What::GivenUp { reset_epoch: EPOCH, places, positions }
    }

    #[test]
    fn places_that_were_used_or_given_back_keep_nobody_out() {
        let two = || History::new().does(1_000, place(1)).does(2_000, place(2));
        let away = || became(JoinedAs::TooManyPlaces);
        let used = || claimed_from(7, 1, ClaimedAs::Seated(token(1, 300)));
        let given_up = || given_up(2);
        assert_eq!(found(two().does(3_000, used()).does(4_000, away())), 1);
        assert_eq!(found(two().does(3_000, given_up()).does(4_000, away())), 1);
        assert_eq!(found(two().does(3_000, given_up()).call((2_900, 4_000), "b", away())), 0);
        let mut restored = joined_from(3, limits(), &[(8, JoinedAs::Placed(3))]);
        let What::Joined(joined) = &mut restored else { unreachable!() };
        joined.generation += 1;
        assert_eq!(found(two().does(3_000, used()).does(3_500, restored).does(4_000, away())), 0);
    }

    #[test]
    fn whichever_place_is_given_back_the_oldest_counts_no_more() {
        let (minute, given_up) = (60_000, given_up(1));
        let places = || {
            let history = History::new().does(1_000, place(1)).does(40 * minute, place(2));
            history.does(80 * minute, place(3))
        };
        let away = || became(JoinedAs::TooManyPlaces);
        let forgotten = places().does(81 * minute, given_up.clone());
        assert_eq!(found(forgotten.does(82 * minute, away())), 1, "one of two that counted");
        let forgotten = places().does(81 * minute, given_up);
        let later = forgotten.does(120 * minute, place(4)).does(121 * minute, away());
        assert_eq!(found(later), 0, "the other one would not count any more");
    }

    #[test]
    fn calls_under_way_and_of_unknown_outcome_explain_it() {
        let one =
            || History::new().does(1_000, place(1)).does(3_000, became(JoinedAs::TooManyJoins));
        assert_eq!(found(one().call((2_000, 3_100), "b", place(2))), 0);
        let lost = What::Unknown(Call::Join { count: 1, networks: vec![7] });
        assert_eq!(found(one().call((2_000, 5_000), "b", lost)), 0);
        assert_eq!(found(one().call((3_001, 3_100), "b", place(2))), 1);
    }

    #[test]
    fn whoever_is_kept_out_has_others_inside() {
        let seated = |number| claimed_from(7, number, ClaimedAs::Seated(token(1, 300)));
        let one = || History::new().does(1_000, seated(1));
        assert_eq!(found(one().does(3_000, kept_out(5))), 1);
        assert_eq!(found(one().does(2_000, seated(2)).does(3_000, kept_out(5))), 0);
        let lost = || What::Unknown(Call::Join { count: 1, networks: vec![7] });
        assert_eq!(found(one().does(2_000, lost()).does(3_000, kept_out(5))), 0);
        assert_eq!(found(one().call((2_000, 5_000), "b", lost()).does(6_000, kept_out(5))), 0);
        assert_eq!(found(one().does(3_000, kept_out(5)).call((2_000, 5_000), "b", lost())), 0);
    }

    #[test]
    fn where_a_limit_is_only_counted_nobody_is_turned_away() {
        let only_logs = NetworkLimitsSeen { only_logs: true, ..limits() };
        let away = joined_from(9, only_logs, &[(7, JoinedAs::TooManyJoins)]);
        let history = History::new().does(1_000, place(1)).does(2_000, place(2));
        history.does(3_000, away).breaks(Invariant::NetworkRefusals);
    }
}
