//! Query strings and addresses: a parameter that is taken out is gone, and all others are as they were.

use vestibule_site::{UrlParts, without_parameter};

use super::{Target, text};

pub(super) const TARGET: Target = Target {
    name: "queries",
    run,
    words: &[
        "?",
        "&",
        "=",
        "#",
        "lang",
        "lang=de",
        "&lang=",
        "?lang",
        "l%61ng=de",
        "%26",
        "%3D",
        "https://",
        "http://",
        "//",
        "@",
        ":",
        "[::1]",
        "shop.example",
        "/",
        "+",
        ";",
    ],
};

const NAME: &str = "lang";

fn pairs(url: &str) -> Vec<&str> {
    url.split_once('?').map(|(_, query)| query.split('&').collect()).unwrap_or_default()
}

fn run(bytes: &[u8]) {
    let url = text(bytes);
    let without = without_parameter(&url, NAME);
    let is_it = |pair: &&str| pair.split('=').next() == Some(NAME);
    let kept: Vec<&str> = pairs(&url).into_iter().filter(|pair| !is_it(pair)).collect();
    assert_eq!(pairs(&without), kept, "{url:?}");
    assert_eq!(without_parameter(&without, NAME), without, "{url:?}: once is enough");
    assert_eq!(without.split('?').next(), url.split('?').next());

    let Some(parts) = UrlParts::split(&url) else { return };
    let query = if parts.query.is_empty() { String::new() } else { format!("?{}", parts.query) };
    let again = format!("{}{}{query}", parts.origin, parts.path);
    assert!(url.starts_with(&again), "{url:?} was taken apart as {parts:?}");
    assert!(parts.origin.ends_with(parts.authority) && !parts.authority.contains(['/', '?', '#']));
    assert_eq!(UrlParts::split(&again), Some(parts), "the same once more");
}
