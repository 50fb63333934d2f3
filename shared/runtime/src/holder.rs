//! Whose an address is: what is counted as one where addresses are counted.

use std::net::{IpAddr, Ipv6Addr};

/// The address itself, or the /64 that it is in: of IPv6 one customer is given no less.
#[must_use]
pub fn holder_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address @ IpAddr::V4(_) => address,
    }
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
    }
}
