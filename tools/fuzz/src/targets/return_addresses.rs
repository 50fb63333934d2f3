//! Addresses that a visitor is led back to: none leads out of the site, as browsers read it (the WHATWG's rules, by the
//! `url` crate).

use url::Url;
use vestibule_site::ReturnAddress;

use super::{Target, text};

pub(super) const TARGET: Target = Target {
    name: "return-addresses",
    run,
    words: &[
        "/",
        "//",
        "\\",
        "/\\",
        "https://",
        "http:",
        "https:/",
        "shop.example",
        "@",
        ":",
        "evil.example",
        "%2f",
        "?",
        "#",
        "javascript:",
        "data:",
        "\t",
        "\n",
        "..",
        "%09",
        "[::1]",
        ":443",
        ":0",
        "xn--",
        "。",
        "shop.example.",
        "SHOP",
    ],
};

const OURS: &str = "https://wait.example";
const SITE: &str = "shop.example";

fn run(bytes: &[u8]) {
    let given = text(bytes);
    let Some(address) = ReturnAddress::parse(&given, |origin| origin.host() == SITE) else {
        return;
    };
    assert_eq!(address.as_str(), given);
    let base = Url::parse(OURS).expect("an address");
    let Ok(read) = base.join(address.as_str()) else { return };
    assert!(matches!(read.scheme(), "http" | "https"), "{given:?} is read as {read}");
    assert!(read.username().is_empty() && read.password().is_none(), "{given:?} is read as {read}");
    let expected = if address.host().is_some() { SITE } else { "wait.example" };
    assert_eq!(read.host_str(), Some(expected), "{given:?} is read as {read}");
    assert!(
        !address.as_str().contains(['"', '<', '>', '\r', '\n']),
        "it ends an attribute or a header"
    );
}
