//! What is fuzzed: one file each.

mod bypass;
mod cookies;
mod events;
mod ext_authz;
mod logins;
mod pages;
mod paths;
mod queries;
mod request_ids;
mod return_addresses;
mod settings;
mod signed_requests;
mod sns_messages;
mod tickets;
mod tokens;

/// Something that reads what strangers send.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, and that of its corpus.
    pub name: &'static str,
    /// Panics when something does not hold.
    pub run: fn(&[u8]),
    /// Words of its format, for changes that make sense.
    pub words: &'static [&'static str],
}

/// All targets.
pub const TARGETS: &[Target] = &[
    bypass::TARGET,
    cookies::TARGET,
    events::TARGET,
    ext_authz::TARGET,
    logins::TARGET,
    pages::TARGET,
    paths::TARGET,
    queries::TARGET,
    request_ids::TARGET,
    return_addresses::TARGET,
    settings::TARGET,
    signed_requests::TARGET,
    sns_messages::TARGET,
    tickets::TARGET,
    tokens::TARGET,
];

/// The words of paths that servers read in different ways.
const PATH_WORDS: &[&str] = &[
    "/",
    "//",
    "/./",
    "/../",
    "/sale",
    "/sale/",
    "/sale/open/",
    "/x/..",
    "%2f",
    "%2F",
    "%5c",
    "\\",
    "%2e",
    "%2e%2e",
    "%252f",
    "%252e",
    "%73ale",
    "s%61le",
    ";",
    ";a=b",
    "..;/",
    "%00",
    "%",
    "%c0%af",
    "%C3%BC",
    "?",
    "#",
    "%3f",
    "%23",
    "%3b",
    ".",
    "..",
    "ü",
    "+",
    "%20",
    "%25",
];

/// The text of these bytes, whatever they are.
fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
