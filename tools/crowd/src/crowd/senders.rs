//! From where calls seem to come, in runs in which it matters. The addresses are those that documents and benchmarks may
//! use, so nobody's are among them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Hostile, HostilePlan};

/// How many /56 there are in either half of `2001:db8::/32`; more senders than that share them.
const HALF: usize = 1 << 23;
/// How many addresses of their network hoarders use.
const HOARDERS_ADDRESSES: usize = 254;

/// Who is behind the numbers of those who call.
#[derive(Debug)]
pub(crate) enum Senders {
    /// Nobody says: all come from this machine.
    Untold,
    /// Visitors, each of a network of its own.
    Visitors,
    /// Hostile ones: of each number whether it is a hoarder. The numbers behind are none.
    Company(Vec<bool>),
}

// === impl Senders ===

impl Senders {
    /// Those who have these plans.
    pub(crate) fn company(plans: &[HostilePlan]) -> Self {
        Self::Company(plans.iter().map(|plan| plan.kind == Hostile::Hoarder).collect())
    }

    /// From where the one of this number calls, and what it is; `None`: nobody says.
    pub(crate) fn sender(&self, nth: usize) -> Option<(IpAddr, &'static str)> {
        Some(match self {
            Self::Untold => return None,
            Self::Visitors => (of_its_own(nth % HALF), "visitor"),
            Self::Company(hoards) if hoards.get(nth) == Some(&true) => {
                (of_hoarders(nth), "hoarder")
            }
            Self::Company(_) => (of_its_own(HALF + nth % HALF), "company"),
        })
    }
}

/// An address in the `nth` /56.
fn of_its_own(nth: usize) -> IpAddr {
    let nth = u128::try_from(nth).unwrap_or(0);
    Ipv6Addr::from_bits(0x2001_0db8 << 96 | nth << 72 | 1).into()
}

/// An address in the /24 that hoarders share.
fn of_hoarders(nth: usize) -> IpAddr {
    let host = u8::try_from(1 + nth % HOARDERS_ADDRESSES).unwrap_or(1);
    Ipv4Addr::new(198, 18, 7, host).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hoarders_have_one_network_and_everybody_else_one_of_its_own() {
        let from = |senders: &Senders, nth| {
            senders.sender(nth).map_or(String::new(), |(address, _)| address.to_string())
        };
        assert_eq!(from(&Senders::Untold, 1), "");
        assert_eq!(from(&Senders::Visitors, 0), "2001:db8::1");
        assert_eq!(from(&Senders::Visitors, 0x12_34ff), "2001:db8:1234:ff00::1");
        let company = Senders::Company(vec![true, false]);
        assert_eq!(from(&company, 0), "198.18.7.1");
        assert_eq!(from(&company, 1), "2001:db8:8000:100::1");
        assert_eq!(from(&company, 2), "2001:db8:8000:200::1");
        assert_eq!(of_hoarders(253), IpAddr::from([198, 18, 7, 254]));
    }
}
