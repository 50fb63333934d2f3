//! Where a place stands in the block of a request id, before it is enciphered. There are two forms; see
//! [`super::RequestIdCipher`].
//!
//! | bits | number | entry time, unix seconds | region | redundancy, zero |
//! |---|---|---|---|---|
//! | plain | 36 | 32 | 8 | 52 |
//! | UUID | 36 | 32 | 8 | 46 |
//!
//! The six bits that a UUID of version 4 has anyway are left out of the second one's redundancy, and stand where they
//! stand in every UUID.

use vestibule_domain::Place;

/// The version, 4, in the high half of byte 6, and the variant, binary 10, in the two highest bits of byte 8.
const SHAPE: u128 = 0x4 << 76 | 0b10 << 62;
const SHAPE_MASK: u128 = 0xf << 76 | 0b11 << 62;
/// Bits below the variant.
const LOW: u32 = 62;
/// Bits between the version and the variant.
const MIDDLE: u32 = 12;

const PLAIN_REDUNDANCY: u32 = 52;
const UUID_REDUNDANCY: u32 = 46;
const REGION: u32 = 8;
const ENTERED: u32 = 32;

/// Whether a block is that of a UUID of version 4 and of the variant of RFC 9562.
pub(super) fn is_uuid(block: u128) -> bool {
    block & SHAPE_MASK == SHAPE
}

/// The plain block of `place`.
pub(super) fn plain(place: Place) -> u128 {
    pack(place, PLAIN_REDUNDANCY)
}

/// The place in a plain block; none: it is not one.
pub(super) fn read_plain(block: u128) -> Option<Place> {
    unpack(block, PLAIN_REDUNDANCY)
}

/// The block of `place` that has the shape of a UUID.
pub(super) fn uuid(place: Place) -> u128 {
    let bits = pack(place, UUID_REDUNDANCY);
    let middle = bits >> LOW & ones(MIDDLE);
    bits >> (LOW + MIDDLE) << 80 | middle << 64 | bits & ones(LOW) | SHAPE
}

/// The place in a block that has the shape of a UUID; none: there is none in it.
pub(super) fn read_uuid(block: u128) -> Option<Place> {
    let middle = block >> 64 & ones(MIDDLE);
    unpack(block >> 80 << (LOW + MIDDLE) | middle << LOW | block & ones(LOW), UUID_REDUNDANCY)
}

fn pack(place: Place, redundancy: u32) -> u128 {
    u128::from(place.number) << (redundancy + REGION + ENTERED)
        | u128::from(place.entered_at) << (redundancy + REGION)
        | u128::from(place.region) << redundancy
}

#[expect(clippy::cast_possible_truncation, reason = "the shifts leave 36, 32 and 8 bits")]
fn unpack(bits: u128, redundancy: u32) -> Option<Place> {
    (bits & ones(redundancy) == 0).then_some(Place {
        number: (bits >> (redundancy + REGION + ENTERED)) as u64,
        entered_at: (bits >> (redundancy + REGION)) as u32,
        region: (bits >> redundancy) as u8,
    })
}

fn ones(bits: u32) -> u128 {
    (1 << bits) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place { number: 4_711, entered_at: 1_763_690_000, region: 3 };

    #[test]
    fn every_bit_of_the_redundancy_is_checked() {
        assert_eq!(read_plain(plain(PLACE)), Some(PLACE));
        assert_eq!(read_uuid(uuid(PLACE)), Some(PLACE));
        for bit in 0..PLAIN_REDUNDANCY {
            assert_eq!(read_plain(plain(PLACE) | 1 << bit), None, "bit {bit}");
        }
        for bit in 0..UUID_REDUNDANCY {
            assert_eq!(read_uuid(uuid(PLACE) | 1 << bit), None, "bit {bit}");
        }
    }

    #[test]
    fn a_uuid_says_its_version_and_variant_whatever_it_holds() {
        for place in [Place { number: 0, entered_at: 0, region: 0 }, PLACE] {
            assert!(is_uuid(uuid(place)), "{place:?}");
        }
        for bit in [76, 77, 78, 79, 62, 63] {
            assert!(!is_uuid(uuid(PLACE) ^ 1 << bit), "bit {bit}");
        }
    }
}
