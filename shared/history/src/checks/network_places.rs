//! No network has more places in line than it may have.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::suspects::Suspects;
use crate::{
    Call, ClaimedAs, Invariant, JoinedAs, What,
    check::{Check, Facts, Findings, Seen, Turn},
};

/// A place that is neither used nor given back counts for so long, ms.
const COUNTS_MS: u64 = 3_600_000;

/// After each join, a network has at most as many places as the join's limit, of those taken within the hour.
///
/// A place is certainly one until a claim of its network may have used it, or somebody may have given it back who is in
/// that network: it does not matter whose place that was, since one of the network's is counted off.
///
/// A violation: more places, in one reset epoch and generation. Why: whoever comes with a thousand browsers gets no more
/// than one network is meant to have.
///
/// Not a violation: places beyond a limit that is only counted, or that was lowered since; places of before a
/// restoration, which forgets what networks took; places for which there was room because of a call that was under way,
/// known or not. Each side of a split has the limit by itself.
#[derive(Debug, Clone, Default)]
pub(super) struct NetworkPlaces {
    state: (u64, u32),
    networks: FxHashMap<u64, Places>,
    suspects: Suspects,
}

/// The places of one network.
#[derive(Debug, Clone, Default)]
struct Places {
    /// When the calls began that took them, the earliest first.
    taken: VecDeque<u64>,
    /// How many more were used or given back than are known to have been taken.
    left: u64,
}

// === impl NetworkPlaces ===

impl Check for NetworkPlaces {
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        self.suspects.settle(Invariant::NetworkPlaces, now.at_ms, facts, found);
        match &now.what {
            What::Joined(joined) => {
                let state = (joined.reset_epoch, joined.generation);
                if state > self.state {
                    *self = Self { state, ..Self::default() };
                }
                if state == self.state {
                    self.join(now, facts);
                }
            }
            What::Claimed(claimed) if matches!(claimed.outcome, ClaimedAs::Seated(_)) => {
                let network = claimed.network.map(|network| network.network);
                self.leave(network, now, facts);
            }
            What::Unknown(Call::Claim { network, .. }) => self.leave(*network, now, facts),
            What::Sent(Call::GiveUp { networks, .. }) => {
                for network in networks {
                    self.leave(Some(*network), now, facts);
                }
            }
            _ => {}
        }
    }

    fn turn(&mut self, _turn: &Turn, _facts: &Facts) {
        self.suspects.clear();
    }

    fn finish(&mut self, facts: &Facts, found: &mut Findings<'_>) {
        self.suspects.finish(Invariant::NetworkPlaces, facts, found);
    }
}

impl NetworkPlaces {
    fn join(&mut self, now: &Seen<'_>, facts: &Facts) {
        let What::Joined(joined) = &now.what else { return };
        let Some(networks) = joined.networks.as_ref().filter(|_| !joined.again) else {
            return;
        };
        let limit = networks.limits.places.filter(|_| !networks.limits.only_logs);
        let since_ms = (now.at_ms + facts.bounds.clock_error_ms).saturating_sub(COUNTS_MS);
        for (network, became) in &networks.newcomers {
            if !matches!(became, JoinedAs::Placed(_)) {
                continue;
            }
            let places = self.networks.entry(*network).or_default();
            places.take(now.began_ms, since_ms);
            let count = places.taken.len() as u64;
            if let Some(limit) = limit.filter(|limit| count > *limit) {
                let what = format!("network {network} has {count} places, not {limit}");
                self.suspects.add(*network, count - limit, what, now);
            }
        }
    }

    fn leave(&mut self, network: Option<u64>, now: &Seen<'_>, facts: &Facts) {
        let Some(network) = network else { return };
        let places = self.networks.entry(network).or_default();
        let done_ms = now.at_ms + facts.bounds.settles_ms + facts.bounds.clock_error_ms;
        places.leave(done_ms.saturating_sub(COUNTS_MS));
        self.suspects.explain(network, now.began_ms, 1);
    }
}

// === impl Places ===

impl Places {
    fn take(&mut self, began_ms: u64, since_ms: u64) {
        if self.left > 0 {
            self.left -= 1;
        } else {
            self.taken.push_back(began_ms);
        }
        self.forget(since_ms);
    }

    /// The oldest that counts since then is counted off.
    fn leave(&mut self, since_ms: u64) {
        let oldest = self.taken.partition_point(|began_ms| *began_ms < since_ms);
        if self.taken.remove(oldest).or_else(|| self.taken.pop_front()).is_none() {
            self.left += 1;
        }
    }

    /// Forgets those of before.
    fn forget(&mut self, since_ms: u64) {
        while self.taken.front().is_some_and(|began_ms| *began_ms < since_ms) {
            self.taken.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        NetworkLimitsSeen,
        checks::testing::{EPOCH, History, claimed_from, joined_from, token},
    };

    fn two() -> NetworkLimitsSeen {
        NetworkLimitsSeen { places: Some(2), ..NetworkLimitsSeen::default() }
    }

    fn place(number: u64) -> What {
        joined_from(number, two(), &[(7, JoinedAs::Placed(number))])
    }

    fn full() -> History {
        History::new().does(1_000, place(1)).does(2_000, place(2)).holds()
    }

    fn used(number: u64) -> What {
        claimed_from(7, number, ClaimedAs::Seated(token(1, 300)))
    }

    fn found(history: History) -> usize {
        history.holds().finish().violations.len()
    }

    #[test]
    fn one_too_many_is_found() {
        assert_eq!(found(full()), 0);
        assert_eq!(found(full().does(3_000, place(3))), 1);
        full().does(3_000, place(3)).does(13_001, used(9)).breaks(Invariant::NetworkPlaces);
        let elsewhere = joined_from(3, two(), &[(8, JoinedAs::Placed(3))]);
        assert_eq!(found(full().does(3_000, elsewhere)), 0);
    }

    #[test]
    fn a_place_that_is_used_or_given_back_counts_no_more() {
        assert_eq!(found(full().does(3_000, used(1)).does(4_000, place(3))), 0);
        let networks = vec![7];
        let gone = What::Sent(Call::GiveUp { reset_epoch: EPOCH, numbers: vec![1], networks });
        assert_eq!(found(full().does(3_000, gone).does(4_000, place(3))), 0);
        let seated = joined_from(3, two(), &[(7, JoinedAs::Seated(3))]);
        assert_eq!(found(full().does(3_000, seated)), 0);
        assert_eq!(found(full().does(3_602_000, place(3))), 0);
    }

    #[test]
    fn of_places_an_hour_old_none_is_given_back() {
        let now_ms = 3_700_000;
        let newer = || full().does(now_ms, place(3)).does(now_ms + 1_000, place(4));
        let gone =
            What::Sent(Call::GiveUp { reset_epoch: EPOCH, numbers: vec![1], networks: vec![7] });
        let later_ms = now_ms + 3_590_000;
        let given_back = newer().does(later_ms, gone).does(later_ms + 1_000, place(5));
        assert_eq!(found(given_back), 0);
        assert_eq!(found(newer().does(later_ms, place(5))), 1);
        let long_ago =
            What::Sent(Call::GiveUp { reset_epoch: EPOCH, numbers: vec![1], networks: vec![7] });
        let history =
            full().does(3_650_000, long_ago).does(now_ms, place(3)).does(now_ms + 1, place(4));
        assert_eq!(found(history.does(now_ms + 2, place(5))), 1, "no place was left to give back");
    }

    #[test]
    fn a_call_that_was_under_way_may_have_made_room() {
        let history = || full().does(3_000, place(3));
        assert_eq!(found(history().call((2_900, 3_100), "b", used(1))), 0);
        assert_eq!(found(history().call((3_001, 3_100), "b", used(1))), 1);
    }
}
