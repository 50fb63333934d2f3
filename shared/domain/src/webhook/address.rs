//! Where a webhook may be told. Whoever sets one is an admin and trusted, but may be mistaken, or may have been given the
//! address by somebody else: so no address is sent to that is nobody's service (link-local ones, where clouds have their
//! metadata; multicast), nothing is sent in the clear beyond a private network, and no redirect is followed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// The longest address, in bytes.
pub const MAX_ADDRESS: usize = 2_048;

/// Why nothing is sent to an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It cannot be read.
    #[error("is no address: write it as https://host/path, in at most {MAX_ADDRESS} bytes")]
    Malformed,
    /// Another scheme.
    #[error("must begin with https://")]
    Scheme,
    /// In the clear, and that was not allowed.
    #[error("must begin with https://; `allow_http` allows http:// within a private network")]
    InTheClear,
    /// A password in an address is shown to whoever reads it.
    #[error("must not have a user or a password: what is sent is signed")]
    Credentials,
    /// It is never sent.
    #[error("must not have a fragment")]
    Fragment,
    /// An address that is nobody's service.
    #[error(
        "must not name a link-local, multicast or unspecified address, or one of a cloud's metadata"
    )]
    Nobody,
    /// In the clear to a public address.
    #[error("must begin with https://, since its host is not in a private network")]
    Public,
}

/// Checks an address, and returns it as it is sent to.
///
/// # Errors
/// [`AddressError`].
pub fn check_address(text: &str, allow_http: bool) -> Result<Url, AddressError> {
    if text.len() > MAX_ADDRESS || text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(AddressError::Malformed);
    }
    let url = Url::parse(text).map_err(|_| AddressError::Malformed)?;
    let is_https = match url.scheme() {
        "https" => true,
        "http" if allow_http => false,
        "http" => return Err(AddressError::InTheClear),
        _ => return Err(AddressError::Scheme),
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(AddressError::Credentials);
    }
    if url.fragment().is_some() {
        return Err(AddressError::Fragment);
    }
    // A name is looked up when it is connected to, and its addresses are checked then.
    let literal = match url.host().ok_or(AddressError::Malformed)? {
        Host::Domain(_) => return Ok(url),
        Host::Ipv4(address) => IpAddr::V4(address),
        Host::Ipv6(address) => IpAddr::V6(address),
    };
    if !may_connect(literal, true) {
        return Err(AddressError::Nobody);
    }
    if is_https || may_connect(literal, false) { Ok(url) } else { Err(AddressError::Public) }
}

/// Whether something may be sent to this address, by HTTPS or in the clear.
#[must_use]
pub fn may_connect(address: IpAddr, is_https: bool) -> bool {
    is_all(address, |meant| !is_nobody(meant) && (is_https || is_private(meant)))
}

/// Whether this is somebody's service outside of private networks.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    is_all(address, |meant| !is_nobody(meant) && !is_private(meant))
}

/// Whether each address that this one may stand for is so.
fn is_all(address: IpAddr, so: impl Fn(IpAddr) -> bool) -> bool {
    match address {
        IpAddr::V6(v6) if v6.segments()[..3] == [0x64, 0xff9b, 1] => {
            let meant = locally_translated(v6);
            !meant.is_empty() && meant.into_iter().all(so)
        }
        address => so(unwrap(address)),
    }
}

/// The IPv4 addresses that one of the local prefix for NAT64 (RFC 8215) may stand for. Only its network knows how long the
/// prefix is, and so where the IPv4 address stands (RFC 6052): what begins with 0 there is none.
fn locally_translated(v6: Ipv6Addr) -> Vec<IpAddr> {
    let octets = v6.octets();
    let places = [[6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12], [12, 13, 14, 15]];
    let found = places.iter().map(|place| place.map(|at: usize| octets[at]));
    found.filter(|v4| v4[0] > 0).map(IpAddr::from).collect()
}

/// The IPv4 address that an IPv6 one stands for: mapped, translated (NAT64, SIIT), of a 6to4 network, or "compatible".
fn unwrap(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else { return address };
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        IpAddr::V4(Ipv4Addr::new(a, b, c, d))
    };
    match v6.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => v4(high, low),
        // `::` and `::1` are IPv6's own.
        [0, 0, 0, 0, 0, 0, high, low] if high > 0 => v4(high, low),
        _ => address,
    }
}

/// Where clouds have what only their machines may read, in networks that are otherwise somebody's: Alibaba's, Oracle's
/// and Azure's.
const METADATA_V4: [Ipv4Addr; 3] = [
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(192, 0, 0, 192),
    Ipv4Addr::new(168, 63, 129, 16),
];

/// The same of Amazon (of machines, and of pods), Oracle, Scaleway, Linode, Alibaba and Google.
const METADATA_V6: [Ipv6Addr; 7] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
    Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
    Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),
    Ipv6Addr::new(0xfd00, 0xa9fe, 0xa9fe, 0, 0, 0, 0, 1),
    Ipv6Addr::new(0xfd00, 0x100, 0, 0, 0, 0, 0x100, 0x200),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

fn is_nobody(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_nobody_v4(address),
        IpAddr::V6(address) => is_nobody_v6(address),
    }
}

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => is_private_v6(address),
    }
}

fn is_nobody_v4(address: Ipv4Addr) -> bool {
    address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
        || address.octets()[0] == 0
        || METADATA_V4.contains(&address)
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    // 100.64.0.0/10 is shared within a provider's network, and used by clusters.
    let [first, second, ..] = address.octets();
    address.is_loopback() || address.is_private() || first == 100 && (64..128).contains(&second)
}

fn is_nobody_v6(address: Ipv6Addr) -> bool {
    address.is_unspecified()
        || address.is_multicast()
        || address.is_unicast_link_local()
        || METADATA_V6.contains(&address)
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    address.is_loopback() || address.is_unique_local()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str, allow_http: bool) -> Result<String, AddressError> {
        check_address(text, allow_http).map(String::from)
    }

    #[test]
    fn https_goes_anywhere_but_to_nobody() {
        for good in ["https://a.example/x?y=1", "https://10.0.0.1/", "https://[::1]:8443/"] {
            assert_eq!(checked(good, false).as_deref(), Ok(good));
        }
        for nobody in [
            "https://169.254.169.254/latest",
            "https://0xa9fea9fe/",
            "https://0.0.0.0/",
            "https://[fe80::1]/",
            "https://[::ffff:169.254.169.254]/",
            "https://[fd00:ec2::254]/",
            "https://[fd00:ec2::23]/v1/credentials",
            "https://[fd00:c1::a9fe:a9fe]/opc/v2/",
            "https://[fd00:42::42]/conf",
            "https://[fd00:a9fe:a9fe::1]/",
            "https://[fd00:100::100:200]/",
            "https://[::]/",
            "https://100.100.100.200/",
            "https://192.0.0.192/",
            "https://168.63.129.16/",
            "https://[fd20:ce::254]/",
            "https://[64:ff9b::a9fe:a9fe]/",
            "https://[::a9fe:a9fe]/",
            "https://[2002:a9fe:a9fe::1]/",
            "https://[::ffff:0:a9fe:a9fe]/",
            "https://[64:ff9b:1::a9fe:a9fe]/",
            "https://[64:ff9b:1:7:8:9:a9fe:a9fe]/",
            "https://[64:ff9b:1:a9fe:a9:fe00::]/",
            "https://[64:ff9b:1:a9:fe:a9fe::]/",
            "https://[64:ff9b:1:0:a9:fea9:fe00:0]/",
            "https://[64:ff9b:1::]/",
            "https://224.0.0.1/",
            "https://255.255.255.255/",
        ] {
            assert_eq!(checked(nobody, true), Err(AddressError::Nobody), "{nobody}");
        }
    }

    #[test]
    fn in_the_clear_it_goes_only_where_that_was_said_and_is_private() {
        assert_eq!(checked("http://127.0.0.1:9/x", false), Err(AddressError::InTheClear));
        for private in ["http://127.0.0.1:9/x", "http://10.1.2.3/", "http://[fd12::1]/"] {
            assert_eq!(checked(private, true).as_deref(), Ok(private));
        }
        assert_eq!(checked("http://receiver:8080/", true).as_deref(), Ok("http://receiver:8080/"));
        for public in ["http://93.184.216.34/", "http://[2606:2800::1]/"] {
            assert_eq!(checked(public, true), Err(AddressError::Public), "{public}");
        }
        let nat64 = "http://[64:ff9b::5db8:d822]/";
        assert_eq!(checked(nat64, true), Err(AddressError::Public), "it stands for a public one");
        assert!(may_connect("64:ff9b::a01:203".parse().unwrap(), false));
        assert!(may_connect("100.64.0.1".parse().unwrap(), false));
        assert!(!may_connect("100.128.0.1".parse().unwrap(), false));
        for (address, public) in [
            ("93.184.216.34", true),
            ("2606:2800::1", true),
            ("64:ff9b::5db8:d822", true),
            ("127.0.0.1", false),
            ("::ffff:10.0.0.1", false),
            ("64:ff9b:1::5db8:d822", true),
            ("64:ff9b:1::a00:1", false),
            ("64:ff9b:1:5db8:d8:2200:a00:1", false),
            ("::ffff:0:a00:1", false),
            ("fd12::1", false),
            ("169.254.169.254", false),
        ] {
            assert_eq!(is_public(address.parse().unwrap()), public, "{address}");
        }
    }

    #[test]
    fn what_is_no_address_of_a_receiver_is_refused() {
        for (text, error) in [
            ("", AddressError::Malformed),
            ("a.example/x", AddressError::Malformed),
            ("https://a.example/a b", AddressError::Malformed),
            ("https://", AddressError::Malformed),
            ("ftp://a.example/", AddressError::Scheme),
            ("https://me@a.example/", AddressError::Credentials),
            ("https://me:secret@a.example/", AddressError::Credentials),
            ("https://a.example/#x", AddressError::Fragment),
        ] {
            assert_eq!(checked(text, true), Err(error), "{text}");
        }
        let long = format!("https://a.example/{}", "x".repeat(MAX_ADDRESS));
        assert_eq!(checked(&long, false), Err(AddressError::Malformed));
    }
}
