//! Decoding as careless servers do it: IIS's own escapes (`%u0073`), UTF-8 that is longer than it need be, and
//! letters of full width, which some servers take for those of ASCII. Strict decoding is in [`super::reading`].

use percent_encoding::percent_decode;

/// The length of an escape of IIS, in bytes: `%u0073`.
const WIDE_ESCAPE: usize = 6;

/// The bytes that `text` stands for at such a server.
pub(super) fn decode(text: &[u8]) -> Vec<u8> {
    let decoded: Vec<u8> = percent_decode(&without_wide_escapes(text)).collect();
    let mut read = Vec::with_capacity(decoded.len());
    let mut rest = decoded.as_slice();
    while let Some((first, after)) = rest.split_first() {
        let long = ascii_written_long(rest);
        read.push(long.map_or(*first, |(letter, _)| letter));
        rest = long.map_or(after, |(_, length)| &rest[length..]);
    }
    read
}

fn without_wide_escapes(text: &[u8]) -> Vec<u8> {
    let mut read = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        if let Some(letter) = wide_escape(rest) {
            read.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            rest = &rest[WIDE_ESCAPE..];
        } else {
            read.push(*first);
            rest = after;
        }
    }
    read
}

/// The character whose escape in IIS's form the text starts with.
fn wide_escape(text: &[u8]) -> Option<char> {
    let digits = text.strip_prefix(b"%u").or_else(|| text.strip_prefix(b"%U"))?.get(..4)?;
    let digit = |letter: &u8| char::from(*letter).to_digit(16);
    let code = digits.iter().try_fold(0, |code, letter| Some(code * 16 + digit(letter)?))?;
    Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
}

/// The ASCII character that the text starts with in a longer form, and the length of that form in bytes.
fn ascii_written_long(text: &[u8]) -> Option<(u8, usize)> {
    let low = |byte: u8| byte & 0x3F;
    match *text {
        [lead @ (0xC0 | 0xC1), end @ 0x80..=0xBF, ..] => Some(((lead & 1) << 6 | low(end), 2)),
        [0xE0, middle @ (0x80 | 0x81), end @ 0x80..=0xBF, ..] => {
            Some(((middle & 1) << 6 | low(end), 3))
        }
        [0xF0, 0x80, middle @ (0x80 | 0x81), end @ 0x80..=0xBF, ..] => {
            Some(((middle & 1) << 6 | low(end), 4))
        }
        _ => full_width(text).map(|letter| (letter, 3)),
    }
}

/// The ASCII character that the text starts with in full width, U+FF01 to U+FF5E, or as one of two slashes of
/// mathematics.
fn full_width(text: &[u8]) -> Option<u8> {
    match *text {
        [0xEF, 0xBC, end @ 0x81..=0xBF, ..] => Some(end - 0x60),
        [0xEF, 0xBD, end @ 0x80..=0x9E, ..] => Some(end - 0x20),
        // U+2044 and U+2215.
        [0xE2, 0x81, 0x84, ..] | [0xE2, 0x88, 0x95, ..] => Some(b'/'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_letter_is_the_letter() {
        let forms: [&[u8]; 9] = [
            b"s",
            b"%73",
            b"%u0073",
            b"%U0073",
            b"%c1%b3",
            b"%e0%81%b3",
            b"%f0%80%81%b3",
            b"%uff53",
            "\u{ff53}".as_bytes(),
        ];
        for form in forms {
            assert_eq!(decode(form), b"s", "{form:?}");
        }
        for (form, decoded) in [("%c0%af", "/"), ("%c0%ae", "."), ("%u2215", "/"), ("%uff0f", "/")]
        {
            assert_eq!(decode(form.as_bytes()), decoded.as_bytes(), "{form}");
        }
    }

    #[test]
    fn what_is_no_such_form_stays() {
        for text in ["%u007", "%uzzzz", "%", "%u", "über", "\u{ff5f}"] {
            assert_eq!(decode(text.as_bytes()), text.as_bytes(), "{text}");
        }
        assert_eq!(decode(b"%ud800"), "\u{fffd}".as_bytes());
        assert_eq!(decode(b"%c0/"), b"\xC0/");
    }
}
