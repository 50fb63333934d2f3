//! No network has more sessions than it may have.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::{
    ClaimedAs, Invariant, JoinedAs, What,
    check::{Check, Facts, Findings, Seen},
    checks::may_end,
};

/// After each admission, no more sessions that began in its network are certainly alive than the limit with which it was
/// admitted.
///
/// Which sessions are certainly alive is told in `ceiling.rs`. A session is its network's from the call by which it began,
/// whoever uses it later and from where.
///
/// A violation: more such sessions, in one reset epoch and generation. Why: whoever comes with a thousand browsers gets
/// no more than one network is meant to have.
///
/// Not a violation: sessions beyond a limit that is only counted, or that was lowered after they were admitted, or after
/// their seats were held for them; sessions that began while their network had no limit, or before a restoration, which
/// forgets whose they are; those of a join that was asked again, since nobody knows with which limit it was carried out.
/// Each side of a split has the limit by itself.
#[derive(Debug, Clone, Default)]
pub(super) struct NetworkSeats {
    state: (u64, u32),
    live: FxHashMap<u64, Session>,
    /// When the token of each expires, unix seconds, and its number.
    by_end: BTreeSet<(u64, u64)>,
    /// Digest of a network → how many of those are its own.
    counts: FxHashMap<u64, u64>,
    /// Until when calls that may end a session may be under way, ms.
    ending: FxHashMap<u64, u64>,
    /// Until when a seat is held for each, ms.
    held: FxHashMap<u64, u64>,
}

#[derive(Debug, Clone, Copy)]
struct Session {
    network: u64,
    expires_at: u64,
}

// === impl NetworkSeats ===

impl Check for NetworkSeats {
    fn observe(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        self.end(now, facts.bounds.settles_ms);
        match &now.what {
            What::Joined(joined) if self.is_of((joined.reset_epoch, joined.generation)) => {
                self.join(now, facts, found);
            }
            What::Claimed(claimed) if self.is_of((claimed.reset_epoch, claimed.generation)) => {
                self.claim(now, facts, found);
            }
            What::Touched(touched) if (touched.id_epoch, touched.generation) == self.state => {
                if let Some(token) = &touched.token {
                    self.renew(touched.number, token.expires_at);
                }
            }
            _ => {}
        }
    }
}

impl NetworkSeats {
    /// Whether what is known is of this reset epoch and generation: a later one begins everything anew.
    fn is_of(&mut self, state: (u64, u32)) -> bool {
        if state > self.state {
            *self = Self { state, ..Self::default() };
        }
        state == self.state
    }

    fn join(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        let What::Joined(joined) = &now.what else { return };
        let (Some(networks), Some(token)) = (&joined.networks, &joined.token) else { return };
        let is_known = !joined.suspended && !joined.again;
        let Some(limit) = networks.limits.seats.filter(|_| is_known) else { return };
        let seated = networks.newcomers.iter().filter_map(|(network, became)| match became {
            JoinedAs::Seated(number) => Some((*network, *number)),
            _ => None,
        });
        for (network, number) in seated.clone() {
            self.begin(number, Session { network, expires_at: token.expires_at }, now);
        }
        let of = seated.map(|(network, _)| network).collect::<BTreeSet<_>>();
        for network in of.into_iter().filter(|_| !networks.limits.only_logs) {
            self.check((network, limit), now, facts, found);
        }
    }

    fn claim(&mut self, now: &Seen<'_>, facts: &Facts, found: &mut Findings<'_>) {
        let What::Claimed(claimed) = &now.what else { return };
        let number = claimed.number;
        match &claimed.outcome {
            ClaimedAs::Held { until_ms } => drop(self.held.insert(number, *until_ms)),
            ClaimedAs::Repeated(token) => self.renew(number, token.expires_at),
            ClaimedAs::Seated(token) => {
                let Some(from) = claimed.network else { return };
                let Some(limit) = from.seats else { return };
                let comes_for_its_seat = self.held.remove(&number) >= Some(now.began_ms);
                let session = Session { network: from.network, expires_at: token.expires_at };
                self.begin(number, session, now);
                if !from.only_logs && !comes_for_its_seat {
                    self.check((from.network, limit), now, facts, found);
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, number: u64, session: Session, now: &Seen<'_>) {
        if self.ending.get(&number).is_some_and(|until| now.began_ms <= *until) {
            return;
        }
        self.forget(number);
        self.live.insert(number, session);
        self.by_end.insert((session.expires_at, number));
        *self.counts.entry(session.network).or_default() += 1;
    }

    fn renew(&mut self, number: u64, expires_at: u64) {
        let Some(session) = self.live.get_mut(&number) else { return };
        if expires_at > session.expires_at {
            self.by_end.remove(&(session.expires_at, number));
            self.by_end.insert((expires_at, number));
            session.expires_at = expires_at;
        }
    }

    fn end(&mut self, now: &Seen<'_>, settles_ms: u64) {
        let Some((epoch, numbers)) = may_end(now) else { return };
        let is_answered = matches!(now.what, What::Ended(_));
        let until = if is_answered { now.at_ms } else { now.at_ms + settles_ms };
        if epoch != self.state.0 {
            return;
        }
        for number in numbers {
            self.ending.insert(number, until);
            self.forget(number);
        }
    }

    fn forget(&mut self, number: u64) {
        let Some(session) = self.live.remove(&number) else { return };
        self.by_end.remove(&(session.expires_at, number));
        if let Some(count) = self.counts.get_mut(&session.network) {
            *count -= 1;
        }
    }

    fn check(
        &mut self,
        (network, limit): (u64, u64),
        now: &Seen<'_>,
        facts: &Facts,
        found: &mut Findings<'_>,
    ) {
        let now_ms = now.at_ms + facts.bounds.clock_error_ms;
        while let Some(&(end, number)) = self.by_end.first()
            && end * 1000 <= now_ms
        {
            self.forget(number);
        }
        let count = self.counts.get(&network).copied().unwrap_or(0);
        if count > limit {
            let what = format!("{count} sessions of network {network} are alive, not {limit}");
            found.add(Invariant::NetworkSeats, what, &[now]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        NetworkLimitsSeen,
        checks::testing::{History, claimed_from, end_sent, joined_from, token},
    };

    fn seated(network: u64, number: u64) -> What {
        claimed_from(network, number, ClaimedAs::Seated(token(10, 310)))
    }

    /// Of two seats the network has two, until 301 and 310 s.
    fn full() -> History {
        let limits = NetworkLimitsSeen { seats: Some(2), ..NetworkLimitsSeen::default() };
        let at_once = joined_from(1, limits, &[(7, JoinedAs::Seated(1))]);
        History::new().does(1_000, at_once).does(10_000, seated(7, 2)).holds()
    }

    #[test]
    fn one_too_many_is_found() {
        full().does(20_000, seated(7, 3)).breaks(Invariant::NetworkSeats);
        full().does(20_000, seated(8, 3)).holds();
        full().does(300_999, seated(7, 3)).breaks(Invariant::NetworkSeats);
        full().does(301_000, seated(7, 3)).holds();
    }

    #[test]
    fn sessions_that_may_have_ended_do_not_count() {
        full().does(20_000, end_sent(2)).does(20_001, seated(7, 3)).holds();
        let renewed = claimed_from(9, 1, ClaimedAs::Repeated(token(200, 500)));
        full().does(200_000, renewed).does(305_000, seated(7, 3)).breaks(Invariant::NetworkSeats);
    }

    #[test]
    fn a_join_that_was_asked_again_may_have_been_carried_out_without_a_limit() {
        let limits = NetworkLimitsSeen { seats: Some(2), ..NetworkLimitsSeen::default() };
        let mut again = joined_from(3, limits, &[(7, JoinedAs::Seated(3))]);
        let What::Joined(joined) = &mut again else { unreachable!() };
        joined.again = true;
        let one = History::new().does(10_000, seated(7, 2)).does(11_000, again);
        one.does(12_000, seated(7, 4))
            .holds()
            .does(13_000, seated(7, 5))
            .breaks(Invariant::NetworkSeats);
    }

    #[test]
    fn limits_that_are_only_counted_and_seats_that_were_held_pass() {
        let mut counted = seated(7, 3);
        let What::Claimed(claimed) = &mut counted else { unreachable!() };
        claimed.network.as_mut().unwrap().only_logs = true;
        full().does(20_000, counted).holds();
        let hold = claimed_from(7, 3, ClaimedAs::Held { until_ms: 30_000 });
        full().does(19_000, hold).does(20_000, seated(7, 3)).holds();
        let mut restored = seated(7, 3);
        let What::Claimed(claimed) = &mut restored else { unreachable!() };
        claimed.generation += 1;
        full().does(20_000, restored).holds();
    }
}
