//! Request ids: only what was sealed opens, and it opens as what it was, in its own room alone.

use std::sync::LazyLock;

use vestibule_domain::{Place, RoomId};
use vestibule_token::{DeploymentSecret, RequestIdCipher, RequestIdError};

use super::{Target, text};

pub(super) const TARGET: Target = Target {
    name: "request-ids",
    run,
    words: &[
        "-",
        "0",
        "f",
        "F",
        "00000000-0000-4000-8000-000000000000",
        "urn:uuid:",
        "{",
        "}",
        "4",
        "8",
        "b",
    ],
};

static CIPHERS: LazyLock<[RequestIdCipher; 3]> = LazyLock::new(|| {
    let secret = DeploymentSecret::new(&[7; 32]).expect("long enough");
    let of = |room: &str, epoch| {
        RequestIdCipher::new(&secret, &RoomId::new(room).expect("a room's name"), epoch)
    };
    [of("sale", 0), of("sale", 1), of("other", 0)]
});

fn run(bytes: &[u8]) {
    let [ours, others @ ..] = &*CIPHERS;
    // As a stranger's: it opens only if it is what the place that it opens as is sealed to.
    let given = text(bytes);
    if let Ok(place) = ours.open(&given) {
        let sealed = ours.seal(place).expect("it was one");
        assert!(sealed.eq_ignore_ascii_case(&given), "{given:?} opens as {place:?}, {sealed}");
    }
    // As a place that is sealed, and then changed in one character.
    let Some((place, change)) = place(bytes) else { return };
    let Ok(sealed) = ours.seal(place) else { return };
    let opened = ours.open(&sealed);
    assert!(opened == Ok(place) || holds_another(place, opened), "{place:?} opens as {opened:?}");
    for other in others {
        assert!(other.open(&sealed).is_err(), "{sealed} opens elsewhere");
    }
    let mut changed = sealed.clone().into_bytes();
    let at = usize::from(change[0]) % changed.len();
    changed[at] = change[1];
    let changed = text(&changed);
    if !changed.eq_ignore_ascii_case(&sealed) {
        assert!(ours.open(&changed).is_err(), "{sealed} opens as {changed}, too");
    }
}

/// Whether what was sealed in the older form holds this place in the newer one: it cannot be known which was meant.
fn holds_another(sealed: Place, opened: Result<Place, RequestIdError>) -> bool {
    let has_shape = sealed.entered_at >> 16 & 0xf == 4 && sealed.entered_at >> 2 & 0b11 == 0b10;
    let is_odd = sealed.region & 1 != 0 && !sealed.is_told_as_uuid();
    has_shape
        && is_odd
        && opened.is_ok_and(|place| place.is_told_as_uuid() && place.number == sealed.number)
}

fn place(bytes: &[u8]) -> Option<(Place, [u8; 2])> {
    let (number, rest) = bytes.split_first_chunk::<6>()?;
    let (entered_at, rest) = rest.split_first_chunk::<4>()?;
    let (region, rest) = rest.split_first()?;
    let mut wide = [0; 8];
    wide[2..].copy_from_slice(number);
    let number = u64::from_be_bytes(wide);
    let place = Place { number, entered_at: u32::from_be_bytes(*entered_at), region: *region };
    Some((place, *rest.first_chunk()?))
}
