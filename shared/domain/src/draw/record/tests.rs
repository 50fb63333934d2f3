//! Records that pass the check, and the faults found in others.

use super::*;
use crate::draw::{DrawError, commitment, mix};

const COMMITTED: Seed = [7; 32];
const RANDOMNESS: Seed = [9; 32];

fn committed(beacon: Option<BeaconRecord>) -> DrawRecord {
    DrawRecord {
        room: RoomId::new("sale").unwrap(),
        event: "friday".to_owned(),
        method: METHOD.to_owned(),
        state: DrawState::Committed,
        commitment: commitment(&COMMITTED),
        prequeue_start: 1_000,
        event_start: 2_000,
        first_queue_number: None,
        participants: None,
        left_out: Vec::new(),
        committed_seed: None,
        seed: None,
        drawn_at: None,
        reset_epoch: None,
        superseded: false,
        beacon,
    }
}

fn beacon() -> BeaconRecord {
    let asked = Beacon {
        url: "https://beacon.example/chain".to_owned(),
        round: 77,
        public_key: "ab".repeat(96),
    };
    BeaconRecord { asked, outcome: None }
}

fn answered() -> BeaconOutcome {
    BeaconOutcome::Verified {
        signature: "cd".repeat(48),
        previous_signature: None,
        randomness: to_hex(&RANDOMNESS),
    }
}

fn without_beacon() -> DrawRecord {
    committed(None).drawn(&Draw::new(1, 1_000, COMMITTED), &COMMITTED, None, 2_000)
}

fn with_beacon() -> DrawRecord {
    let draw = Draw::new(1, 1_000, mix(&COMMITTED, &RANDOMNESS));
    committed(Some(beacon())).drawn(&draw, &COMMITTED, Some(answered()), 2_003)
}

#[track_caller]
fn assert_faults(change: impl FnOnce(&mut DrawRecord), expected: &[DrawFault]) {
    let mut record = with_beacon();
    change(&mut record);
    assert_eq!(record.check().unwrap_err(), expected);
}

#[test]
fn honest_records_hold() {
    assert_eq!(without_beacon().check(), Ok(Draw::new(1, 1_000, COMMITTED)));
    let mixed = mix(&COMMITTED, &RANDOMNESS);
    assert_eq!(with_beacon().check(), Ok(Draw::new(1, 1_000, mixed)));
    let fallback = committed(Some(beacon())).drawn(
        &Draw::new(1, 1_000, COMMITTED),
        &COMMITTED,
        Some(BeaconOutcome::Unanswered),
        2_060,
    );
    assert_eq!(fallback.check(), Ok(Draw::new(1, 1_000, COMMITTED)));
}

/// Anyone must be able to compute this with `sha256sum`; the values here come from it.
#[test]
fn commitment_and_mixture_are_plain_sha256() {
    let promise = "4bb06f8e4e3a7715d201d573d0aa423762e55dabd61a2c02278fa56cc6d294e0";
    let mixture = "49440fa464b171c07462bb22422aac0ad0086d5f231ad3e05071ff5e8826d754";
    assert_eq!(commitment(&COMMITTED), promise);
    assert_eq!(to_hex(&mix(&COMMITTED, &RANDOMNESS)), mixture);
}

#[test]
fn a_committed_record_reveals_nothing_and_names_its_beacon() {
    let json = serde_json::to_value(committed(Some(beacon()))).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "room": "sale", "event": "friday", "method": "swap-or-not-sha256-90",
            "state": "committed", "commitment": commitment(&COMMITTED),
            "prequeue_start": 1_000, "event_start": 2_000,
            "beacon": {
                "url": "https://beacon.example/chain", "round": 77,
                "public_key": "ab".repeat(96),
            },
        })
    );
    let json = serde_json::to_value(committed(None)).unwrap();
    assert_eq!(json["beacon"], serde_json::Value::Null);
    assert!(json.as_object().unwrap().contains_key("beacon"), "null says: there is none");
}

#[test]
fn a_finished_draw_is_written_in_full_and_read_back() {
    let json = serde_json::to_value(with_beacon()).unwrap();
    assert_eq!(json["state"], "drawn");
    assert_eq!(json["first_queue_number"], 1);
    assert_eq!(json["participants"], 1_000);
    assert_eq!(json["committed_seed"], to_hex(&COMMITTED));
    assert_eq!(json["seed"], to_hex(&mix(&COMMITTED, &RANDOMNESS)));
    assert_eq!(json["drawn_at"], 2_003);
    assert_eq!(json["beacon"]["outcome"], "verified");
    assert_eq!(json["beacon"]["randomness"], to_hex(&RANDOMNESS));
    assert!(json["beacon"].get("previous_signature").is_none());
    for record in [with_beacon(), without_beacon(), committed(None), committed(Some(beacon()))] {
        let json = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<DrawRecord>(&json).unwrap(), record);
    }
}

#[test]
fn only_a_finished_draw_can_be_checked() {
    let unfinished =
        [DrawState::Committed, DrawState::Collecting, DrawState::Drawing, DrawState::Cancelled];
    for state in unfinished {
        assert_faults(|record| record.state = state, &[DrawFault::NotDrawn(state)]);
    }
}

#[test]
fn another_seed_than_the_committed_one_is_found() {
    let other: Seed = [8; 32];
    assert_faults(
        |record| {
            record.committed_seed = Some(to_hex(&other));
            record.seed = Some(to_hex(&mix(&other, &RANDOMNESS)));
        },
        &[DrawFault::WrongCommitment(commitment(&other))],
    );
}

#[test]
fn a_final_seed_that_does_not_follow_is_found() {
    let expected = to_hex(&mix(&COMMITTED, &RANDOMNESS));
    assert_faults(
        |record| record.seed = Some(to_hex(&COMMITTED)),
        &[DrawFault::WrongSeed(expected)],
    );
    // The beacon answered, but the record claims that it did not.
    assert_faults(
        |record| record.beacon.as_mut().unwrap().outcome = Some(BeaconOutcome::Unanswered),
        &[DrawFault::WrongSeed(to_hex(&COMMITTED))],
    );
    assert_faults(|record| record.beacon = None, &[DrawFault::WrongSeed(to_hex(&COMMITTED))]);
    assert_faults(|record| record.beacon.as_mut().unwrap().outcome = None, &[DrawFault::NoOutcome]);
}

#[test]
fn all_faults_are_reported_at_once() {
    assert_faults(
        |record| {
            record.method = "dice".to_owned();
            record.committed_seed = None;
            record.seed = Some("xyz".to_owned());
            record.drawn_at = Some(1_999);
        },
        &[
            DrawFault::UnknownMethod("dice".to_owned()),
            DrawFault::Missing("committed_seed"),
            DrawFault::DrawnEarly { drawn_at: 1_999, event_start: 2_000 },
            DrawFault::NotHex("seed"),
        ],
    );
}

#[test]
fn what_is_missing_or_impossible_is_named() {
    assert_faults(|record| record.seed = None, &[DrawFault::Missing("seed")]);
    assert_faults(|record| record.drawn_at = None, &[DrawFault::Missing("drawn_at")]);
    assert_faults(|record| record.participants = None, &[DrawFault::Missing("participants")]);
    assert_faults(|record| record.participants = Some(0), &[DrawFault::NobodyTookPart]);
    assert_faults(
        |record| record.first_queue_number = None,
        &[DrawFault::Missing("first_queue_number")],
    );
    assert_faults(|record| record.commitment = "ab".into(), &[DrawFault::NotHex("commitment")]);
    let too_far = DrawError::TooFar { first: 1, count: u64::MAX };
    assert_faults(|record| record.participants = Some(u64::MAX), &[too_far.into()]);
    assert_faults(
        |record| {
            record.beacon.as_mut().unwrap().outcome = Some(BeaconOutcome::Verified {
                signature: String::new(),
                previous_signature: None,
                randomness: "00".to_owned(),
            });
        },
        &[DrawFault::NotHex("randomness")],
    );
}
