//! What the tests of checks are made of: a history told in short words.

use crate::{
    Act, Asked, Bounds, Call, Claimed, ClaimedAs, Ended, EndedSession, Event, Invariant, Joined,
    JoinedAs, Judge, NetworkClaimed, NetworkLimitsSeen, NetworksJoined, Programme, Put, PutAs,
    Rules, SessionApi, SnapshotSeen, Token, ToldStatus, What,
};

/// The reset epoch of these tests.
pub(super) const EPOCH: u64 = 1_000;

/// What is found in a history.
#[derive(Debug)]
pub(super) struct History {
    judge: Judge,
    found: Vec<(Invariant, String)>,
}

// === impl History ===

impl History {
    pub(super) fn new() -> Self {
        Self::with(Bounds::default())
    }

    pub(super) fn with(bounds: Bounds) -> Self {
        Self { judge: Judge::new(bounds), found: Vec::new() }
    }

    /// A room whose config was changed to these rules at 0, in force at once.
    pub(super) fn ruled(rules: Rules) -> Self {
        Self::new().does(0, put(Some(1), rules, PutAs::Created))
    }

    /// Something that `a` knew at once.
    pub(super) fn does(self, at_ms: u64, what: What) -> Self {
        self.call((at_ms, at_ms), "a", what)
    }

    /// Something that took from the one moment to the other.
    pub(super) fn call(mut self, span: (u64, u64), by: &str, what: What) -> Self {
        let room = Some("sale".parse().unwrap());
        let event = Event { at_ms: span.1, began_ms: span.0, by: by.into(), room, what };
        let found = self.judge.observe(&event);
        self.found.extend(found.into_iter().map(|violation| {
            assert!(!violation.evidence.is_empty(), "{violation}");
            (violation.invariant, violation.what)
        }));
        self
    }

    /// Nothing was found so far.
    #[track_caller]
    pub(super) fn holds(self) -> Self {
        assert_eq!(self.found, []);
        self
    }

    /// Exactly one violation was found: this one.
    #[track_caller]
    pub(super) fn breaks(self, invariant: Invariant) {
        let found: Vec<_> = self.found.iter().map(|(invariant, _)| *invariant).collect();
        assert_eq!(found, [invariant], "{:?}", self.found);
    }

    pub(super) fn finish(self) -> crate::Verdict {
        self.judge.finish()
    }
}

pub(super) fn rules() -> Rules {
    Rules {
        session_seconds: 300,
        token_seconds: 3_600,
        position_expiry_seconds: Some(900),
        grace_seconds: Some(300),
        ..Rules::default()
    }
}

pub(super) fn token(issued_at: u64, expires_at: u64) -> Token {
    Token { issued_at, expires_at, kid: "k1".to_owned() }
}

pub(super) fn put(version: Option<u64>, rules: Rules, outcome: PutAs) -> What {
    What::Put(Put { version, programme: Programme::always(rules), outcome })
}

pub(super) fn put_sent(version: Option<u64>, rules: Rules) -> What {
    What::Sent(Call::Put { version, programme: Programme::always(rules) })
}

pub(super) fn joined(first: u64, count: u64) -> What {
    entered(first, count, 0, None)
}

pub(super) fn entered(first: u64, count: u64, entered: u64, token: Option<Token>) -> What {
    What::Joined(Joined {
        reset_epoch: EPOCH,
        generation: 1,
        first,
        count,
        entered,
        token,
        suspended: false,
        again: false,
        api: SessionApi::Visitor,
        region: "local".to_owned(),
        serving_counter: 0,
        networks: None,
    })
}

pub(super) fn claimed(number: u64, outcome: ClaimedAs) -> What {
    What::Claimed(Claimed {
        reset_epoch: EPOCH,
        id_epoch: EPOCH,
        generation: 1,
        number,
        position: Some(number),
        entered_at: 0,
        api: SessionApi::Visitor,
        hold: false,
        outcome,
        network: None,
    })
}

pub(super) fn ended(number: u64) -> What {
    let sessions = vec![EndedSession { number, ended: true }];
    What::Ended(Ended { reset_epoch: EPOCH, sessions })
}

pub(super) fn end_sent(number: u64) -> What {
    What::Sent(Call::End { reset_epoch: EPOCH, numbers: vec![number] })
}

pub(super) fn snapshot(serving_counter: i64, rules: Rules) -> SnapshotSeen {
    SnapshotSeen {
        pushed: false,
        redis_ms: 0,
        reset_epoch: EPOCH,
        generation: 1,
        config_version: 1,
        rules,
        queue_counter: 100,
        serving_counter,
        admitted: 0,
        active: 0,
        awaits: false,
        unconfirmed: 0,
        waiting: 0,
        admitted_last_minute: 0,
    }
}

pub(super) fn arrived(number: u64) -> What {
    What::Visitor(Act::Arrived { number, reset_epoch: EPOCH, honest: true })
}

pub(super) fn asked(status: ToldStatus, position: u64) -> What {
    What::Visitor(Act::Asked(Asked {
        claimed: false,
        status,
        position: Some(position),
        ahead: None,
        wait_seconds: None,
        next_ms: 1_000,
    }))
}

/// Newcomers of these networks became this; the first of those with a number has `first`.
pub(super) fn joined_from(
    first: u64,
    limits: NetworkLimitsSeen,
    newcomers: &[(u64, JoinedAs)],
) -> What {
    let is_seated = |(_, became): &&(u64, JoinedAs)| matches!(became, JoinedAs::Seated(_));
    let is_placed = |(_, became): &&(u64, JoinedAs)| matches!(became, JoinedAs::Placed(_));
    let seated = newcomers.iter().filter(is_seated).count() as u64;
    let count = seated + newcomers.iter().filter(is_placed).count() as u64;
    let token = (seated > 0).then(|| token(1, 301));
    let What::Joined(joined) = entered(first, count, seated, token) else { unreachable!() };
    let networks = NetworksJoined { limits, newcomers: newcomers.to_vec() };
    What::Joined(Joined { networks: Some(networks), ..joined })
}

/// Somebody of this network claims, which may have two seats.
pub(super) fn claimed_from(network: u64, number: u64, outcome: ClaimedAs) -> What {
    let What::Claimed(claimed) = claimed(number, outcome) else { unreachable!() };
    let network = NetworkClaimed { network, seats: Some(2), only_logs: false, kept_out: false };
    What::Claimed(Claimed { network: Some(network), ..claimed })
}
