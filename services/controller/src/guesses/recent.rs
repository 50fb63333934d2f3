//! How many wrong tokens each address has shown lately, in bounded memory.

use std::{collections::BTreeMap, mem, net::IpAddr};

use tokio::time::{Duration, Instant};

/// Whoever has shown no wrong token for this long, or up to twice as long, begins anew.
const FORGET: Duration = Duration::from_mins(10);

/// Addresses in each of the two halves.
const MOST: usize = 5_000;

/// The counts of the present and of the half before it. Old ones are forgotten by the half, so that nothing
/// has to be looked through.
#[derive(Debug)]
pub(super) struct Recent {
    present: BTreeMap<IpAddr, u32>,
    before: BTreeMap<IpAddr, u32>,
    began: Instant,
}

// === impl Recent ===

impl Recent {
    pub(super) fn new(now: Instant) -> Self {
        Self { present: BTreeMap::new(), before: BTreeMap::new(), began: now }
    }

    /// Counts one more of `address`, and returns how many there are now.
    pub(super) fn count(&mut self, address: IpAddr, now: Instant) -> u32 {
        if self.present.len() >= MOST || now >= self.began + FORGET {
            self.before = mem::take(&mut self.present);
            self.began = now;
        }
        let before = &self.before;
        let known = || before.get(&address).copied().unwrap_or(0);
        let count = self.present.entry(address).or_insert_with(known);
        *count = count.saturating_add(1);
        *count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANN: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 1));
    const BOB: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 2));

    #[test]
    fn each_address_is_counted_and_forgotten_in_the_end() {
        let now = Instant::now();
        let mut recent = Recent::new(now);
        assert_eq!([(); 3].map(|()| recent.count(ANN, now)), [1, 2, 3]);
        assert_eq!(recent.count(BOB, now), 1);
        assert_eq!(recent.count(ANN, now + FORGET), 4);
        assert_eq!(recent.count(ANN, now + 2 * FORGET), 5);
        assert_eq!(recent.count(BOB, now + 2 * FORGET), 1);
        assert_eq!(recent.count(ANN, now + 4 * FORGET), 6);
        recent.count(BOB, now + 5 * FORGET);
        assert_eq!(recent.count(ANN, now + 6 * FORGET), 1);
    }

    #[test]
    fn a_million_addresses_take_no_more_room_than_a_few_thousand() {
        let now = Instant::now();
        let mut recent = Recent::new(now);
        for number in 0..1_000_000u32 {
            recent.count(IpAddr::V4(number.into()), now);
            assert!(recent.present.len() + recent.before.len() <= 2 * MOST);
        }
    }
}
