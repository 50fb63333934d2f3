//! A path as it is written, with the characters that a person would use.

/// The length of an escape, in bytes: `%20`.
const ESCAPE: usize = 3;

/// The path, with those escapes undone that a browser must write: characters beyond ASCII, the
/// space, and marks that are not allowed in addresses. None of them has a meaning in a path.
pub(super) fn as_written(raw: &str) -> String {
    let written = if raw.contains('%') { undone(raw) } else { raw.to_owned() };
    if written.starts_with('/') { written } else { format!("/{written}") }
}

/// Whether every way reads this path as it is written.
pub(super) fn is_plain(raw: &str) -> bool {
    let mut before = 0;
    let is_plain = |byte: u8| {
        let special = matches!(byte, b'%' | b'\\' | b';' | b'#' | b'?' | 0);
        let resolved = before == b'/' && matches!(byte, b'/' | b'.');
        before = byte;
        byte.is_ascii() && !special && !resolved
    };
    raw.starts_with('/') && raw.bytes().all(is_plain)
}

fn undone(raw: &str) -> String {
    let mut written = Vec::with_capacity(raw.len());
    let mut rest = raw.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let undone = escape(rest).filter(|byte| must_be_escaped(*byte));
        written.push(undone.unwrap_or(*first));
        rest = if undone.is_some() { &rest[ESCAPE..] } else { after };
    }
    String::from_utf8(written).unwrap_or_else(|_| raw.to_owned())
}

/// The byte whose escape the text starts with.
fn escape(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = text else { return None };
    let digit = |letter: u8| char::from(letter).to_digit(16);
    u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
}

const fn must_be_escaped(byte: u8) -> bool {
    !byte.is_ascii() || matches!(byte, b' ' | b'"' | b'<' | b'>' | b'^' | b'`' | b'{' | b'|' | b'}')
}
