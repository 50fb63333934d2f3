//! Paths that go back (`..`), for what the other readings cannot say of them: servers that resolve nothing, and how many
//! ways there are of resolving, merging and decoding that nobody foresees. Browsers resolve such paths before they send
//! them.

use std::borrow::Cow;

use percent_encoding::percent_decode;

use super::{loose, reading::without_line_ends};

/// The path as servers read it that decode and resolve nothing: to them `/s%61le/../x` is something below `/sale`. Apart
/// from the path as it is written, and only of those that go back: all others are read so anyway.
pub(super) fn readings(raw: &str) -> Vec<String> {
    let (once, twice) = decoded(raw);
    let differ = [(&once, *once != *raw.as_bytes()), (&twice, twice != once)];
    let read = differ.into_iter().filter(|(text, differs)| *differs && has_two_dots(text));
    read.map(|(text, _)| {
        let text = String::from_utf8_lossy(text);
        if text.starts_with('/') { text.into_owned() } else { format!("/{text}") }
    })
    .collect()
}

/// What is behind the first segment of a path that begins with two slashes or more, of either kind: servers that read a
/// request's target as an address within their own (`new URL(target, base)`) take that segment for a host.
pub(super) fn behind_a_host(raw: &str) -> Option<&str> {
    let is_slash = |c: char| matches!(c, '/' | '\\');
    let host = raw.trim_start_matches(is_slash);
    if raw.len() - host.len() < 2 {
        return None;
    }
    Some(host.find(is_slash).map_or("/", |at| &host[at..]))
}

/// Whether a segment is `..`, in whatever way it is decoded and ends. What it goes back to depends on who resolves it.
pub(super) fn goes_back(raw: &str) -> bool {
    let (once, twice) = decoded(raw);
    let mut texts = vec![Cow::Borrowed(raw.as_bytes()), once, twice];
    let loosely = loose::decode(raw.as_bytes());
    texts.push(loose::decode(&loosely).into());
    texts.push(loosely.into());
    let joined: Vec<_> = texts.iter().map(|text| without_line_ends(text).into()).collect();
    texts.extend(joined);
    texts.iter().any(|text| {
        has_two_dots(text) && text.split(|byte| is_end(*byte)).any(|part| part == b"..")
    })
}

fn decoded(raw: &str) -> (Cow<'_, [u8]>, Cow<'_, [u8]>) {
    let once: Cow<'_, [u8]> = percent_decode(raw.as_bytes()).into();
    let twice = Cow::<[u8]>::from(percent_decode(&once)).into_owned();
    (once, twice.into())
}

fn has_two_dots(text: &[u8]) -> bool {
    text.windows(2).any(|two| two == b"..")
}

/// Where a segment may end.
fn is_end(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\' | b';' | b'?' | b'#' | 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_resolved_is_read_as_it_is() {
        let cases: [(&str, &[&str]); 5] = [
            ("/sale/%61", &[]),
            ("/sale/../x", &[]),
            ("/s%61le/../x", &["/sale/../x"]),
            ("/s%2561le/../x", &["/s%61le/../x", "/sale/../x"]),
            ("s%61le/..", &["/sale/.."]),
        ];
        for (raw, expected) in cases {
            assert_eq!(readings(raw), expected, "{raw}");
        }
    }

    #[test]
    fn a_path_that_goes_back_is_known_in_every_spelling() {
        let back = [
            "/a/../b",
            "/a/..",
            "/a/%2e%2e/b",
            "/a/%252e./b",
            "/a\\..\\b",
            "/a%5c..%2fb",
            "/a/..;x/b",
            "/a/..%00",
            "/a/..?b",
            "/a/%u002e%u002e/b",
            "/a/.%09./b",
            "/a/.%0d%0a.",
            "..",
        ];
        for raw in back {
            assert!(goes_back(raw), "{raw}");
        }
        for raw in ["/a/b", "/a..b", "/a/...", "/.../b", "/a/.", "/a.b/..c", "/", ""] {
            assert!(!goes_back(raw), "{raw}");
        }
    }
}
