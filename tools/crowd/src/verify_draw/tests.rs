//! Whole records, honest and forged, read and judged.

use std::path::PathBuf;

use vestibule_domain::{
    RoomId,
    draw::{BeaconOutcome, BeaconRecord, DrawState, METHOD, Seed, commitment, from_hex, mix},
    schedule::Beacon,
};

use super::*;

const COMMITTED: Seed = [7; 32];
/// Round 657413 of quicknet.
const QUICKNET: &str = "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a";
const SIGNATURE: &str = "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b";
const RANDOMNESS: &str = "fc1873a13f3545aeade8401532ef5519920652eee6b0d2b19ca12643b87b3587";

fn promised(beacon: Option<BeaconRecord>) -> DrawRecord {
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

fn beacon(round: u64) -> BeaconRecord {
    let url = "https://api.drand.sh/chain".to_owned();
    let asked = Beacon { url, round, public_key: QUICKNET.to_owned() };
    BeaconRecord { asked, outcome: None }
}

fn answered() -> BeaconOutcome {
    BeaconOutcome::Verified {
        signature: SIGNATURE.to_owned(),
        previous_signature: None,
        randomness: RANDOMNESS.to_owned(),
    }
}

fn without_beacon() -> DrawRecord {
    promised(None).drawn(&Draw::new(11, 1_000, COMMITTED), &COMMITTED, None, 2_000)
}

fn with_beacon(round: u64) -> DrawRecord {
    let seed = mix(&COMMITTED, &from_hex(RANDOMNESS).unwrap());
    let draw = Draw::new(11, 1_000, seed);
    promised(Some(beacon(round))).drawn(&draw, &COMMITTED, Some(answered()), 2_003)
}

fn unanswered() -> DrawRecord {
    let draw = Draw::new(11, 1_000, COMMITTED);
    let outcome = Some(BeaconOutcome::Unanswered);
    promised(Some(beacon(657_413))).drawn(&draw, &COMMITTED, outcome, 2_060)
}

/// A record in a file of its own, which goes with this.
struct OnDisk(tempfile::TempDir);

impl OnDisk {
    fn new(record: &DrawRecord) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("draw.json"), serde_json::to_vec(record).unwrap())
            .unwrap();
        Self(folder)
    }

    fn options(&self) -> VerifyDrawOptions {
        VerifyDrawOptions {
            file: Some(self.0.path().join("draw.json")),
            admission: None,
            room: None,
            commitment: None,
            number: vec![11, 12, 1_011],
            all: None,
            quick: false,
            up_to: 10_000,
        }
    }
}

async fn judge(record: &DrawRecord) -> (String, bool) {
    verify(&OnDisk::new(record).options()).await.unwrap()
}

#[track_caller]
fn assert_says(report: &str, parts: &[&str]) {
    let words = report.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in parts {
        assert!(words.contains(part), "{part:?} is not in\n{report}");
    }
}

#[tokio::test]
async fn a_draw_without_beacon_holds_and_says_what_is_open() {
    let (report, holds) = judge(&without_beacon()).await;
    assert!(holds, "{report}");
    let draw = Draw::new(11, 1_000, COMMITTED);
    let place = draw.position(12).unwrap();
    assert_says(
        &report,
        &[
            "queue numbers 11 to 1010",
            "all 1000 are taken exactly once",
            &format!("Queue number 12 drew place {} of 1000: position {place}", place - 10),
            "Queue number 1011 took no part: it stands at position 1011",
            "That the operator did not look",
        ],
    );
}

#[tokio::test]
async fn a_draw_with_a_genuine_beacon_holds() {
    let (report, holds) = judge(&with_beacon(657_413)).await;
    assert!(holds, "{report}");
    assert_says(
        &report,
        &[
            "ok beacon: round 657413 is signed",
            "ok time: round 657413 was published 2023-09-15T11:00:03Z, the start was 1970-01-01T00:33:20Z",
            "could know a place before round 657413",
        ],
    );
}

#[tokio::test]
async fn a_round_that_was_public_before_the_start_is_told() {
    let record = DrawRecord {
        event_start: 1_694_775_604,
        drawn_at: Some(1_694_775_610),
        ..with_beacon(657_413)
    };
    let (report, holds) = judge(&record).await;
    assert!(holds, "{report}");
    assert_says(
        &report,
        &[
            "- time: round 657413 was published 2023-09-15T11:00:03Z, the start was 2023-09-15T11:00:04Z",
            "That the operator did not look: round 657413 was public from 2023-09-15T11:00:03Z on",
        ],
    );
}

#[tokio::test]
async fn a_forged_beacon_is_found() {
    let (report, holds) = judge(&with_beacon(657_414)).await;
    assert!(!holds);
    assert_says(&report, &["WRONG beacon:", "This record proves nothing."]);
    assert!(!report.contains("drew place"), "no places from a forged record:\n{report}");
}

#[tokio::test]
async fn a_beacon_that_was_not_asked_in_earnest_is_left_open() {
    let (report, holds) = judge(&unanswered()).await;
    assert!(holds, "{report}");
    assert_says(&report, &["- beacon:", "ask it for that round yourself"]);
}

#[tokio::test]
async fn another_seed_than_the_promised_one_is_found() {
    let other = promised(None).drawn(&Draw::new(11, 1_000, [8; 32]), &[8; 32], None, 2_000);
    let (report, holds) = judge(&other).await;
    assert!(!holds);
    assert_says(&report, &["WRONG the committed seed is not the one that was promised"]);
}

#[tokio::test]
async fn a_promise_alone_is_nothing_to_check() {
    let (report, holds) = judge(&promised(None)).await;
    assert!(!holds);
    assert_says(&report, &["the draw is not drawn", &commitment(&COMMITTED)]);
}

#[tokio::test]
async fn a_noted_commitment_is_compared() {
    let disk = OnDisk::new(&without_beacon());
    let noted = |commitment| VerifyDrawOptions { commitment: Some(commitment), ..disk.options() };
    let (report, holds) = verify(&noted(commitment(&COMMITTED))).await.unwrap();
    assert!(holds);
    assert_says(&report, &["it is the one that you noted", "after you noted its hash"]);
    let (report, holds) = verify(&noted("ab".repeat(32))).await.unwrap();
    assert!(!holds, "{report}");
}

#[tokio::test]
async fn places_are_left_out_when_asked_or_too_many() {
    let disk = OnDisk::new(&without_beacon());
    let quick = VerifyDrawOptions { quick: true, ..disk.options() };
    let small = VerifyDrawOptions { up_to: 999, ..disk.options() };
    for options in [quick, small] {
        let (report, holds) = verify(&options).await.unwrap();
        assert!(holds);
        assert_says(&report, &["- places:", "Queue number 11 drew"]);
    }
}

#[tokio::test]
async fn all_positions_can_be_written() {
    let disk = OnDisk::new(&without_beacon());
    let path: PathBuf = disk.0.path().join("all.csv");
    let options = VerifyDrawOptions { all: Some(path.clone()), ..disk.options() };
    verify(&options).await.unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let draw = Draw::new(11, 1_000, COMMITTED);
    let lines = (11..1_011).map(|number| format!("{number},{}\n", draw.position(number).unwrap()));
    let expected: String =
        std::iter::once("queue_number,position\n".to_owned()).chain(lines).collect();
    assert_eq!(text, expected);
}

#[tokio::test]
async fn a_record_is_fetched_from_its_room() {
    use axum::{Json, Router, routing::get};
    let record = without_beacon();
    let app = Router::new().route("/v1/rooms/sale/draw", get(|| async move { Json(record) }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    let asked = |room: &str| VerifyDrawOptions {
        file: None,
        admission: Some(base.parse().unwrap()),
        room: Some(RoomId::new(room).unwrap()),
        ..OnDisk::new(&without_beacon()).options()
    };
    assert!(verify(&asked("sale")).await.unwrap().1);
    let error = verify(&asked("other")).await.unwrap_err();
    assert!(error.to_string().contains("404"), "{error:#}");
}

#[tokio::test]
async fn what_is_no_record_is_refused() {
    let disk = OnDisk::new(&without_beacon());
    let path = disk.0.path().join("draw.json");
    std::fs::write(&path, "{\"hello\": 1}").unwrap();
    let error = verify(&disk.options()).await.unwrap_err();
    assert!(error.to_string().contains("no record of a draw"), "{error:#}");
}

#[tokio::test]
async fn a_draw_from_before_a_reset_is_said_to_be_over() {
    let (report, _) = judge(&without_beacon()).await;
    assert!(!report.contains("reset"), "{report}");
    let record = DrawRecord { reset_epoch: Some(7), superseded: true, ..without_beacon() };
    let (report, holds) = judge(&record).await;
    assert!(holds, "it can be checked all the same: {report}");
    assert_says(&report, &["This draw is over: the room was reset since.", "Queue number 12 drew"]);
}
