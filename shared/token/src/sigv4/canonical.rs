//! A request in the form that is signed. Signers agree on it but for `+` in a query, which is a space to those who read the
//! query. Some encode it as such, while others leave the query as it is sent: both forms are tried.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, utf8_percent_encode};

/// What RFC 3986 calls unreserved stays.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
/// In a path, slashes too.
const IN_PATH: &AsciiSet = &RESERVED.remove(b'/');

/// The path as it was sent, each segment encoded once more.
pub(super) fn path(sent: &str) -> Cow<'_, str> {
    if sent.is_empty() { "/".into() } else { utf8_percent_encode(sent, IN_PATH).into() }
}

/// What the query may have been signed as: decoded, encoded by RFC 3986, and sorted.
pub(super) fn queries(sent: &str) -> Vec<String> {
    let mut forms = vec![decoded(sent)];
    if sent.contains('+') {
        forms.push(sorted(sent.split('&').map(halves).map(|(k, v)| (k.into(), v.into()))));
    }
    forms
}

fn decoded(sent: &str) -> String {
    let encoded = |part: &str| {
        let part = part.replace('+', " ");
        let bytes: Cow<'_, [u8]> = percent_decode(part.as_bytes()).into();
        percent_encoding::percent_encode(&bytes, RESERVED).to_string()
    };
    let pairs = sent.split('&').filter(|pair| !pair.is_empty()).map(halves);
    sorted(pairs.map(|(name, value)| (encoded(name), encoded(value))))
}

fn halves(pair: &str) -> (&str, &str) {
    pair.split_once('=').unwrap_or((pair, ""))
}

fn sorted(pairs: impl Iterator<Item = (String, String)>) -> String {
    let mut pairs: Vec<_> = pairs.collect();
    pairs.sort();
    let pairs: Vec<_> = pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join("&")
}

/// A header's value: trimmed, each run of spaces in it one.
pub(super) fn value(sent: &str) -> String {
    sent.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_encoded_once_more() {
        assert_eq!(path(""), "/");
        assert_eq!(path("/api/generate_token"), "/api/generate_token");
        assert_eq!(path("/a%20b/-._~/c+d"), "/a%2520b/-._~/c%2Bd");
    }

    #[test]
    fn a_query_is_decoded_encoded_and_sorted() {
        assert_eq!(queries(""), [""]);
        assert_eq!(queries("b=2&a=%7E%2f&a=1&&c"), ["a=1&a=~%2F&b=2&c="]);
        assert_eq!(queries("A=x&a=y&%C3%A9=%zz"), ["%C3%A9=%25zz&A=x&a=y"]);
        assert_eq!(queries("e=a+b"), ["e=a%20b", "e=a+b"]);
    }

    #[test]
    fn a_value_has_single_spaces_inside_and_none_around() {
        assert_eq!(value("  a   b\tc "), "a b c");
        assert_eq!(value(""), "");
    }
}
