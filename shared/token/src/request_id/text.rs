//! A block written as a UUID is: 36 characters, lower-case hexadecimal, 8-4-4-4-12. What it says is not known here.

const LENGTH: usize = 36;
const HYPHENS: [usize; 4] = [8, 13, 18, 23];
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The text of `block`.
pub(super) fn write(block: u128) -> String {
    let mut text = String::with_capacity(LENGTH);
    for byte in block.to_be_bytes() {
        if HYPHENS.contains(&text.len()) {
            text.push('-');
        }
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// The block that `text` was written from; of another form: none.
pub(super) fn read(text: &str) -> Option<u128> {
    let text: &[u8; LENGTH] = text.as_bytes().try_into().ok()?;
    let mut bytes = [0; 16];
    let mut at = 0;
    for byte in &mut bytes {
        if HYPHENS.contains(&at) {
            if text[at] != b'-' {
                return None;
            }
            at += 1;
        }
        *byte = digit(text[at])? << 4 | digit(text[at + 1])?;
        at += 2;
    }
    Some(u128::from_be_bytes(bytes))
}

fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        _ => None,
    }
}
