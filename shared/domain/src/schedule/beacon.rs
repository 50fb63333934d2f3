//! A public randomness beacon, one future round of which goes into a draw: its address and the
//! round. The services fetch and verify it.

use serde::{Deserialize, Serialize};

use crate::FieldError;

/// The longest address of a beacon, in characters.
const MAX_URL: usize = 512;
/// A compressed point of either group of BLS12-381, in hexadecimal digits.
const KEY_DIGITS: [usize; 2] = [2 * 48, 2 * 96];

/// A round of a public randomness beacon (drand).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Beacon {
    /// Where the beacon answers.
    #[cfg_attr(
        feature = "openapi",
        schema(max_length = 512, example = "https://api.drand.sh/v2/beacons/quicknet")
    )]
    pub url: String,
    /// The round that goes into the draw: one that is not published before the start, when the pre-queue closes.
    #[cfg_attr(feature = "openapi", schema(minimum = 1))]
    pub round: u64,
    /// The beacon's public key, 48 or 96 bytes in hexadecimal, by which its answer is checked.
    pub public_key: String,
}

// === impl Beacon ===

impl Beacon {
    /// Everything that is out of bounds; empty when all is well.
    #[must_use]
    pub fn errors(&self) -> Vec<FieldError> {
        let checks = [
            (
                self.has_url(),
                "beacon.url",
                "must be an http:// or https:// address without a user, a query and a fragment",
            ),
            (self.round > 0, "beacon.round", "must be 1 or more"),
            (
                self.has_key(),
                "beacon.public_key",
                "must be 48 or 96 bytes in hexadecimal: 96 or 192 digits",
            ),
        ];
        let wrong = checks.into_iter().filter(|(well, ..)| !well);
        wrong
            .map(|(_, field, reason)| FieldError { field: field.into(), reason: reason.into() })
            .collect()
    }

    /// The round's path is put at its end, so nothing may stand there that would take the path in; and what is sent is no
    /// secret.
    fn has_url(&self) -> bool {
        let host = self.url.strip_prefix("https://").or(self.url.strip_prefix("http://"));
        let host = host.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'));
        let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '?' | '#' | '@' | '\\');
        host && self.url.len() <= MAX_URL && self.url.chars().all(is_plain)
    }

    fn has_key(&self) -> bool {
        KEY_DIGITS.contains(&self.public_key.len())
            && self.public_key.bytes().all(|digit| digit.is_ascii_hexdigit())
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn fields(url: &str, round: u64, public_key: &str) -> Vec<Cow<'static, str>> {
        let beacon = Beacon { url: url.into(), round, public_key: public_key.into() };
        beacon.errors().into_iter().map(|error| error.field).collect()
    }

    #[test]
    fn address_round_and_key_are_checked() {
        let (short, long) = ("aF".repeat(48), "09".repeat(96));
        assert_eq!(fields("https://api.drand.sh/chain", 1, &short), [""; 0]);
        assert_eq!(fields("http://127.0.0.1:8080", u64::MAX, &long), [""; 0]);
        let too_long = format!("https://{}", "x".repeat(505));
        for url in [
            "",
            "api.drand.sh",
            "ftp://x",
            "https://",
            "https:///x",
            "https://a b",
            "https://a/x?y=",
            "https://a/x#",
            "https://me:secret@a/",
            "https://a\\@b/",
            &too_long,
        ] {
            assert_eq!(fields(url, 1, &short), ["beacon.url"], "{url}");
        }
        assert_eq!(fields("https://x", 0, &short), ["beacon.round"]);
        for key in ["", &"a".repeat(95), &"a".repeat(97), &"x".repeat(96), &"a".repeat(194)] {
            assert_eq!(fields("https://x", 1, key), ["beacon.public_key"], "{key}");
        }
    }
}
