//! Request ids: the permanent identity of a visitor in a room, in the form of a UUID. They cannot
//! be forged, and reading one needs no lookup, because it contains the place.
//!
//! A request id is one AES-256 block (encode-then-encipher). A block cipher spreads every change
//! over all 128 bits, so an id that was not made here decrypts to random bits, which pass the
//! redundancy check once in 2^52 tries:
//!
//! | bits | 36 | 32 | 8 | 52 |
//! |---|---|---|---|---|
//! | what | queue number | entry time, unix seconds | region | redundancy, zero |
//!
//! An id proves its holder's place, not that its holder may enter.

use aes::{
    Aes256,
    cipher::{BlockDecrypt, BlockEncrypt, KeyInit},
};
use thiserror::Error;
use vestibule_domain::{MAX_QUEUE_NUMBER, Place, RoomId};

use crate::DeploymentSecret;

const NUMBER_SHIFT: u32 = 92;
const ENTERED_SHIFT: u32 = 60;
const REGION_SHIFT: u32 = 52;
const REDUNDANCY: u128 = (1 << REGION_SHIFT) - 1;

const TEXT_LEN: usize = 36;
const HYPHENS: [usize; 4] = [8, 13, 18, 23];
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Makes and reads the request ids of one room between two resets.
pub struct RequestIdCipher(Aes256);

/// Why a request id was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RequestIdError {
    /// Not of the form of a UUID: 36 characters, lower-case hexadecimal, 8-4-4-4-12. Upper case is
    /// refused, so that an id has only one spelling.
    #[error("not a request id")]
    Malformed,
    /// Well-formed, but of another room, from before a reset, or forged. These cases cannot be
    /// distinguished.
    #[error("not a request id of this room")]
    Foreign,
}

/// The queue number is above [`MAX_QUEUE_NUMBER`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("queue number {0} is more than a request id can hold")]
pub struct NumberTooLarge(
    /// The queue number.
    pub u64,
);

// === impl RequestIdCipher ===

impl RequestIdCipher {
    /// The cipher of `room` for this reset epoch.
    #[must_use]
    pub fn new(secret: &DeploymentSecret, room: &RoomId, reset_epoch: u64) -> Self {
        let context = [room.as_str().as_bytes(), &reset_epoch.to_be_bytes()];
        let key = secret.derive::<32>("request id", &context);
        Self(Aes256::new((&*key).into()))
    }

    /// The request id of `place`: 36 characters, always the same for the same place.
    ///
    /// # Errors
    /// [`NumberTooLarge`] for a queue number above [`MAX_QUEUE_NUMBER`].
    pub fn seal(&self, place: Place) -> Result<String, NumberTooLarge> {
        if place.number > MAX_QUEUE_NUMBER {
            return Err(NumberTooLarge(place.number));
        }
        let mut block = encode(place).to_be_bytes().into();
        self.0.encrypt_block(&mut block);
        Ok(write_uuid(block.into()))
    }

    /// The place in `request_id`.
    ///
    /// # Errors
    /// [`RequestIdError`]: malformed, or not of this room and epoch.
    pub fn open(&self, request_id: &str) -> Result<Place, RequestIdError> {
        let mut block = read_uuid(request_id).ok_or(RequestIdError::Malformed)?.into();
        self.0.decrypt_block(&mut block);
        decode(u128::from_be_bytes(block.into())).ok_or(RequestIdError::Foreign)
    }
}

impl std::fmt::Debug for RequestIdCipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RequestIdCipher([REDACTED])")
    }
}

fn encode(place: Place) -> u128 {
    u128::from(place.number) << NUMBER_SHIFT
        | u128::from(place.entered_at) << ENTERED_SHIFT
        | u128::from(place.region) << REGION_SHIFT
}

#[expect(clippy::cast_possible_truncation, reason = "the shifts leave 36, 32 and 8 bits")]
fn decode(block: u128) -> Option<Place> {
    (block & REDUNDANCY == 0).then_some(Place {
        number: (block >> NUMBER_SHIFT) as u64,
        entered_at: (block >> ENTERED_SHIFT) as u32,
        region: (block >> REGION_SHIFT) as u8,
    })
}

fn write_uuid(bytes: [u8; 16]) -> String {
    let mut text = String::with_capacity(TEXT_LEN);
    for byte in bytes {
        if HYPHENS.contains(&text.len()) {
            text.push('-');
        }
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

fn read_uuid(text: &str) -> Option<[u8; 16]> {
    let text: &[u8; TEXT_LEN] = text.as_bytes().try_into().ok()?;
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
    Some(bytes)
}

fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::{room, secret};

    const PLACE: Place = Place { number: 4_711, entered_at: 1_763_690_000, region: 3 };

    fn cipher(name: &str, reset_epoch: u64) -> RequestIdCipher {
        RequestIdCipher::new(&secret(), &room(name), reset_epoch)
    }

    fn places() -> impl Strategy<Value = Place> {
        (0..=MAX_QUEUE_NUMBER, any::<u32>(), any::<u8>())
            .prop_map(|(number, entered_at, region)| Place { number, entered_at, region })
    }

    proptest! {
        #[test]
        fn what_is_sealed_opens(place in places()) {
            let id = cipher("sale", 1).seal(place).unwrap();
            prop_assert_eq!(cipher("sale", 1).open(&id), Ok(place));
        }

        #[test]
        fn ids_look_like_uuids(place in places()) {
            let id = cipher("sale", 1).seal(place).unwrap();
            let groups: Vec<&str> = id.split('-').collect();
            prop_assert_eq!(groups.iter().map(|g| g.len()).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
            prop_assert!(groups.concat().bytes().all(|c| DIGITS.contains(&c)), "{}", id);
        }

        #[test]
        fn any_flipped_bit_is_refused(place in places(), bit in 0..128u32) {
            let id = cipher("sale", 1).seal(place).unwrap();
            let flipped = u128::from_be_bytes(read_uuid(&id).unwrap()) ^ (1 << bit);
            let forged = write_uuid(flipped.to_be_bytes());
            prop_assert_eq!(cipher("sale", 1).open(&forged), Err(RequestIdError::Foreign));
        }

        #[test]
        fn invented_ids_are_refused(bytes: [u8; 16]) {
            let id = write_uuid(bytes);
            prop_assert_eq!(cipher("sale", 1).open(&id), Err(RequestIdError::Foreign));
        }

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            prop_assert_eq!(cipher("sale", 1).open(&text), Err(RequestIdError::Malformed));
        }
    }

    #[test]
    fn every_bit_of_the_redundancy_is_checked() {
        assert_eq!(decode(encode(PLACE)), Some(PLACE));
        for bit in 0..52 {
            assert_eq!(decode(encode(PLACE) | 1 << bit), None, "bit {bit}");
        }
    }

    #[test]
    fn another_room_epoch_or_secret_is_foreign() {
        let id = cipher("sale", 1).seal(PLACE).unwrap();
        let other_secret = DeploymentSecret::new(&[9; 32]).unwrap();
        let strangers = [
            cipher("sale2", 1),
            cipher("sale", 2),
            RequestIdCipher::new(&other_secret, &room("sale"), 1),
        ];
        for stranger in strangers {
            assert_eq!(stranger.open(&id), Err(RequestIdError::Foreign));
        }
    }

    #[test]
    fn the_largest_number_fits_and_the_next_does_not() {
        let place = Place { number: MAX_QUEUE_NUMBER, ..PLACE };
        let id = cipher("sale", 1).seal(place).unwrap();
        assert_eq!(cipher("sale", 1).open(&id), Ok(place));
        let number = MAX_QUEUE_NUMBER + 1;
        let over = cipher("sale", 1).seal(Place { number, ..PLACE });
        assert_eq!(over, Err(NumberTooLarge(number)));
    }

    #[test]
    fn other_spellings_are_malformed() {
        let id = cipher("sale", 1).seal(PLACE).unwrap();
        let spellings = [
            id.to_uppercase(),
            id.replace('-', ""),
            format!("{id} "),
            format!("{{{id}}}"),
            id[1..].to_owned(),
            id.replacen('-', "0", 1),
            String::new(),
        ];
        for spelling in spellings {
            assert_eq!(cipher("sale", 1).open(&spelling), Err(RequestIdError::Malformed));
        }
    }

    /// Visitors keep ids across releases, so the format may not change.
    #[test]
    fn the_format_is_pinned() {
        assert_eq!(cipher("sale", 1).seal(PLACE).unwrap(), "cdd8ffe3-0082-3115-9445-23e0cb137225");
    }
}
