//! Whose an address is: what is counted as one where addresses are counted.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The address itself, or the /64 that it is in: of IPv6 one customer is given no less. An IPv4 address within one of IPv6
/// is what counts: behind a translator everybody is in one /64.
#[must_use]
pub fn holder_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => ipv4_within(address).map_or_else(|| network_of(address), IpAddr::V4),
        address @ IpAddr::V4(_) => address,
    }
}

fn network_of(address: Ipv6Addr) -> IpAddr {
    Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into()
}

/// The public IPv4 address that a translator (NAT64, SIIT) or 6to4 has made this one of: the same that limits per network
/// count by (`ipv4_within` of vestibule-site, which is not known here).
fn ipv4_within(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let v4 = match address.segments() {
        [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)),
        _ => return None,
    };
    (!v4.is_loopback() && !v4.is_private() && !v4.is_link_local()).then_some(v4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_that_one_customer_has_is_one_address() {
        let holder = |address: &str| holder_of(address.parse().unwrap()).to_string();
        assert_eq!(holder("203.0.113.9"), "203.0.113.9");
        assert_eq!(holder("::ffff:203.0.113.9"), "203.0.113.9");
        assert_eq!(holder("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(holder("64:ff9b::203.0.113.9"), "203.0.113.9");
        assert_eq!(holder("::ffff:0:203.0.113.9"), "203.0.113.9");
        assert_eq!(holder("2002:cb00:7109:5::6"), "203.0.113.9");
        assert_eq!(holder("64:ff9b::10.0.0.1"), "64:ff9b::", "nobody is a private host by that");
    }
}
