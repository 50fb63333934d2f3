//! Request ids: the permanent identity of a visitor in a room, in the form of a UUID. They cannot
//! be forged, and reading one needs no lookup, because it contains the place.
//!
//! A request id is one AES-256 block (encode-then-encipher). A block cipher spreads every change over all 128 bits, so
//! an id that was not made here deciphers to random bits, and these pass the check of the redundancy once in 2^46 tries.
//!
//! Strict clients want a UUID of version 4, which has six fixed bits. The block before the cipher has them, too, and is
//! enciphered until they recur, 64 times on average (1 to 2 µs); reading deciphers until they recur, and so comes back to
//! that very block. Older ids have no such shape, or by chance; both are read, and [`Formats`] says which one is written.
//!
//! An id proves its holder's place, not that its holder may enter.

mod layout;
mod text;
mod walk;

use aes::{
    Aes256,
    cipher::{BlockDecrypt, BlockEncrypt, KeyInit},
};
use thiserror::Error;
use vestibule_domain::{Formats, MAX_QUEUE_NUMBER, Place, RoomId};

use crate::{DeploymentSecret, secret::Derived};

/// Makes and reads the request ids of one room between two resets.
pub struct RequestIdCipher(Derived<Aes256>);

/// What an id looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Any block.
    Plain,
    /// A UUID of version 4.
    Uuid,
}

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
        Self(secret.derive_each::<32, _>("request id", &context, |key| Aes256::new((&*key).into())))
    }

    /// The request id of `place`: 36 characters, always the same for the same place. Whether it is a UUID of version 4
    /// was settled when the place was given.
    ///
    /// # Errors
    /// [`NumberTooLarge`] for a queue number above [`MAX_QUEUE_NUMBER`].
    pub fn seal(&self, place: Place) -> Result<String, NumberTooLarge> {
        if place.number > MAX_QUEUE_NUMBER {
            return Err(NumberTooLarge(place.number));
        }
        let cipher = self.0.current();
        Ok(text::write(match Form::of(place) {
            Form::Plain => encipher(cipher, layout::plain(place)),
            Form::Uuid => walk::encipher_until_uuid(cipher, layout::uuid(place)),
        }))
    }

    /// What looks like a request id and is of no place: it does not open. Always the same for the same `seed`.
    #[must_use]
    pub fn seal_nothing(&self, seed: u64) -> String {
        self.seal_nothing_as(Form::WRITTEN, seed)
    }

    fn seal_nothing_as(&self, form: Form, seed: u64) -> String {
        let encipher = |block| encipher(self.0.current(), block);
        let mut block = u128::from(seed) << 64 | u128::from(!seed);
        loop {
            block = match form {
                Form::Plain => encipher(block),
                Form::Uuid => walk::encipher_until_uuid(self.0.current(), block),
            };
            // Once in 2^46 tries it is some place's.
            if self.0.find(|cipher| read(cipher, block)).is_none() {
                return text::write(block);
            }
        }
    }

    /// The place in `request_id`.
    ///
    /// # Errors
    /// [`RequestIdError`]: malformed, or not of this room and epoch.
    pub fn open(&self, request_id: &str) -> Result<Place, RequestIdError> {
        let block = text::read(request_id).ok_or(RequestIdError::Malformed)?;
        self.0.find(|cipher| read(cipher, block)).ok_or(RequestIdError::Foreign)
    }
}

// === impl Form ===

impl Form {
    /// What new ids look like. Beside a release that reads no other form, only that one may be written.
    const WRITTEN: Self = match Formats::WRITTEN.request_id {
        1 => Self::Plain,
        _ => Self::Uuid,
    };

    /// What the id of a place looks like: that was settled when it was given.
    fn of(place: Place) -> Self {
        if place.is_told_as_uuid() { Self::Uuid } else { Self::Plain }
    }
}

impl std::fmt::Debug for RequestIdCipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RequestIdCipher([REDACTED])")
    }
}

/// The place in `block`, of either form. One block in 4,096 of the older form has the shape of a UUID before and after the
/// cipher, and may hold another place as one; most of these say of themselves that they are not told so.
///
/// Left are those of a region with an odd index, entered in 18 hours of every 12 days: they open as the place with their
/// number in the first region, entered at another time of these days.
fn read(cipher: &Aes256, block: u128) -> Option<Place> {
    let uuid = || layout::read_uuid(walk::decipher_until_uuid(cipher, block));
    let place = if layout::is_uuid(block) { uuid().filter(Place::is_told_as_uuid) } else { None };
    place.or_else(|| layout::read_plain(decipher(cipher, block)))
}

fn encipher(cipher: &Aes256, block: u128) -> u128 {
    let mut block = block.to_be_bytes().into();
    cipher.encrypt_block(&mut block);
    u128::from_be_bytes(block.into())
}

fn decipher(cipher: &Aes256, block: u128) -> u128 {
    let mut block = block.to_be_bytes().into();
    cipher.decrypt_block(&mut block);
    u128::from_be_bytes(block.into())
}

#[cfg(test)]
mod tests;
