//! Tests of the draw: it is a permutation, and the one of the specification.

mod agreement;

use proptest::prelude::*;

use super::*;

/// Panics unless every place of the draw is taken exactly once.
fn assert_all_places_taken_once(first: u64, count: usize, seed: Seed) {
    let draw = Draw::new(first, count as u64, seed);
    let mut taken = vec![false; count];
    for number in draw.first()..draw.first() + draw.count() {
        let position = draw.position(number).expect("every number of the draw has a place");
        let place = usize::try_from(position - first).expect("positions fit");
        assert!(!taken[place], "place {place} of {count} is taken twice");
        taken[place] = true;
    }
    assert!(taken.iter().all(|taken| *taken));
}

#[test]
fn every_place_is_taken_exactly_once() {
    for count in [1, 2, 3, 255, 256, 257, 10_000] {
        assert_all_places_taken_once(1, count, [7; 32]);
        assert_all_places_taken_once(5_001, count, [0xff; 32]);
    }
}

#[test]
fn a_million_places_are_taken_exactly_once() {
    assert_all_places_taken_once(1, 1_000_000, [42; 32]);
}

proptest! {
    #[test]
    fn any_draw_is_a_permutation(first in 1..MAX, count in 1_usize..2_000, seed: Seed) {
        assert_all_places_taken_once(first, count, seed);
    }

    #[test]
    fn a_large_draw_stays_within_itself(count in 1..=MAX, at: prop::sample::Index, seed: Seed) {
        let number = 1 + at.index(usize::try_from(count).expect("64 bits")) as u64;
        let position = Draw::new(1, count, seed).position(number);
        prop_assert!(position.is_some_and(|position| (1..=count).contains(&position)));
    }
}

const MAX: u64 = crate::MAX_QUEUE_NUMBER;

#[test]
fn only_those_who_took_part_have_a_drawn_place() {
    let draw = Draw::new(10, 5, [1; 32]);
    for outside in [0, 1, 9, 15, 16, u64::MAX] {
        assert_eq!(draw.position(outside), None);
        assert!(!draw.contains(outside));
    }
    assert!((10..15).all(|number| draw.contains(number)));
    assert_eq!(Draw::new(10, 1, [1; 32]).position(10), Some(10));
    let empty = Draw::new(10, 0, [1; 32]);
    assert_eq!((empty.position(10), empty.contains(10)), (None, false));
}

#[test]
fn several_draws_share_one_line() {
    let draws = [Draw::new(1, 100, [1; 32]), Draw::new(201, 100, [2; 32])];
    for number in [1, 50, 100] {
        assert_eq!(Some(Draw::position_in(&draws, number)), draws[0].position(number));
    }
    for number in [201, 250, 300] {
        assert_eq!(Some(Draw::position_in(&draws, number)), draws[1].position(number));
    }
    for number in [101, 150, 200, 301] {
        assert_eq!(
            Draw::position_in(&draws, number),
            number,
            "who took part in no draw stays in place"
        );
    }
    assert_eq!(Draw::position_in(&[], 7), 7);
    let mut line: Vec<_> = (1..=400).map(|number| Draw::position_in(&draws, number)).collect();
    line.sort_unstable();
    assert_eq!(line, (1..=400).collect::<Vec<_>>());
}

#[test]
fn another_seed_is_another_order() {
    let places = |seed| -> Vec<_> {
        let draw = Draw::new(1, 1_000, seed);
        (1..=1_000).filter_map(|number| draw.position(number)).collect()
    };
    let (one, other) = (places([1; 32]), places([2; 32]));
    let alike = one.iter().zip(&other).filter(|(a, b)| a == b).count();
    assert!(alike < 12, "{alike} of 1,000 in the same place: one is what chance gives");
}

#[test]
fn is_written_with_its_seed_and_read_back() {
    let draw = Draw::new(1, 1_000, [0xab; 32]);
    let json = serde_json::to_string(&draw).unwrap();
    let seed = "ab".repeat(32);
    assert_eq!(json, format!(r#"{{"first":1,"count":1000,"seed":"{seed}"}}"#));
    assert_eq!(serde_json::from_str::<Draw>(&json).unwrap(), draw);
    assert_eq!(
        format!("{draw:?}"),
        format!(r#"Draw {{ first: 1, count: 1000, seed: "{seed}", .. }}"#)
    );
}

#[test]
fn an_invalid_draw_is_refused() {
    let read = |first: u64, count: u64, seed: &str| {
        serde_json::from_str::<Draw>(&format!(
            r#"{{"first":{first},"count":{count},"seed":"{seed}"}}"#
        ))
        .map_err(|error| error.to_string())
    };
    let seed = "ab".repeat(32);
    assert!(read(1, MAX, &seed).is_ok());
    for (first, count) in [(2, MAX), (1, MAX + 1), (u64::MAX, 1), (1, u64::MAX)] {
        let error = read(first, count, &seed).unwrap_err();
        assert!(error.contains("past the highest queue number"), "{error}");
    }
    for seed in ["", "ab", &"zz".repeat(32), &"ab".repeat(33), &"a".repeat(63)] {
        assert!(read(1, 1, seed).is_err(), "{seed:?} is no seed");
    }
}
