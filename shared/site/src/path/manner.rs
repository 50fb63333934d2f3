//! The manners of reading a path, and which of them can make a difference to a given one.

use std::borrow::Cow;

use percent_encoding::percent_decode;

/// One way to read a path: a set of habits that gateways and sites are known to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Manner(u8);

/// The path is taken apart before it is decoded: an escaped slash is part of its segment.
const SPLITS_FIRST: u8 = 1;
/// A backslash is a letter like others.
const KEEPS_BACKSLASHES: u8 = 1 << 1;
/// `..` goes back over an empty segment (`a//..` is `a/`) instead of over the one before it.
const KEEPS_EMPTY_SEGMENTS: u8 = 1 << 2;
/// A segment ends at `;`: parameters follow.
const CUTS_PARAMETERS: u8 = 1 << 3;
/// The path ends at `#`, or at a NUL as texts in C do.
const CUTS_TAILS: u8 = 1 << 4;
/// Escapes are decoded a second time.
const DECODES_TWICE: u8 = 1 << 5;
/// `.` and `..` are resolved as they are written, before anything is decoded: an escaped dot is part
/// of a name (`a/%2e/..` is `a/`).
const RESOLVES_WRITTEN: u8 = 1 << 6;
const EVERY_HABIT: u8 = (1 << 7) - 1;

/// Every manner but the canonical one that may read `raw` differently.
pub(super) fn others(raw: &str) -> impl Iterator<Item = Manner> {
    let telling = telling(raw);
    (1..=EVERY_HABIT).filter(move |habits| habits & !telling == 0).map(Manner)
}

/// The habits that can make a difference to this path.
fn telling(raw: &str) -> u8 {
    let once = decode(raw.as_bytes());
    let twice = decode(&once);
    let has = |byte: u8| twice.contains(&byte);
    let slashes = |text: &[u8]| text.iter().filter(|byte| is_slash(**byte)).count();
    let dots = |text: &[u8]| text.iter().filter(|byte| **byte == b'.').count();
    // Where segments end only matters to a path that goes back over some, or has parameters, which
    // end with their segment.
    let goes_back = twice.windows(2).any(|pair| pair == b"..");
    let ends_matter = goes_back || has(b';');
    let habits = [
        (SPLITS_FIRST, ends_matter && slashes(&twice) > slashes(raw.as_bytes())),
        (KEEPS_BACKSLASHES, ends_matter && has(b'\\')),
        (KEEPS_EMPTY_SEGMENTS, goes_back && has_empty_segments(&twice)),
        (CUTS_PARAMETERS, has(b';')),
        (CUTS_TAILS, has(0) || raw.contains('#')),
        (DECODES_TWICE, twice != once),
        (RESOLVES_WRITTEN, goes_back && dots(&twice) > dots(raw.as_bytes())),
    ];
    habits.into_iter().filter(|(_, tells)| *tells).fold(0, |all, (habit, _)| all | habit)
}

/// Whether a segment is empty, or may become so when its parameters are cut.
fn has_empty_segments(path: &[u8]) -> bool {
    path.windows(2).any(|pair| is_slash(pair[0]) && (is_slash(pair[1]) || pair[1] == b';'))
}

fn is_slash(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\')
}

fn decode(text: &[u8]) -> Cow<'_, [u8]> {
    percent_decode(text).into()
}

/// What is before the first `end`, and whether there is one.
fn until(text: &[u8], end: u8) -> (&[u8], bool) {
    match text.iter().position(|byte| *byte == end) {
        Some(at) => (&text[..at], true),
        None => (text, false),
    }
}

// === impl Manner ===

impl Manner {
    /// The manner of a careful gateway.
    pub(super) const CANONICAL: Self = Self(0);

    /// What the path comes to.
    pub(super) fn read(self, raw: &str) -> String {
        let raw = if self.has(CUTS_TAILS) { until(raw.as_bytes(), b'#').0 } else { raw.as_bytes() };
        let splits_first = self.has(SPLITS_FIRST) || self.has(RESOLVES_WRITTEN);
        let whole = if splits_first { raw.into() } else { self.decode(raw) };
        let mut resolved = Resolved::default();
        for written in whole.split(|byte| self.separates(*byte)) {
            let segment = if splits_first { self.decode(written) } else { written.into() };
            let (segment, ends) = self.cut(&segment);
            let dots = if self.has(RESOLVES_WRITTEN) { self.cut(written).0 } else { segment };
            resolved.push(segment, dots, self.has(KEEPS_EMPTY_SEGMENTS));
            if ends {
                break;
            }
        }
        resolved.into_text()
    }

    const fn has(self, habit: u8) -> bool {
        self.0 & habit != 0
    }

    const fn separates(self, byte: u8) -> bool {
        byte == b'/' || (byte == b'\\' && !self.has(KEEPS_BACKSLASHES))
    }

    fn decode(self, text: &[u8]) -> Cow<'_, [u8]> {
        let once = decode(text);
        if self.has(DECODES_TWICE) { decode(&once).into_owned().into() } else { once }
    }

    /// The segment without what this manner does not look at, and whether the path ends with it.
    fn cut(self, segment: &[u8]) -> (&[u8], bool) {
        let (segment, ends) =
            if self.has(CUTS_TAILS) { until(segment, 0) } else { (segment, false) };
        let segment = if self.has(CUTS_PARAMETERS) { until(segment, b';').0 } else { segment };
        (segment, ends)
    }
}

/// The segments that are left once `.` and `..` are resolved.
#[derive(Debug, Default)]
struct Resolved {
    /// Each with a slash before it.
    text: Vec<u8>,
    /// Where each begins.
    starts: Vec<usize>,
    /// Whether the last one was a directory's own name: nothing, `.` or `..`.
    in_directory: bool,
}

// === impl Resolved ===

impl Resolved {
    /// `dots` is what tells whether the segment is `.` or `..`.
    fn push(&mut self, segment: &[u8], dots: &[u8], keep_empty: bool) {
        self.in_directory = matches!(dots, b"" | b"." | b"..");
        match dots {
            b".." => self.text.truncate(self.starts.pop().unwrap_or(0)),
            b"." => {}
            // What is before the first slash is no segment.
            b"" if !keep_empty => {}
            _ => {
                self.starts.push(self.text.len());
                self.text.push(b'/');
                self.text.extend_from_slice(segment);
            }
        }
    }

    fn into_text(mut self) -> String {
        if self.in_directory || self.text.is_empty() {
            self.text.push(b'/');
        }
        self.text.dedup_by(|next, before| *next == b'/' && *before == b'/');
        String::from_utf8_lossy(&self.text).into_owned()
    }
}
