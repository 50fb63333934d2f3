//! Puzzles, their solutions and passes: what counts, what does not, and what a check costs (a measure).

use std::time::Instant;

use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::*;
use crate::test_support::{room, secret};

const NOW: u64 = 1_763_690_000;
const LATER: u64 = NOW + 600;

fn challenges() -> RoomChallenges {
    RoomChallenges::new(&secret(), &room("sale"))
}

fn number(puzzle: &Puzzle) -> u32 {
    let found =
        (0..=puzzle.max_number).find(|n| puzzle::hash(&puzzle.salt, *n) == puzzle.challenge);
    found.expect("every puzzle has a number")
}

fn written(puzzle: &Puzzle, salt: &str, number: u32) -> String {
    STANDARD.encode(
        json!({
            "algorithm": puzzle.algorithm, "challenge": puzzle.challenge, "number": number,
            "salt": salt, "signature": puzzle.signature, "took": 12,
        })
        .to_string(),
    )
}

fn solved(puzzle: &Puzzle) -> String {
    written(puzzle, &puzzle.salt, number(puzzle))
}

#[test]
fn a_solution_counts_until_it_expires() {
    let puzzle = challenges().puzzle(200, LATER);
    let text = solved(&puzzle);
    let Ok(Shown::Solution(mark)) = challenges().check(&text, NOW) else { panic!() };
    assert_eq!((mark.expires_at, mark.name.len()), (LATER, 11));
    let url_safe = text.replace('+', "-").replace('/', "_");
    let url_safe = url_safe.trim_end_matches('=');
    assert_eq!(challenges().check(url_safe, LATER - 1), Ok(Shown::Solution(mark)));
    assert_eq!(challenges().check(&text, LATER), Err(ChallengeError::Expired));
}

#[test]
fn puzzles_have_altchas_form() {
    let puzzle = serde_json::to_value(challenges().puzzle(200, LATER)).unwrap();
    let names: Vec<_> = puzzle.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["algorithm", "challenge", "maxnumber", "salt", "signature"]);
    assert_eq!((&puzzle["algorithm"], &puzzle["maxnumber"]), (&json!("SHA-256"), &json!(200)));
    for (name, length) in [("challenge", 64), ("signature", 64)] {
        assert_eq!(hex::decode(puzzle[name].as_str().unwrap()).unwrap().len() * 2, length);
    }
    let salt = puzzle["salt"].as_str().unwrap();
    assert!(salt.ends_with(&format!("?expires={LATER}&")), "{salt}");
    // With the number it is to fit into one block of the hash.
    assert!(salt.len() + "4294967295".len() <= 55, "{salt}");
}

/// The salt's time and the number stand side by side: no digit may wander from one to the other.
#[test]
fn nobody_lengthens_the_time_by_digits_of_the_number() {
    let puzzle = challenges().puzzle(200, LATER);
    let number = number(&puzzle);
    let salt = puzzle.salt.trim_end_matches('&');
    for salt in [salt.to_owned(), format!("{salt}0&"), format!("{salt}&{}", number / 10)] {
        let text = written(&puzzle, &salt, number % 10);
        assert!(challenges().check(&text, NOW).is_err(), "{salt}");
    }
}

#[test]
fn what_is_not_the_rooms_own_does_not_count() {
    let puzzle = challenges().puzzle(200, LATER);
    let wrong = written(&puzzle, &puzzle.salt, 201);
    assert_eq!(challenges().check(&wrong, NOW), Err(ChallengeError::Wrong));
    let other = RoomChallenges::new(&secret(), &room("other"));
    assert_eq!(other.check(&solved(&puzzle), NOW), Err(ChallengeError::Foreign));
    let own = Puzzle { challenge: puzzle::hash(&puzzle.salt, 1), ..puzzle.clone() };
    assert_eq!(challenges().check(&written(&own, &own.salt, 1), NOW), Err(ChallengeError::Foreign));
    for nothing in ["", "x", "e30=", "pass", "pass.", &"A".repeat(LONGEST + 4)] {
        assert!(
            matches!(
                challenges().check(nothing, NOW),
                Err(ChallengeError::Malformed | ChallengeError::Foreign)
            ),
            "{nothing}"
        );
    }
}

#[test]
fn while_the_secret_is_replaced_both_count() {
    let new = DeploymentSecret::new(&[7; 32]).unwrap().with_others([secret()]);
    let replaced = RoomChallenges::new(&new, &room("sale"));
    assert!(replaced.check(&solved(&challenges().puzzle(200, LATER)), NOW).is_ok());
    assert!(replaced.check(&challenges().pass(LATER, false), NOW).is_ok());
    let puzzle = replaced.puzzle(200, LATER);
    assert_eq!(challenges().check(&solved(&puzzle), NOW), Err(ChallengeError::Foreign));
}

#[test]
fn passes_count_in_their_room_until_they_expire() {
    let many = challenges().pass(LATER, false);
    assert_eq!(challenges().check(&many, NOW), Ok(Shown::Pass(None)));
    assert_eq!(challenges().check(&many, LATER), Err(ChallengeError::Expired));
    let other = RoomChallenges::new(&secret(), &room("other"));
    assert_eq!(other.check(&many, NOW), Err(ChallengeError::Foreign));
    let longer = many.replace(&LATER.to_string(), &(LATER + 1).to_string());
    assert_eq!(challenges().check(&longer, NOW), Err(ChallengeError::Foreign));
    let once = challenges().pass(LATER, true);
    let Ok(Shown::Pass(Some(mark))) = challenges().check(&once, NOW) else { panic!() };
    assert_ne!(
        challenges().check(&challenges().pass(LATER, true), NOW),
        Ok(Shown::Pass(Some(mark)))
    );
    let turned = once.replace(".once.", ".many.");
    assert_eq!(challenges().check(&turned, NOW), Err(ChallengeError::Foreign));
}

/// `cargo test --release -p vestibule-token -- --ignored --nocapture how_long`
#[test]
#[ignore = "a measure"]
#[expect(clippy::disallowed_methods, reason = "a measure")]
fn how_long_a_check_takes() {
    const TIMES: u32 = 100_000;
    let (challenges, others) = (challenges(), DeploymentSecret::new(&[7; 32]).unwrap());
    let text = solved(&challenges.puzzle(200, LATER));
    let both = RoomChallenges::new(&others.with_others([secret()]), &room("sale"));
    for (what, challenges) in [("one secret", &challenges), ("two secrets", &both)] {
        let begun = Instant::now();
        assert!((0..TIMES).all(|_| challenges.check(&text, NOW).is_ok()));
        println!("a check by {what}: {:?}", begun.elapsed() / TIMES);
    }
    let begun = Instant::now();
    assert!((0..TIMES).all(|_| challenges.puzzle(200, LATER).max_number == 200));
    println!("a puzzle: {:?}", begun.elapsed() / TIMES);
}
