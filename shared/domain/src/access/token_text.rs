//! What a token looks like that is made here: `vst_`, 33 random letters and digits, and 6 more as a checksum. So
//! programs that look for secrets in code and logs know it, without asking anybody whether it is one.

use sha2::{Digest, Sha256};

/// What every token begins with.
pub const TOKEN_PREFIX: &str = "vst_";

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Digits of one number: 62^11 is more than 2^64.
const OF_NUMBER: usize = 11;
const NUMBERS: usize = 3;
const OF_CHECKSUM: usize = 6;

/// A token of three random numbers, which nobody may guess.
#[must_use]
pub fn make(numbers: [u64; NUMBERS]) -> String {
    let mut text = TOKEN_PREFIX.to_owned() + &random_text(numbers);
    let checksum = checksum(&text);
    text.push_str(&checksum);
    text
}

/// A text of three random numbers, 33 letters and digits, which nobody may guess: a secret that is told once.
#[must_use]
pub fn random_text(numbers: [u64; NUMBERS]) -> String {
    let mut text = String::new();
    for number in numbers {
        push_digits(&mut text, number, OF_NUMBER);
    }
    text
}

/// Whether the text can be a token that was made here.
#[must_use]
pub fn is_well_formed(text: &str) -> bool {
    let length = TOKEN_PREFIX.len() + NUMBERS * OF_NUMBER;
    if text.len() != length + OF_CHECKSUM || !text.starts_with(TOKEN_PREFIX) {
        return false;
    }
    text.split_at_checked(length).is_some_and(|(body, end)| checksum(body) == end)
}

/// What is kept of a token instead of itself: its SHA-256, in hex. Whoever knows it knows nothing of a token that is
/// random.
#[must_use]
pub fn digest(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

/// The first 32 bits of the SHA-256.
fn checksum(body: &str) -> String {
    let hash = Sha256::digest(body.as_bytes());
    let number = u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]]);
    let mut text = String::new();
    push_digits(&mut text, number.into(), OF_CHECKSUM);
    text
}

fn push_digits(text: &mut String, number: u64, count: usize) {
    let base = DIGITS.len() as u64;
    let mut rest = number;
    for _ in 0..count {
        text.push(char::from(DIGITS[usize::try_from(rest % base).unwrap_or(0)]));
        rest /= base;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever looks for secrets knows tokens by this form.
    #[test]
    fn the_form_is_pinned() {
        let token = make([0, 1, u64::MAX]);
        assert!(token.starts_with("vst_00000000000" /* 0 */), "{token}");
        assert_eq!(token.len(), 43);
        assert!(is_well_formed(&token));
        let end: String = token.chars().skip(37).collect();
        assert_eq!(end, checksum(&token[..37]));
    }

    #[test]
    fn one_wrong_letter_is_noticed() {
        let token = make([7, 8, 9]);
        for at in 4..token.len() {
            let mut wrong = token.clone().into_bytes();
            wrong[at] = if wrong[at] == b'x' { b'y' } else { b'x' };
            assert!(!is_well_formed(std::str::from_utf8(&wrong).unwrap()), "{at}");
        }
        for other in ["", "vst_", "0123456789abcdef", &format!("{token}0"), &"ä".repeat(22)] {
            assert!(!is_well_formed(other), "{other}");
        }
    }

    #[test]
    fn other_numbers_are_other_tokens() {
        assert_ne!(make([1, 2, 3]), make([1, 2, 4]));
        assert_ne!(digest("a"), digest("b"));
        assert_eq!(digest("").get(..8), Some("e3b0c442"));
    }
}
