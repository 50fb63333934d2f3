//! The names and attributes of the cookies, and the reader of `Cookie` headers. The contents of the
//! cookies are sealed in `vestibule-token`.

use std::fmt::{self, Write};

use serde::{Deserialize, Serialize};

/// A browser accepts a cookie with this prefix only from the exact host, over https.
const HOST_PREFIX: &str = "__Host-";
/// The reserved length of all attributes together.
const ATTRIBUTES_LENGTH: usize = 90;

/// How a browser is asked to keep the ticket: `vestibule_{suffix or room}`, with `__Host-` before it
/// whenever it is Secure; always `HttpOnly`, for the host alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct CookieAttributes {
    /// `auto`: none if partitioned, else lax. `none` is lax where the cookie is not Secure.
    pub same_site: SameSite,
    /// `auto`: when visitors come over https.
    pub secure: Secure,
    /// For pages that are shown in frames of other sites.
    pub partitioned: bool,
    /// In the place of the room's name: 1 to 32 of `A-Za-z0-9_-`.
    pub suffix: Option<String>,
}

/// To which requests a browser adds the cookie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SameSite {
    /// As suits the other attributes.
    #[default]
    Auto,
    /// To those of the site itself, and to links to it.
    Lax,
    /// To all, also those of frames.
    None,
    /// To those of the site itself only.
    Strict,
}

/// Whether the cookie travels over https only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Secure {
    /// When visitors come over https.
    #[default]
    Auto,
    /// Always, also where the gateway says http.
    Always,
    /// Never.
    Never,
}

/// The purpose of a cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CookieKind {
    /// The visitor's ticket.
    Ticket,
    /// The access token, for gateways that verify it by themselves.
    Token,
}

/// The attributes of a cookie for one visitor, as they are written after its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenAttributes {
    /// `Secure`.
    pub secure: bool,
    /// `SameSite`: `Lax`, `None` or `Strict`.
    pub same_site: &'static str,
    /// `Partitioned`.
    pub partitioned: bool,
}

// === impl CookieAttributes ===

impl CookieAttributes {
    /// The longest suffix, in characters.
    pub const MAX_SUFFIX: usize = 32;

    /// The name of the cookie of `room`, for a visitor who comes by `https` or not. A secure cookie
    /// has the prefix that keeps other hosts of the same domain from setting it.
    #[must_use]
    pub fn name(&self, kind: CookieKind, room: &str, https: bool) -> String {
        let prefix = if self.is_secure(https) { HOST_PREFIX } else { "" };
        format!("{prefix}{}{}", kind.stem(), self.ending(room))
    }

    /// The values of the cookies of `room` in the `Cookie` headers that `headers` gives, of a visitor who comes by `https` or not.
    /// Those with the prefix, which other hosts cannot set, go first; where cookies are never secure, they are not set any
    /// more and not read. The plain name, which a sibling of the host can set for it, is not read where the cookie is
    /// secure.
    pub fn values<'a, 'r, H: Iterator<Item = &'a str>>(
        &'r self,
        kind: CookieKind,
        room: &'r str,
        https: bool,
        headers: impl Fn() -> H,
    ) -> impl Iterator<Item = &'a str> {
        let ending = self.ending(room);
        let named = move |prefix: &'static str| {
            cookie_pairs(headers()).filter_map(move |(name, value)| {
                let rest = name.strip_prefix(prefix)?.strip_prefix(kind.stem())?;
                (rest == ending).then_some(value)
            })
        };
        let prefixed = (self.secure != Secure::Never).then(|| named(HOST_PREFIX));
        let plain = (!self.is_secure(https)).then(|| named(""));
        prefixed.into_iter().flatten().chain(plain.into_iter().flatten())
    }

    /// Whether cookies with these attributes are called the same, whoever comes.
    #[must_use]
    pub fn has_names_of(&self, other: &Self) -> bool {
        (self.secure, &self.suffix) == (other.secure, &other.suffix)
    }

    /// The attributes of a cookie for a visitor who comes by `https` or not. Browsers accept
    /// `SameSite=None` and `Partitioned` only with `Secure`, so they are left out without it.
    #[must_use]
    pub fn attributes(&self, https: bool) -> WrittenAttributes {
        let secure = self.is_secure(https);
        let partitioned = secure && self.partitioned;
        let same_site = match self.same_site {
            SameSite::Strict => "Strict",
            SameSite::None if secure => "None",
            SameSite::Auto if partitioned => "None",
            SameSite::None | SameSite::Auto | SameSite::Lax => "Lax",
        };
        WrittenAttributes { secure, same_site, partitioned }
    }

    /// The end of the names of the room's cookies: the suffix, or the room.
    #[must_use]
    pub fn ending<'a>(&'a self, room: &'a str) -> &'a str {
        self.suffix.as_deref().unwrap_or(room)
    }

    const fn is_secure(&self, https: bool) -> bool {
        match self.secure {
            Secure::Auto => https,
            Secure::Always => true,
            Secure::Never => false,
        }
    }
}

// === impl CookieKind ===

impl CookieKind {
    /// What the stem of the token's name has more than that of the ticket's.
    pub(crate) const TOKEN_ENDING: &str = "token_";

    /// The start of its name, after the prefix of secure cookies.
    const fn stem(self) -> &'static str {
        match self {
            Self::Ticket => "vestibule_",
            Self::Token => "vestibule_token_",
        }
    }
}

// === impl WrittenAttributes ===

impl WrittenAttributes {
    /// The value of a `Set-Cookie` header: the browser keeps the cookie for `age` seconds; 0
    /// deletes it. `name` and `value` are written unchanged.
    #[must_use]
    pub fn set_cookie(&self, name: impl Into<String>, value: &str, age: u64) -> String {
        let mut cookie = name.into();
        cookie.reserve(value.len() + ATTRIBUTES_LENGTH);
        // Writing to a `String` cannot fail.
        let _ = write!(cookie, "={value}; Max-Age={age}{self}");
        cookie
    }
}

impl fmt::Display for WrittenAttributes {
    /// All attributes except the age, beginning with `; `.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "; Path=/; HttpOnly; SameSite={}", self.same_site)?;
        let flags = [(self.secure, "; Secure"), (self.partitioned, "; Partitioned")];
        flags.into_iter().filter(|(set, _)| *set).try_for_each(|(_, flag)| f.write_str(flag))
    }
}

/// Without the blanks around it that browsers and RFC 6265 leave out. Other blanks of Unicode belong to a name: browsers do not
/// take one that begins with them for one with a prefix, so that a sibling of the host may set it.
fn trimmed(part: &str) -> &str {
    part.trim_matches([' ', '\t'])
}

/// The cookies of these header lines, by name and value as they were sent, in their order. Pairs
/// without `=` are left out. Nothing is decoded or allocated, because this runs for every poll.
pub fn cookie_pairs<'a>(
    headers: impl Iterator<Item = &'a str>,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    headers.flat_map(|header| header.split(';')).filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        Some((trimmed(name), trimmed(value)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(same_site: SameSite, secure: Secure, partitioned: bool) -> CookieAttributes {
        CookieAttributes { same_site, secure, partitioned, suffix: None }
    }

    #[test]
    fn every_choice_by_http_and_by_https() {
        use {SameSite as S, Secure as C};
        let cases = [
            (S::Auto, C::Auto, false, "Lax", "Lax; Secure"),
            (S::Auto, C::Auto, true, "Lax", "None; Secure; Partitioned"),
            (S::Auto, C::Always, false, "Lax; Secure", "Lax; Secure"),
            (S::Auto, C::Always, true, "None; Secure; Partitioned", "None; Secure; Partitioned"),
            (S::Auto, C::Never, false, "Lax", "Lax"),
            (S::Auto, C::Never, true, "Lax", "Lax"),
            (S::Lax, C::Auto, false, "Lax", "Lax; Secure"),
            (S::Lax, C::Auto, true, "Lax", "Lax; Secure; Partitioned"),
            (S::None, C::Auto, false, "Lax", "None; Secure"),
            (S::None, C::Auto, true, "Lax", "None; Secure; Partitioned"),
            (S::None, C::Always, false, "None; Secure", "None; Secure"),
            (S::None, C::Never, false, "Lax", "Lax"),
            (S::Strict, C::Auto, false, "Strict", "Strict; Secure"),
            (
                S::Strict,
                C::Always,
                true,
                "Strict; Secure; Partitioned",
                "Strict; Secure; Partitioned",
            ),
            (S::Strict, C::Never, false, "Strict", "Strict"),
        ];
        for (same_site, secure, partitioned, http, https) in cases {
            let cookie = attributes(same_site, secure, partitioned);
            let written = |https| cookie.attributes(https).to_string();
            assert_eq!(
                written(false),
                format!("; Path=/; HttpOnly; SameSite={http}"),
                "{cookie:?}"
            );
            assert_eq!(
                written(true),
                format!("; Path=/; HttpOnly; SameSite={https}"),
                "{cookie:?}"
            );
        }
    }

    #[test]
    fn names_have_the_prefix_whenever_they_are_secure() {
        let room = "sale";
        let cases = [
            (Secure::Auto, false, None, "vestibule_sale", "vestibule_token_sale"),
            (Secure::Auto, true, None, "__Host-vestibule_sale", "__Host-vestibule_token_sale"),
            (Secure::Always, false, None, "__Host-vestibule_sale", "__Host-vestibule_token_sale"),
            (Secure::Never, true, None, "vestibule_sale", "vestibule_token_sale"),
            (Secure::Auto, true, Some("eu"), "__Host-vestibule_eu", "__Host-vestibule_token_eu"),
        ];
        for (secure, https, suffix, ticket, token) in cases {
            let suffix = suffix.map(ToOwned::to_owned);
            let cookie = CookieAttributes { secure, suffix, ..CookieAttributes::default() };
            assert_eq!(cookie.name(CookieKind::Ticket, room, https), ticket);
            assert_eq!(cookie.name(CookieKind::Token, room, https), token);
        }
    }

    #[test]
    fn the_plain_name_is_read_only_where_cookies_are_not_secure() {
        let lines = [
            "vestibule_sale=A; __Host-vestibule_sale=B",
            "vestibule_sale=C; vestibule_sale2=D",
            "\u{2000}__Host-vestibule_sale=E;\u{a0}__Host-vestibule_sale=F",
        ];
        for (secure, https, expected) in [
            (Secure::Auto, true, &["B"][..]),
            (Secure::Auto, false, &["B", "A", "C"]),
            (Secure::Always, false, &["B"]),
            (Secure::Never, true, &["A", "C"]),
        ] {
            let cookie = attributes(SameSite::Auto, secure, false);
            let values = cookie.values(CookieKind::Ticket, "sale", https, || lines.into_iter());
            assert_eq!(values.collect::<Vec<_>>(), expected, "{secure:?} {https}");
        }
    }

    #[test]
    fn pairs_are_read_from_every_line_as_they_were_sent() {
        let lines = ["a=b; c = d=e ;f", "a=\"x\";; g="];
        let pairs: Vec<_> = cookie_pairs(lines.into_iter()).collect();
        assert_eq!(pairs, [("a", "b"), ("c", "d=e"), ("a", "\"x\""), ("g", "")]);
    }
}
