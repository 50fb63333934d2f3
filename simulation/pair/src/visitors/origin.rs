//! From where a visitor calls: in nights in which rooms limit what one network may have. The addresses are those that
//! documents and benchmarks may use.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use vestibule_admission::in_process::Client;

use crate::Seed;

/// From where somebody calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// Its network, 0 to 511: a /24 of IPv4 if it is even, otherwise a /56 of IPv6.
    pub network: u64,
    /// Its address in there.
    pub host: u64,
    /// What it calls itself.
    pub agent: u64,
}

/// Networks of these numbers have several visitors; there are so many at most.
const SHARED: u64 = 4;
/// From here on a network is that of one visitor.
const ALONE: u64 = 100;

// === impl Origin ===

impl Origin {
    /// That of the visitor with this number: half of them are alone in their networks.
    pub(crate) fn draw(seed: Seed, number: u64) -> Self {
        let mut chance = seed.chance("origin", number);
        let agent = chance.within(0..3);
        let alone = (ALONE + number).min(511);
        let network = if chance.happens(0.5) {
            alone
        } else {
            Self::draw_shared(seed, chance.within(0..SHARED))
        };
        Self { network, host: number % 250, agent }
    }

    /// One of the networks that several visitors have in the night of this seed.
    pub(crate) fn draw_shared(seed: Seed, nth: u64) -> u64 {
        nth % seed.chance("shared networks", 0).within(1..SHARED + 1)
    }

    /// The caller, as admission would know it.
    pub(crate) fn client(self) -> Client {
        let host = u8::try_from(1 + self.host % 250).unwrap_or(1);
        let address: IpAddr = if self.network.is_multiple_of(2) {
            let [.., high, low] = self.network.to_be_bytes();
            Ipv4Addr::new(198, 18 + (high & 1), low, host).into()
        } else {
            let network = u128::from(self.network) << 72;
            Ipv6Addr::from_bits(0x2001_0db8 << 96 | network | u128::from(host)).into()
        };
        Client { address, agent: self.agent }
    }

    /// A number for all who are alike to a session that is bound to networks, or to networks and agents.
    pub(crate) fn number(self, counts_agent: bool) -> u64 {
        self.network * 1_000 + if counts_agent { 1 + self.agent } else { 0 }
    }
}
