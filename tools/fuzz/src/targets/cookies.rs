//! Cookies: what was set is found among all others, and over https nothing that a sibling of the host can set.

use vestibule_site::{CookieAttributes, CookieKind, cookie_pairs};

use super::{Target, text};

pub(super) const TARGET: Target = Target {
    name: "cookies",
    run,
    words: &[
        "vestibule_sale",
        "vestibule_token_sale",
        "__Host-",
        "__Secure-",
        "__host-",
        "=",
        ";",
        "; ",
        ",",
        "\"",
        "\\",
        "vestibule_sale=x",
        "__Host-vestibule_sale=x",
        " ",
        "\t",
        "%3d",
        "$Version",
        "Path=/",
    ],
};

fn run(bytes: &[u8]) {
    let junk = text(bytes);
    let cookie = CookieAttributes::default();
    for https in [false, true] {
        let values = |header: &str| -> Vec<String> {
            let header = [header.to_owned()];
            let headers = || header.iter().map(String::as_str);
            cookie.values(CookieKind::Ticket, "sale", https, headers).map(str::to_owned).collect()
        };
        let found = values(&junk);
        for value in &found {
            assert_eq!(value.trim(), value);
            assert!(!value.contains(';'), "{value:?} goes on behind its end");
        }
        let prefixed = junk.matches("__Host-vestibule_sale").count();
        assert!(!https || found.len() <= prefixed, "{junk:?} speaks for a plain name");

        let set = cookie.attributes(https).set_cookie(
            cookie.name(CookieKind::Ticket, "sale", https),
            "ticket",
            60,
        );
        let pair = set.split(';').next().unwrap_or_default();
        for header in [format!("{junk}; {pair}"), format!("{pair}; {junk}")] {
            let found_now = values(&header);
            assert!(found_now.iter().any(|value| value == "ticket"), "{header:?} hides it");
            assert_eq!(found_now.len(), found.len() + 1, "{header:?}");
        }
    }
    for (name, value) in cookie_pairs([&*junk].into_iter()) {
        assert!(!name.contains([';', '=']) && !value.contains(';'), "{name:?}={value:?}");
    }
}
