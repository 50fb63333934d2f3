//! A visitor's answer in the form that Cloudflare's waiting rooms give to apps, so that an app
//! written for it needs only a new address: 25 keys, in every state, under `cfWaitingRoom`.

use std::time::{Duration, UNIX_EPOCH};

use axum::{
    Json,
    http::{
        HeaderMap, HeaderValue,
        header::{ACCEPT, CACHE_CONTROL, HeaderName},
    },
    response::{IntoResponse, Response},
};
use serde::Serialize;
use vestibule_domain::{RoomSnapshot, schedule::EventInForce};

use super::{Answer, Status, VisitorStatus};

const REFRESH: HeaderName = HeaderName::from_static("refresh");
const UNAVAILABLE: &str = "unavailable";
/// A longer wait is not told: the queue counts as full.
const LONGEST_SECONDS: u64 = 24 * 3600;

/// Whether the room and the request ask for this form: the request by exactly this `Accept`.
#[must_use]
pub(crate) fn is_asked_for(room: &RoomSnapshot, headers: &HeaderMap) -> bool {
    let exact = |value: &HeaderValue| value.as_bytes().trim_ascii() == b"application/json";
    room.settings.json_response_enabled && headers.get(ACCEPT).is_some_and(exact)
}

/// The whole body.
#[derive(Debug, Serialize)]
struct Body<'a> {
    #[serde(rename = "cfWaitingRoom")]
    room: Form,
    /// Ours, with the token, once the visitor is inside.
    #[serde(skip_serializing_if = "Option::is_none")]
    vestibule: Option<&'a VisitorStatus>,
}

/// What Cloudflare's apps read. Waits and times are whole minutes.
#[derive(Debug, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "a form of others' making")]
struct Form {
    in_waiting_room: bool,
    wait_time_known: bool,
    wait_time: u64,
    #[serde(rename = "waitTime25Percentile")]
    wait_time_p25: u64,
    #[serde(rename = "waitTime50Percentile")]
    wait_time_p50: u64,
    #[serde(rename = "waitTime75Percentile")]
    wait_time_p75: u64,
    wait_time_formatted: String,
    queue_is_full: bool,
    queue_all: bool,
    last_updated: String,
    refresh_interval_seconds: u64,
    queueing_method: &'static str,
    #[serde(rename = "isFIFOQueue")]
    is_fifo_queue: bool,
    is_random_queue: bool,
    is_passthrough_queue: bool,
    is_reject_queue: bool,
    is_event_active: bool,
    is_event_prequeueing: bool,
    time_until_event_start: u64,
    time_until_event_start_formatted: String,
    time_until_event_end: u64,
    time_until_event_end_formatted: String,
    shuffle_at_event_start: bool,
    turnstile: &'static str,
    infinite_queue: bool,
}

/// `answer` of `room`, at `now_ms`, in Cloudflare's form.
pub(crate) fn respond(answer: &Answer, room: &RoomSnapshot, now_ms: u64) -> Response {
    let form = Form::of(answer, room, now_ms);
    let inside = answer.body.status == Status::Admitted;
    let next = whole(answer.body.next_check_in_seconds);
    let body = Body { room: form, vestibule: inside.then_some(&answer.body) };
    let mut response = ([(CACHE_CONTROL, "no-store")], Json(body)).into_response();
    if next > 0 && !inside {
        response.headers_mut().insert(REFRESH, HeaderValue::from(next));
    }
    answer.hand_over(response.headers_mut());
    response
}

// === impl Form ===

impl Form {
    fn of(answer: &Answer, room: &RoomSnapshot, now_ms: u64) -> Self {
        let body = &answer.body;
        let inside = body.status == Status::Admitted;
        let told = body.wait_seconds.filter(|_| !inside);
        let full = told.is_some_and(|seconds| seconds > LONGEST_SECONDS);
        let known = told.is_some() && !full;
        let shown = |seconds: Option<u64>| seconds.filter(|_| known).map_or(0, minutes);
        let (p25, p75) = (shown(body.wait_seconds_p25), shown(body.wait_seconds_p75));
        let method = room.settings.queueing_method.name();
        let event = room.event.as_ref();
        let [until_start, until_end] = times_of(event, now_ms);
        let written = |minutes: Option<u64>| minutes.map_or(UNAVAILABLE.into(), formatted);
        Self {
            in_waiting_room: !inside,
            wait_time_known: known,
            wait_time: shown(told),
            wait_time_p25: p25,
            wait_time_p50: shown(body.wait_seconds_p50),
            wait_time_p75: p75,
            wait_time_formatted: match body.wait_seconds_p50 {
                _ if !known => UNAVAILABLE.into(),
                Some(_) if p25 < p75 => format!("{} to {}", formatted(p25), formatted(p75)),
                Some(_) => formatted(p75),
                None => formatted(shown(told)),
            },
            queue_is_full: full,
            queue_all: room.settings.queue_all,
            last_updated: timestamp(if answer.checked_in_at > 0 {
                answer.checked_in_at
            } else {
                now_ms
            }),
            refresh_interval_seconds: if inside || body.next_check_in_seconds <= 0.0 {
                0
            } else {
                u64::from(answer.interval_ms.div_ceil(1000))
            },
            queueing_method: method,
            is_fifo_queue: method == "fifo",
            is_random_queue: method == "random",
            is_passthrough_queue: method == "passthrough",
            is_reject_queue: method == "reject",
            is_event_active: event.is_some(),
            is_event_prequeueing: event.is_some_and(|event| event.prequeueing),
            time_until_event_start: until_start.unwrap_or(0),
            time_until_event_start_formatted: written(until_start),
            time_until_event_end: until_end.unwrap_or(0),
            time_until_event_end_formatted: written(until_end),
            shuffle_at_event_start: event.is_some_and(|event| event.draw),
            turnstile: "",
            infinite_queue: false,
        }
    }
}

/// Minutes until the start, while the pre-queue is open, and until the end.
fn times_of(event: Option<&EventInForce>, now_ms: u64) -> [Option<u64>; 2] {
    let until = |seconds: u64| minutes(seconds.saturating_sub(now_ms / 1000));
    let start = event.filter(|event| event.prequeueing).map(|event| until(event.start));
    [start, event.map(|event| until(event.end))]
}

fn minutes(seconds: u64) -> u64 {
    seconds.div_ceil(60)
}

/// As people say it, in English, as the form has it.
fn formatted(minutes: u64) -> String {
    let plural =
        |count: u64, unit: &str| format!("{count} {unit}{}", if count == 1 { "" } else { "s" });
    match (minutes / 60, minutes % 60) {
        (0, minutes) => plural(minutes, "minute"),
        (hours, 0) => plural(hours, "hour"),
        (hours, minutes) => format!("{} {}", plural(hours, "hour"), plural(minutes, "minute")),
    }
}

fn timestamp(ms: u64) -> String {
    humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(ms)).to_string()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an interval")]
fn whole(seconds: f64) -> u64 {
    seconds.ceil() as u64
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use vestibule_domain::{QueueingMethod, RoomSettings};

    use super::*;
    use crate::visit::{Carrier, Handed};

    const NOW_MS: u64 = 1_596_498_360_000;

    fn room(method: QueueingMethod, event: &Value) -> RoomSnapshot {
        let settings = RoomSettings { queueing_method: method, ..RoomSettings::default() };
        serde_json::from_value(json!({
            "room": "r", "settings": settings, "event": event, "reset_epoch": 1, "generation": 1,
            "now_ms": NOW_MS, "queue_counter": 9, "serving_counter": 0, "admitted": 0, "active": 0,
            "phantom": 0, "expired": 0, "skipped": 0, "expired_position": 0,
            "admitted_last_minute": 0, "tokens_until": 0, "figures": {},
        }))
        .unwrap()
    }

    fn answer(status: Status, wait: Option<u64>, quartiles: Option<[u64; 3]>) -> Answer {
        let [p25, p50, p75] = quartiles.map_or([None; 3], |all| all.map(Some));
        let body = VisitorStatus {
            room: "r".parse().unwrap(),
            status,
            request_id: String::new(),
            queue_number: 1,
            position: None,
            people_ahead: None,
            wait_seconds: wait,
            wait_seconds_p25: p25,
            wait_seconds_p50: p50,
            wait_seconds_p75: p75,
            queueing_method: "",
            event_starts_in_seconds: None,
            next_check_in_seconds: 7.0,
            access_token: None,
            expires_in: None,
            stale: false,
        };
        let (ticket, carrier) = (Handed::Untouched, Carrier::Cookie);
        Answer { body, ticket, checked_in_at: NOW_MS, interval_ms: 20_000, carrier, secure: false }
    }

    fn form(room: &RoomSnapshot, answer: &Answer) -> Value {
        serde_json::to_value(Form::of(answer, room, NOW_MS)).unwrap()
    }

    #[test]
    fn a_fifo_room_without_an_event() {
        let told = form(
            &room(QueueingMethod::Fifo, &Value::Null),
            &answer(Status::Waiting, Some(600), None),
        );
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
        assert_eq!(told, expected);
        assert_eq!(expected.as_object().unwrap().len(), 25);
    }

    #[test]
    fn a_random_room_in_an_event() {
        let end = NOW_MS / 1000 + 900;
        let event =
            json!({ "name": "e", "prequeueing": false, "start": 1, "end": end, "draw": true });
        let told = form(
            &room(QueueingMethod::Random, &event),
            &answer(Status::Waiting, Some(600), Some([300, 600, 900])),
        );
        let is = |key: &str, value: Value| assert_eq!(told[key], value, "{key}");
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
    fn before_a_start_the_wait_is_unknown_and_the_start_is_told() {
        let start = NOW_MS / 1000 + 61;
        let event = json!({ "name": "e", "prequeueing": true, "start": start, "end": start, "draw": false });
        let told = form(&room(QueueingMethod::Fifo, &event), &answer(Status::Waiting, None, None));
        assert_eq!(told["isEventPrequeueing"], true);
        assert_eq!((&told["timeUntilEventStart"], &told["waitTime"]), (&json!(2), &json!(0)));
        assert_eq!(told["timeUntilEventStartFormatted"], "2 minutes");
        assert_eq!(
            (&told["waitTimeKnown"], &told["waitTimeFormatted"]),
            (&json!(false), &json!("unavailable"))
        );
    }

    #[test]
    fn more_than_a_day_is_a_full_queue() {
        let room = room(QueueingMethod::Fifo, &Value::Null);
        let told = form(&room, &answer(Status::Waiting, Some(LONGEST_SECONDS + 1), None));
        assert_eq!((&told["queueIsFull"], &told["waitTimeKnown"]), (&json!(true), &json!(false)));
    }

    #[test]
    fn inside_there_is_nothing_to_wait_for() {
        let room = room(QueueingMethod::Fifo, &Value::Null);
        let told = form(&room, &answer(Status::Admitted, Some(0), None));
        assert_eq!(told["inWaitingRoom"], false);
        assert_eq!(told["refreshIntervalSeconds"], 0);
    }

    #[test]
    fn waits_are_written_as_people_say_them() {
        assert_eq!(formatted(1), "1 minute");
        assert_eq!(formatted(60), "1 hour");
        assert_eq!(formatted(135), "2 hours 15 minutes");
    }

    #[test]
    fn only_this_very_accept_asks_for_it() {
        let mut room = room(QueueingMethod::Fifo, &Value::Null);
        let asked = |room: &RoomSnapshot, accept: &'static str| {
            let headers = [(ACCEPT, HeaderValue::from_static(accept))];
            is_asked_for(room, &headers.into_iter().collect())
        };
        assert!(!asked(&room, "application/json"), "the room does not offer it");
        room.settings.json_response_enabled = true;
        assert!(asked(&room, "application/json"));
        assert!(!asked(&room, "application/json, text/html") && !asked(&room, "*/*"));
    }
}
