//! Ways of reading a path, and which of them can read a given path differently.

use std::borrow::Cow;

use percent_encoding::percent_decode;

use super::loose;

/// One way of reading a path: a set of the habits below, which gateways and sites are known to
/// have.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathReading(u16);

/// The path is split into segments before it is decoded: an escaped slash is part of its segment.
const SPLITS_FIRST: u16 = 1;
/// A backslash is an ordinary character.
const KEEPS_BACKSLASHES: u16 = 1 << 1;
/// `..` removes an empty segment (`a//..` is `a/`) instead of the one before it.
const KEEPS_EMPTY_SEGMENTS: u16 = 1 << 2;
/// A segment ends at `;`, where its parameters begin.
const CUTS_PARAMETERS: u16 = 1 << 3;
/// The path ends at `#`, at a NUL as strings in C do, or at a `?` or `#` that was escaped, as where a decoded path
/// is put into an address that is read again.
const CUTS_TAILS: u16 = 1 << 4;
/// Escapes are decoded a second time.
const DECODES_TWICE: u16 = 1 << 5;
/// `.` and `..` are resolved as they are written, before anything is decoded: a segment with an
/// escaped dot is a name (`a/%2e/..` is `a/`).
const RESOLVES_WRITTEN: u16 = 1 << 6;
/// Escapes are decoded as careless servers do ([`loose`]).
const DECODES_LOOSELY: u16 = 1 << 7;
/// Parameters are cut as they are written, before anything is decoded: an escaped `;` is part of its segment.
const CUTS_WRITTEN: u16 = 1 << 8;
/// Tabs and ends of lines are dropped, wherever they are, as where a decoded path is put into an address that a browser's
/// parser reads again.
const DROPS_LINE_ENDS: u16 = 1 << 9;
const ALL: u16 = (1 << 10) - 1;

/// All ways except the canonical one that may read `raw` differently, as sets of the habits that can change the
/// reading of this path.
pub(super) fn others(raw: &str) -> Vec<PathReading> {
    let relevant = relevant_habits(raw.as_bytes());
    (1..=ALL).filter(|habits| habits & !relevant == 0).map(PathReading).collect()
}

fn relevant_habits(raw: &[u8]) -> u16 {
    let once = decode(raw);
    let twice = decode(&once);
    let written = Contents::of(raw);
    let decoded = Contents::of(&once);
    let loosely = decoded.may_be_loose.then(|| loose::decode(raw));
    let loosely_twice = loosely.as_ref().map(|once| loose::decode(once));
    let mut read = if twice == once { decoded } else { Contents::of(&twice) };
    if let Some(text) = &loosely_twice {
        read = read.or(Contents::of(text));
    }
    if read.line_ends {
        let widest = loosely_twice.as_deref().unwrap_or(&twice);
        read = read.or(Contents::of(&without_line_ends(widest)));
    }
    // The ends of segments matter only to paths that contain `..`, or parameters, which end with
    // their segment.
    let ends_matter = read.goes_back || read.parameters > 0;
    let more_parameters = read.parameters > written.parameters || read.slashes > written.slashes;
    let habits = [
        (SPLITS_FIRST, ends_matter && read.slashes > written.slashes),
        (KEEPS_BACKSLASHES, ends_matter && read.backslashes),
        (KEEPS_EMPTY_SEGMENTS, read.goes_back && read.empty_segments),
        (CUTS_PARAMETERS, read.parameters > 0),
        (CUTS_TAILS, read.tails),
        (DECODES_TWICE, twice != once || loosely_twice != loosely),
        (RESOLVES_WRITTEN, read.goes_back && read.dots > written.dots),
        (DECODES_LOOSELY, loosely_twice.as_ref().is_some_and(|text| *text != *twice)),
        (CUTS_WRITTEN, written.parameters > 0 && more_parameters),
        (DROPS_LINE_ENDS, read.line_ends),
    ];
    habits.into_iter().filter(|(_, relevant)| *relevant).fold(0, |all, (habit, _)| all | habit)
}

/// What a path may end at.
const TAILS: [u8; 3] = [0, b'?', b'#'];

/// What a text contains that some way of reading treats in its own way.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "none of them follows from another")]
struct Contents {
    slashes: usize,
    dots: usize,
    backslashes: bool,
    parameters: usize,
    tails: bool,
    line_ends: bool,
    /// `..`
    goes_back: bool,
    /// A segment is empty, or may become empty when its parameters are cut.
    empty_segments: bool,
    /// Careless decoding may read more in it. That is costly, and seldom needed.
    may_be_loose: bool,
}

// === impl Contents ===

impl Contents {
    fn of(text: &[u8]) -> Self {
        let mut contents = Self::default();
        let mut before = 0;
        for &byte in text {
            contents.add(before, byte);
            before = byte;
        }
        contents
    }

    fn add(&mut self, before: u8, byte: u8) {
        match byte {
            b'/' | b'\\' => {
                self.slashes += 1;
                self.backslashes |= byte == b'\\';
                self.empty_segments |= is_slash(before);
            }
            b'.' => {
                self.dots += 1;
                self.goes_back |= before == b'.';
            }
            b';' => {
                self.parameters += 1;
                self.empty_segments |= is_slash(before);
            }
            b'u' | b'U' => self.may_be_loose |= before == b'%',
            // Longer forms of ASCII begin with these.
            0xC0 | 0xC1 | 0xE0 | 0xE2 | 0xEF | 0xF0 => self.may_be_loose = true,
            b'\t' | b'\r' | b'\n' => self.line_ends = true,
            _ => self.tails |= TAILS.contains(&byte),
        }
    }

    /// What either of two texts contains.
    fn or(self, other: Self) -> Self {
        Self {
            slashes: self.slashes.max(other.slashes),
            dots: self.dots.max(other.dots),
            backslashes: self.backslashes || other.backslashes,
            parameters: self.parameters.max(other.parameters),
            tails: self.tails || other.tails,
            line_ends: self.line_ends || other.line_ends,
            goes_back: self.goes_back || other.goes_back,
            empty_segments: self.empty_segments || other.empty_segments,
            may_be_loose: self.may_be_loose || other.may_be_loose,
        }
    }
}

/// What is left of the text without tabs and ends of lines.
pub(super) fn without_line_ends(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| !matches!(byte, b'\t' | b'\r' | b'\n')).collect()
}

fn is_slash(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\')
}

fn decode(text: &[u8]) -> Cow<'_, [u8]> {
    percent_decode(text).into()
}

/// The part before the first of `ends`, and whether there is one.
fn until<'a>(text: &'a [u8], ends: &[u8]) -> (&'a [u8], bool) {
    match text.iter().position(|byte| ends.contains(byte)) {
        Some(at) => (&text[..at], true),
        None => (text, false),
    }
}

// === impl PathReading ===

impl PathReading {
    /// The way of a careful gateway: no habit at all.
    pub(super) const CANONICAL: Self = Self(0);

    /// The path as read in this way.
    pub(super) fn read(self, raw: &str) -> String {
        let raw = raw.as_bytes();
        let raw = if self.has(CUTS_TAILS) { until(raw, b"#").0 } else { raw };
        let raw: Cow<'_, [u8]> =
            if self.has(CUTS_WRITTEN) { self.without_parameters(raw).into() } else { raw.into() };
        let splits_first = self.has(SPLITS_FIRST) || self.has(RESOLVES_WRITTEN);
        let decoded = if splits_first { None } else { Some(self.decode(&raw)) };
        let whole = decoded.as_ref().unwrap_or(&raw);
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

    const fn has(self, habit: u16) -> bool {
        self.0 & habit != 0
    }

    const fn separates(self, byte: u8) -> bool {
        byte == b'/' || (byte == b'\\' && !self.has(KEEPS_BACKSLASHES))
    }

    fn without_parameters(self, raw: &[u8]) -> Vec<u8> {
        let mut is_parameter = false;
        let is_kept = |byte: &u8| {
            is_parameter = !self.separates(*byte) && (is_parameter || *byte == b';');
            !is_parameter
        };
        raw.iter().copied().filter(is_kept).collect()
    }

    fn decode(self, text: &[u8]) -> Cow<'_, [u8]> {
        let once = self.decode_once(text);
        let decoded = if self.has(DECODES_TWICE) {
            self.decode_once(&once).into_owned().into()
        } else {
            once
        };
        if self.has(DROPS_LINE_ENDS) { without_line_ends(&decoded).into() } else { decoded }
    }

    fn decode_once(self, text: &[u8]) -> Cow<'_, [u8]> {
        if self.has(DECODES_LOOSELY) { loose::decode(text).into() } else { decode(text) }
    }

    /// The segment without the parts that are cut, and whether the path ends with it.
    fn cut(self, segment: &[u8]) -> (&[u8], bool) {
        let (segment, ends) =
            if self.has(CUTS_TAILS) { until(segment, &TAILS) } else { (segment, false) };
        let segment = if self.has(CUTS_PARAMETERS) { until(segment, b";").0 } else { segment };
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
    /// Whether the last one was empty, `.` or `..`, so that the path names a directory.
    in_directory: bool,
}

// === impl Resolved ===

impl Resolved {
    /// Adds `segment`; `dots` decides whether it counts as `.` or `..`.
    fn push(&mut self, segment: &[u8], dots: &[u8], keep_empty: bool) {
        self.in_directory = matches!(dots, b"" | b"." | b"..");
        match dots {
            b".." => self.text.truncate(self.starts.pop().unwrap_or(0)),
            b"." => {}
            // The part before the first slash is not a segment.
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
        String::from_utf8(self.text)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}
