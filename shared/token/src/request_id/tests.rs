//! What request ids promise, in both forms.

use proptest::prelude::*;

use super::*;
use crate::test_support::{room, secret};

/// Of the older form.
const PLACE: Place = Place { number: 4_711, entered_at: 1_763_690_000, region: 2 };
const FORMS: [Form; 2] = [Form::Plain, Form::Uuid];

fn cipher(name: &str, reset_epoch: u64) -> RequestIdCipher {
    RequestIdCipher::new(&secret(), &room(name), reset_epoch)
}

fn sealed(place: Place) -> String {
    cipher("sale", 1).seal(place).unwrap()
}

/// `place`, given to be told in this form.
fn told_as(form: Form, place: Place) -> Place {
    Place { region: Place::marked(place.region, false, form == Form::Uuid), ..place }
}

fn both_forms(place: Place) -> [Place; 2] {
    FORMS.map(|form| told_as(form, place))
}

fn places() -> impl Strategy<Value = Place> {
    (0..=MAX_QUEUE_NUMBER, any::<u32>(), any::<u8>())
        .prop_map(|(number, entered_at, region)| Place { number, entered_at, region })
}

fn forms() -> impl Strategy<Value = Form> {
    prop::sample::select(FORMS.as_slice())
}

proptest! {
    #[test]
    fn what_is_sealed_opens(form in forms(), place in places()) {
        // Of the older form those of odd regions may hold another place, too: see `read`.
        let even = Place { region: place.region & !1, ..place };
        let place = told_as(form, if form == Form::Plain { even } else { place });
        prop_assert_eq!(cipher("sale", 1).open(&sealed(place)), Ok(place));
    }

    /// As the npm package `uuid` validates, and others after it.
    #[test]
    fn strict_clients_take_them_for_uuids(place in places()) {
        let id = sealed(told_as(Form::Uuid, place));
        let groups: Vec<&str> = id.split('-').collect();
        prop_assert_eq!(groups.iter().map(|g| g.len()).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
        prop_assert!(groups.concat().bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f')), "{}", id);
        prop_assert!(groups[2].starts_with('4'), "{}", id);
        prop_assert!(groups[3].starts_with(['8', '9', 'a', 'b']), "{}", id);
    }

    #[test]
    fn any_flipped_bit_is_refused(form in forms(), place in places(), bit in 0..128u32) {
        let forged = text::write(text::read(&sealed(told_as(form, place))).unwrap() ^ (1 << bit));
        prop_assert_eq!(cipher("sale", 1).open(&forged), Err(RequestIdError::Foreign));
    }

    #[test]
    fn an_id_of_nothing_looks_like_one_and_does_not_open(form in forms(), seed: u64) {
        let id = cipher("sale", 1).seal_nothing_as(form, seed);
        prop_assert_eq!(&id, &cipher("sale", 1).seal_nothing_as(form, seed));
        prop_assert_ne!(&id, &cipher("sale", 2).seal_nothing_as(form, seed));
        prop_assert_ne!(&id, &cipher("sale", 1).seal_nothing_as(form, seed ^ 1));
        prop_assert_eq!(cipher("sale", 1).open(&id), Err(RequestIdError::Foreign));
        prop_assert!(form == Form::Plain || layout::is_uuid(text::read(&id).unwrap()));
    }

    #[test]
    fn invented_ids_are_refused(block: u128) {
        let id = text::write(block);
        prop_assert_eq!(cipher("sale", 1).open(&id), Err(RequestIdError::Foreign));
    }

    #[test]
    fn no_text_panics(text in ".{0,40}") {
        prop_assert_eq!(cipher("sale", 1).open(&text), Err(RequestIdError::Malformed));
    }
}

/// Of the older form one in 64 looks like a UUID.
#[test]
fn older_ids_open_whatever_they_look_like() {
    let (places, cipher) = ((1..=1_000).map(|number| Place { number, ..PLACE }), cipher("sale", 1));
    let mut like_uuids = 0;
    for place in places {
        let id = sealed(place);
        like_uuids += usize::from(layout::is_uuid(text::read(&id).unwrap()));
        assert_eq!(cipher.open(&id), Ok(place));
    }
    assert!(like_uuids > 0);
}

/// Places whose older form has the shape of a UUID before the cipher, too: the block holds a place in either form.
#[test]
fn older_ids_open_even_if_their_blocks_hold_a_place_as_a_uuid() {
    let (entered_at, cipher) = (0x6904_0008, cipher("sale", 1));
    let places = (1..=1_000).map(|number| Place { number, entered_at, ..PLACE });
    let mut hold_another = 0;
    for place in places {
        let id = sealed(place);
        let block = text::read(&id).unwrap();
        let as_uuid = layout::read_uuid(walk::decipher_until_uuid(cipher.0.current(), block));
        hold_another += usize::from(layout::is_uuid(block) && as_uuid.is_some());
        assert_eq!(cipher.open(&id), Ok(place));
    }
    assert!(hold_another > 0);
}

/// What cannot be decided from an id: the number is right all the same, and nobody else's.
#[test]
fn an_older_id_of_an_odd_region_opens_as_its_number_at_least() {
    let (entered_at, region, cipher) = (0x6904_0008, 3, cipher("sale", 1));
    let (mut right, mut others) = (0, 0);
    for number in 1..=1_000 {
        let place = Place { number, entered_at, region };
        let opened = cipher.open(&sealed(place)).unwrap();
        assert_eq!(opened.number, number);
        *(if opened == place { &mut right } else { &mut others }) += 1;
    }
    assert!(others > 0 && right > 900, "{right} right, {others} not");
}

#[test]
fn another_room_epoch_or_secret_is_foreign() {
    let other_secret = DeploymentSecret::new(&[9; 32]).unwrap();
    let strangers = [
        cipher("sale2", 1),
        cipher("sale", 2),
        RequestIdCipher::new(&other_secret, &room("sale"), 1),
    ];
    for stranger in strangers {
        for place in both_forms(PLACE) {
            assert_eq!(stranger.open(&sealed(place)), Err(RequestIdError::Foreign));
        }
    }
}

#[test]
fn ids_of_another_secret_open_while_it_is_replaced() {
    let new = || DeploymentSecret::new(&[9; 32]).unwrap();
    let both = RequestIdCipher::new(&new().with_others([secret()]), &room("sale"), 1);
    for place in both_forms(PLACE) {
        assert_eq!(both.open(&sealed(place)), Ok(place));
        let id = both.seal(place).unwrap();
        assert_eq!(RequestIdCipher::new(&new(), &room("sale"), 1).open(&id), Ok(place));
    }
}

#[test]
fn the_largest_number_fits_and_the_next_does_not() {
    for place in both_forms(PLACE) {
        let place = Place { number: MAX_QUEUE_NUMBER, ..place };
        assert_eq!(cipher("sale", 1).open(&sealed(place)), Ok(place));
        let number = MAX_QUEUE_NUMBER + 1;
        let over = cipher("sale", 1).seal(Place { number, ..place });
        assert_eq!(over, Err(NumberTooLarge(number)));
    }
}

#[test]
fn other_spellings_are_malformed() {
    let id = sealed(told_as(Form::Uuid, PLACE));
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

/// Visitors keep ids across releases, so neither form may change.
#[test]
fn the_forms_are_pinned() {
    let [plain, uuid] = both_forms(Place { region: 3, ..PLACE });
    assert_eq!(sealed(plain), "cdd8ffe3-0082-3115-9445-23e0cb137225");
    assert_eq!(sealed(uuid), "000c6e89-19a4-45ff-ae34-1449b99ffe1b");
}
