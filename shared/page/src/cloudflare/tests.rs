//! Cloudflare's form, in every state.

use serde_json::{Value, json};
use vestibule_domain::schedule::EventInForce;

use super::*;
use crate::{Language, PreviewSample};

const NOW_MS: u64 = 1_596_498_360_000;

fn view(method: QueueingMethod, wait: Option<u64>, quartiles: Option<[u64; 3]>) -> PageView {
    PageView {
        method,
        wait_seconds: wait,
        quartiles,
        now_ms: NOW_MS,
        interval_ms: 20_000,
        ..PreviewSample::Waiting.view("r", Language::En)
    }
}

fn event(prequeueing: bool, start: u64, end: u64, draw: bool) -> EventInForce {
    EventInForce { name: "e".parse().unwrap(), prequeueing, start, end, draw }
}

fn form(view: &PageView) -> Value {
    serde_json::to_value(CfWaitingRoom::from_view(view)).unwrap()
}

#[test]
fn a_fifo_room_without_an_event() {
    let room = form(&view(QueueingMethod::Fifo, Some(600), None));
    let expected = json!({
        "inWaitingRoom": true, "waitTimeKnown": true, "waitTime": 10,
        "waitTime25Percentile": 0, "waitTime50Percentile": 0, "waitTime75Percentile": 0,
        "waitTimeFormatted": "10 minutes", "queueIsFull": false, "queueAll": false,
        "lastUpdated": "2020-08-03T23:46:00.000Z", "refreshIntervalSeconds": 20,
        "queueingMethod": "fifo", "isFIFOQueue": true, "isRandomQueue": false,
        "isPassthroughQueue": false, "isRejectQueue": false, "isEventActive": false,
        "isEventPrequeueing": false, "timeUntilEventStart": 0,
        "timeUntilEventStartFormatted": "unavailable", "timeUntilEventEnd": 0,
        "timeUntilEventEndFormatted": "unavailable", "shuffleAtEventStart": false,
        "turnstile": "", "infiniteQueue": false,
    });
    assert_eq!(room, expected);
    assert_eq!(expected.as_object().unwrap().len(), 25);
}

#[test]
fn a_random_room_in_an_event() {
    let room = form(&PageView {
        event: Some(event(false, 1, NOW_MS / 1000 + 900, true)),
        ..view(QueueingMethod::Random, Some(600), Some([300, 600, 900]))
    });
    let is = |key: &str, value: Value| assert_eq!(room[key], value, "{key}");
    is("waitTime", json!(10));
    is("waitTime25Percentile", json!(5));
    is("waitTime50Percentile", json!(10));
    is("waitTime75Percentile", json!(15));
    is("waitTimeFormatted", json!("5 minutes to 15 minutes"));
    is("isRandomQueue", json!(true));
    is("isEventActive", json!(true));
    is("timeUntilEventEnd", json!(15));
    is("timeUntilEventEndFormatted", json!("15 minutes"));
    is("shuffleAtEventStart", json!(true));
    is("timeUntilEventStartFormatted", json!("unavailable"));
}

#[test]
fn before_a_start_the_wait_is_unknown_and_the_start_is_shown() {
    let start = NOW_MS / 1000 + 61;
    let room = form(&PageView {
        event: Some(event(true, start, start, false)),
        ..view(QueueingMethod::Fifo, None, None)
    });
    assert_eq!(room["isEventPrequeueing"], true);
    assert_eq!((&room["timeUntilEventStart"], &room["waitTime"]), (&json!(2), &json!(0)));
    assert_eq!(room["timeUntilEventStartFormatted"], "2 minutes");
    assert_eq!(
        (&room["waitTimeKnown"], &room["waitTimeFormatted"]),
        (&json!(false), &json!("unavailable"))
    );
}

#[test]
fn more_than_a_day_is_a_full_queue() {
    let room = form(&view(QueueingMethod::Fifo, Some(LONGEST_SECONDS + 1), None));
    assert_eq!((&room["queueIsFull"], &room["waitTimeKnown"]), (&json!(true), &json!(false)));
}

#[test]
fn inside_there_is_nothing_to_wait_for() {
    let inside = PageView { state: PageState::Inside, ..view(QueueingMethod::Fifo, Some(0), None) };
    let room = form(&inside);
    assert_eq!(room["inWaitingRoom"], false);
    assert_eq!(room["refreshIntervalSeconds"], 0);
}

#[test]
fn waits_are_written_in_words() {
    assert_eq!(formatted(1), "1 minute");
    assert_eq!(formatted(60), "1 hour");
    assert_eq!(formatted(135), "2 hours 15 minutes");
}
