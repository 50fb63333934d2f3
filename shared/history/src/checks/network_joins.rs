//! No network has more newcomers in a minute than it may have.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::{
    Invariant, JoinedAs, What,
    check::{Check, Facts, Findings, Seen},
};

const WINDOW_MS: u64 = 60_000;

/// Of each network, the newcomers that certainly lie within a minute are at most as many as the limit with which the
/// last of them joined.
///
/// Two newcomers certainly lie within a minute if the later one was known less than 60 s after the earlier one's call
/// *began*, by the clock's error less.
///
/// A violation: more such newcomers, in one reset epoch and generation. Why: whoever comes with a thousand browsers
/// gets no more than one network is meant to have.
///
/// Not a violation: newcomers beyond a limit that is only counted, or that was lowered after they came; newcomers of
/// before a restoration, which forgets what networks took; newcomers of a call that was asked again, of whom nobody
/// knows when they joined. Each side of a split has the limit by itself.
#[derive(Debug, Clone, Default)]
pub(super) struct NetworkJoins {
    state: (u64, u32),
    /// Digest of a network → when the calls of its newcomers began, the earliest first.
    came: FxHashMap<u64, VecDeque<u64>>,
}

// === impl NetworkJoins ===

impl Check for NetworkJoins {
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        let What::Joined(joined) = &now.what else { return };
        let Some(networks) = joined.networks.as_ref().filter(|_| !joined.again) else {
            return;
        };
        let state = (joined.reset_epoch, joined.generation);
        if state > self.state {
            *self = Self { state, ..Self::default() };
        }
        if state < self.state {
            return;
        }
        let from_ms = (now.at_ms + 1 + facts.bounds.clock_error_ms).saturating_sub(WINDOW_MS);
        for (network, became) in &networks.newcomers {
            if matches!(became, JoinedAs::TooManyJoins | JoinedAs::TooManyPlaces) {
                continue;
            }
            let came = self.came.entry(*network).or_default();
            let place = came.partition_point(|began_ms| *began_ms <= now.began_ms);
            came.insert(place, now.began_ms);
            while came.front().is_some_and(|began_ms| *began_ms < from_ms) {
                came.pop_front();
            }
            if let Some(limit) = networks.limits.joins.filter(|_| !networks.limits.only_logs)
                && came.len() as u64 > limit
            {
                let count = came.len();
                let what = format!("{count} newcomers of network {network} in 60 s, not {limit}");
                found.add(Invariant::NetworkJoins, what, &[now]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        NetworkLimitsSeen,
        checks::testing::{History, joined_from},
    };

    fn three() -> NetworkLimitsSeen {
        NetworkLimitsSeen { joins: Some(3), ..NetworkLimitsSeen::default() }
    }

    fn used_up() -> History {
        let two = joined_from(1, three(), &[(7, JoinedAs::Placed(1)), (7, JoinedAs::Seated(2))]);
        let history = History::new().does(1_000, two);
        history.does(30_000, joined_from(3, three(), &[(7, JoinedAs::Placed(3))])).holds()
    }

    fn another(network: u64) -> What {
        joined_from(4, three(), &[(network, JoinedAs::Placed(4))])
    }

    #[test]
    fn one_too_many_in_a_minute_is_found() {
        used_up().does(60_999, another(7)).breaks(Invariant::NetworkJoins);
        used_up().does(61_000, another(7)).holds();
        used_up().does(31_000, another(8)).holds();
        used_up().call((60_900, 61_200), "b", another(7)).holds();
    }

    #[test]
    fn those_turned_away_and_those_only_counted_pass() {
        let away = joined_from(4, three(), &[(7, JoinedAs::TooManyJoins)]);
        used_up().does(31_000, away).holds();
        let only_logs = NetworkLimitsSeen { only_logs: true, ..three() };
        used_up().does(31_000, joined_from(4, only_logs, &[(7, JoinedAs::Placed(4))])).holds();
    }

    #[test]
    fn a_restoration_forgets_and_an_answer_that_was_lost_tells_nothing() {
        let mut anew = another(7);
        let What::Joined(joined) = &mut anew else { unreachable!() };
        joined.generation += 1;
        used_up().does(31_000, anew).holds();
        let mut again = another(7);
        let What::Joined(joined) = &mut again else { unreachable!() };
        joined.again = true;
        used_up().does(31_000, again).holds();
    }
}
