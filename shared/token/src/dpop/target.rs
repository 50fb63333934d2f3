//! Whether two addresses name the same resource, as RFC 9449 compares `htu`: after normalisation, without query and
//! fragment.

use url::Url;

/// Whether `htu` is the address `asked`. What cannot be read is no address.
pub(super) fn is_same(htu: &str, asked: &str) -> bool {
    let [Some(htu), Some(asked)] = [htu, asked].map(resource) else { return false };
    htu == asked
}

fn resource(address: &str) -> Option<Url> {
    let mut url = Url::parse(address).ok().filter(Url::has_host)?;
    url.set_query(None);
    url.set_fragment(None);
    Some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_query_and_default_port_do_not_count() {
        for (one, other, same) in [
            ("https://a.example/x", "https://a.example/x?y=1#z", true),
            ("HTTPS://A.example:443/x", "https://a.example/x", true),
            ("https://a.example", "https://a.example/", true),
            ("https://a.example/x", "http://a.example/x", false),
            ("https://a.example:8443/x", "https://a.example/x", false),
            ("https://a.example/x", "https://a.example/X", false),
            ("https://a.example/x", "https://b.example/x", false),
            ("/x", "/x", false),
        ] {
            assert_eq!(is_same(one, other), same, "{one} {other}");
        }
    }
}
