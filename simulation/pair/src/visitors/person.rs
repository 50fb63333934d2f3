//! What a person is like: when it comes, how long it waits and stays, and what its browser does.

use crate::Chance;

/// A person.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent habits")]
pub struct Person {
    /// When it comes, ms.
    pub arrives_ms: u64,
    /// How long it waits before it closes the tab, ms; `None`: as long as it takes.
    pub patience_ms: Option<u64>,
    /// When it opens the tab again after that, ms later; `None`: never.
    pub returns_after_ms: Option<u64>,
    /// How long it stays inside, ms.
    pub stays_ms: u64,
    /// Whether it says so when it leaves.
    pub says_goodbye: bool,
    /// Whether its tab is hidden while it waits.
    pub hidden: bool,
    /// Whether its browser lets a hidden tab poll only once a minute, as most do after some minutes.
    pub throttled: bool,
    /// How many tabs it has.
    pub tabs: u64,
    /// Whether it looks at the site's pages while inside, or only lets its waiting page poll.
    pub browses: bool,
}

// === impl Person ===

impl Person {
    /// Some person who comes between these moments and stays for about so long.
    pub(crate) fn some(chance: &mut Chance, arrives_ms: u64, mean_stay_ms: u64) -> Self {
        let patience_ms = chance.happens(0.2).then(|| chance.within(500..60_000));
        let returns_after_ms = chance.happens(0.3).then(|| chance.within(1_000..30_000));
        let stays_ms = chance.within(mean_stay_ms / 4..mean_stay_ms * 7 / 4 + 1);
        let says_goodbye = chance.happens(0.6);
        let hides = chance.unit();
        Self {
            arrives_ms,
            patience_ms,
            returns_after_ms,
            stays_ms,
            says_goodbye,
            hidden: hides < 0.1,
            throttled: hides < 0.05,
            tabs: if chance.happens(0.1) { chance.within(2..4) } else { 1 },
            browses: chance.happens(0.5),
        }
    }
}
