//! When the rounds of a beacon are published. Of the chains that everybody uses it is known here, by their public keys, so that
//! no relay need be believed; of others they say it themselves, which the services ask.

/// Public keys, the time of the first round in unix seconds, and the seconds from one round to the next.
const KNOWN: [(&str, RoundClock); 2] = [
    (
        // drand's quicknet.
        "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a",
        RoundClock { genesis: 1_692_803_367, period: 3 },
    ),
    (
        // drand's default.
        "868f005eb8e6e4ca0a47c8a77ceaa5309a47978a7c71bc5cce96366b5d7a569937c529eeda66c7293784a9402801af31",
        RoundClock { genesis: 1_595_431_050, period: 30 },
    ),
];

/// The times of a chain's rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundClock {
    genesis: u64,
    period: u64,
}

// === impl RoundClock ===

impl RoundClock {
    /// That of a chain whose first round is published at `genesis`, unix seconds, and another one every `period` seconds;
    /// `None`: no chain is like that.
    #[must_use]
    pub fn new(genesis: u64, period: u64) -> Option<Self> {
        (period > 0).then_some(Self { genesis, period })
    }

    /// That of a chain with this public key, if everybody knows it.
    #[must_use]
    pub fn of_key(public_key: &str) -> Option<Self> {
        let known = KNOWN.iter().find(|(key, _)| key.eq_ignore_ascii_case(public_key));
        known.map(|(_, clock)| *clock)
    }

    /// When this round is published, unix seconds; the end of time for one that is too far away to tell.
    #[must_use]
    pub fn time_of(self, round: u64) -> u64 {
        self.period.saturating_mul(round.saturating_sub(1)).saturating_add(self.genesis)
    }

    /// The first round that is not published before this time.
    #[must_use]
    pub fn first_from(self, time: u64) -> u64 {
        time.saturating_sub(self.genesis).div_ceil(self.period).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_follow_each_other() {
        let clock = RoundClock::new(1_000, 30).unwrap();
        assert_eq!([1, 2, 11].map(|round| clock.time_of(round)), [1_000, 1_030, 1_300]);
        assert_eq!(clock.time_of(u64::MAX), u64::MAX);
        let first = [0, 1_000, 1_001, 1_030, 1_031].map(|time| clock.first_from(time));
        assert_eq!(first, [1, 1, 2, 2, 3]);
        assert_eq!(RoundClock::new(1_000, 0), None);
    }

    #[test]
    fn a_chain_is_known_by_its_key() {
        let quicknet = RoundClock::of_key(&KNOWN[0].0.to_uppercase()).unwrap();
        assert_eq!(quicknet.time_of(657_413), 1_694_775_603);
        assert_eq!(RoundClock::of_key(&"ab".repeat(96)), None);
    }
}
