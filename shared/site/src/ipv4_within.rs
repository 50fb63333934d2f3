//! The IPv4 address that an IPv6 one is made of. It is what counts where addresses are counted, so that all who come
//! through one translator are not one client, and nobody is another by writing its address otherwise. What may pass by its
//! address is not decided by it: see [`crate::Network`]. The runtime knows nothing of sites, and has the same rule for
//! connections (`holder_of`).

use std::net::{IpAddr, Ipv4Addr};

/// The IPv4 address within `address`: mapped (`::ffff:0:0/96`), translated by NAT64 or SIIT under a prefix that everybody
/// has (`64:ff9b::/96`, RFC 6052; `::ffff:0:0:0/96`, RFC 2765), or of 6to4 (`2002::/16`, RFC 3056). Any other address is
/// itself. So is one with a private address within: it is no host of a private place, which limits do not hold for.
#[must_use]
pub(crate) fn ipv4_within(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address.to_canonical() else { return address.to_canonical() };
    let v4 = match v6.segments() {
        [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)),
        _ => return address,
    };
    if is_private_v4(v4) { address } else { v4.into() }
}

/// Whether `address` is one of a host in a private place.
pub(crate) const fn is_private_v4(address: Ipv4Addr) -> bool {
    address.is_loopback() || address.is_private() || address.is_link_local()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_made_of_one_of_ipv4_counts_as_that() {
        let cases = [
            ("203.0.113.9", "203.0.113.9"),
            ("10.0.0.1", "10.0.0.1"),
            ("::ffff:203.0.113.9", "203.0.113.9"),
            ("::ffff:10.0.0.1", "10.0.0.1"),
            ("64:ff9b::203.0.113.9", "203.0.113.9"),
            ("64:ff9b::cb00:7109", "203.0.113.9"),
            ("::ffff:0:203.0.113.9", "203.0.113.9"),
            ("2002:cb00:7109::1", "203.0.113.9"),
            ("2002:cb00:7109:ffff:1:2:3:4", "203.0.113.9"),
            ("64:ff9b:1::203.0.113.9", "64:ff9b:1::cb00:7109"),
            ("64:ff9b::1:203.0.113.9", "64:ff9b::1:cb00:7109"),
            ("2001:db8::203.0.113.9", "2001:db8::cb00:7109"),
            ("2001:db8::1", "2001:db8::1"),
            ("::", "::"),
            ("::1", "::1"),
        ];
        for (address, counts_as) in cases {
            let found = ipv4_within(address.parse().unwrap()).to_string();
            assert_eq!(found, counts_as, "{address}");
        }
    }

    #[test]
    fn a_private_address_within_another_stays_there() {
        for address in [
            "64:ff9b::a00:1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:1",
            "::ffff:0:c0a8:1",
            "2002:a00:1::1",
        ] {
            let address: IpAddr = address.parse().unwrap();
            assert_eq!(ipv4_within(address), address);
        }
    }
}
