//! How servers read a path that decode it, but leave as it is what a careful gateway resolves or merges. Both matter only
//! to paths that go back (`..`): all others are read so anyway, or are spellings of one place.

use std::borrow::Cow;

use percent_encoding::percent_decode;

/// What such servers read, apart from the path as it is written.
pub(super) fn readings(raw: &str) -> Vec<String> {
    let once: Cow<'_, [u8]> = percent_decode(raw.as_bytes()).into();
    let twice: Cow<'_, [u8]> = percent_decode(&once).into();
    if !has_pair(&twice, |byte| byte == b'.') {
        return Vec::new();
    }
    let texts = [raw.as_bytes(), &*once, &*twice];
    let mut readings = Vec::new();
    for (nth, text) in texts.into_iter().enumerate() {
        if nth > 0 && text == texts[nth - 1] {
            continue;
        }
        // Nothing is resolved: to these `/s%61le/../x` is something below `/sale`.
        if nth > 0 {
            readings.push(to_text(text));
        }
        // Nothing is merged, as by the rules of addresses (RFC 3986): `/a/..//b` is `//b`. Nor is what is still escaped
        // any more: `/a/../b%2fc` has one name.
        let (has_empty, has_escapes) = (has_pair(text, is_slash), text.contains(&b'%'));
        // Decoded and merged is what the others read.
        let ways = [(has_empty || has_escapes, false), (has_empty && has_escapes, true)];
        for (_, merges) in ways.into_iter().filter(|(differs, _)| *differs) {
            readings.push(to_text(&resolved(text, |byte| byte == b'/', merges)));
            if text.contains(&b'\\') {
                readings.push(to_text(&resolved(text, is_slash, merges)));
            }
        }
    }
    readings
}

fn has_pair(text: &[u8], is_one: impl Fn(u8) -> bool) -> bool {
    text.windows(2).any(|two| two.iter().all(|byte| is_one(*byte)))
}

fn is_slash(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\')
}

/// Without `.` and `..`; with every empty segment, unless it `merges` them.
fn resolved(text: &[u8], separates: impl Fn(u8) -> bool, merges: bool) -> Vec<u8> {
    let first = text.split_first().filter(|(first, _)| separates(**first));
    let text = first.map_or(text, |(_, rest)| rest);
    let (mut segments, mut in_directory) = (Vec::new(), false);
    for segment in text.split(|byte| separates(*byte)) {
        in_directory = matches!(segment, b"." | b"..") || merges && segment.is_empty();
        match segment {
            b"." => {}
            b".." => drop(segments.pop()),
            b"" if merges => {}
            _ => segments.push(segment),
        }
    }
    if in_directory {
        segments.push(b"");
    }
    [b"/", segments.join(&b'/').as_slice()].concat()
}

fn to_text(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    if text.starts_with('/') { text.into_owned() } else { format!("/{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_resolved_and_what_is_not_merged() {
        let cases: [(&str, &[&str]); 8] = [
            ("/sale/%61", &[]),
            ("/sale/../x", &[]),
            ("/s%61le/../x", &["/x", "/sale/../x"]),
            ("/a/../b%2fc", &["/b%2fc", "/a/../b/c"]),
            ("/a//../b%2fc", &["/a/b%2fc", "/b%2fc", "/a//../b/c", "/a/b/c"]),
            ("/a/..///b/.", &["///b/"]),
            ("/a\\..//b", &["/a\\..//b", "//b"]),
            ("/%61/..//b", &["//b", "/b", "/a/..//b", "//b"]),
        ];
        for (raw, expected) in cases {
            assert_eq!(readings(raw), expected, "{raw}");
        }
    }
}
