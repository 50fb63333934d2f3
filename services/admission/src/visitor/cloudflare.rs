//! A visitor's answer in the form that Cloudflare's waiting rooms give to apps, so that an app
//! written for it needs only a new address. The form itself is in `vestibule-page`, because custom
//! pages have the same variables.

use axum::{
    Json,
    http::{
        HeaderMap, HeaderValue,
        header::{ACCEPT, CACHE_CONTROL, HeaderName},
    },
    response::{IntoResponse, Response},
};
use serde::Serialize;
use vestibule_domain::RoomSnapshot;
use vestibule_page::{CfWaitingRoom, Language, Notices, PageFrame, PageState, PageView};

use super::{Status, VisitorResponse, VisitorStatus};

const REFRESH: HeaderName = HeaderName::from_static("refresh");

/// Whether the room and the request ask for this form: the request by exactly this `Accept`.
#[must_use]
pub(crate) fn is_asked_for(room: &RoomSnapshot, headers: &HeaderMap) -> bool {
    room.settings.json_response_enabled && wants_json(headers)
}

/// Whether a client asks for JSON and nothing else, as apps do.
#[must_use]
pub(crate) fn wants_json(headers: &HeaderMap) -> bool {
    headers.get(ACCEPT).is_some_and(|accept| accept.as_bytes().trim_ascii() == b"application/json")
}

/// The whole body.
#[derive(Debug, Serialize)]
struct Body<'a> {
    #[serde(rename = "cfWaitingRoom")]
    room: CfWaitingRoom,
    /// Ours, with the token, once the visitor is inside.
    #[serde(skip_serializing_if = "Option::is_none")]
    vestibule: Option<&'a VisitorStatus>,
}

/// `answer` of `room`, at `now_ms`, in Cloudflare's form.
pub(crate) fn respond(answer: &VisitorResponse, room: &RoomSnapshot, now_ms: u64) -> Response {
    let form = CfWaitingRoom::from_view(&view(answer, room, now_ms));
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

/// What the form tells: how the visitor stands, not where it stands in which page.
fn view(answer: &VisitorResponse, room: &RoomSnapshot, now_ms: u64) -> PageView {
    let body = &answer.body;
    let quartiles = body.wait_seconds_p25.zip(body.wait_seconds_p50).zip(body.wait_seconds_p75);
    let asks_again = body.next_check_in_seconds > 0.0;
    PageView {
        room: body.room.to_string(),
        state: if body.status == Status::Admitted { PageState::Inside } else { PageState::Waiting },
        method: room.settings.queueing_method,
        queue_all: room.settings.queue_all,
        event: room.event.clone(),
        position: body.position,
        people_ahead: body.people_ahead,
        wait_seconds: body.wait_seconds,
        quartiles: quartiles.map(|((p25, p50), p75)| [p25, p50, p75]),
        waited_seconds: None,
        now_ms,
        updated_ms: room.now_ms,
        checked_in_ms: answer.checked_in_at,
        interval_ms: if asks_again { answer.interval_ms } else { 0 },
        refresh_ms: 0,
        hold_seconds: None,
        grace_seconds: None,
        notices: Notices::default(),
        frame: PageFrame::plain(Language::En),
    }
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
    use crate::visitor::{Carrier, CookieChange};

    const NOW_MS: u64 = 1_596_498_360_000;

    fn room(method: QueueingMethod, event: &Value) -> RoomSnapshot {
        let settings = RoomSettings { queueing_method: method, ..RoomSettings::default() };
        serde_json::from_value(json!({
            "room": "r", "settings": settings, "event": event, "reset_epoch": 1, "generation": 1,
            "now_ms": NOW_MS, "queue_counter": 9, "serving_counter": 0, "admitted": 0, "active": 0,
            "unconfirmed": 0, "expired": 0, "skipped": 0, "expired_position": 0,
            "admitted_last_minute": 0, "tokens_until": 0, "figures": {},
        }))
        .unwrap()
    }

    fn answer(status: Status, wait: Option<u64>, quartiles: Option<[u64; 3]>) -> VisitorResponse {
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
        let (ticket, carrier) = (CookieChange::Untouched, Carrier::Cookie);
        let binding = crate::visitor::BindingHandle::default();
        let (checked_in_at, interval_ms) = (NOW_MS, 20_000);
        VisitorResponse { body, ticket, checked_in_at, interval_ms, carrier, binding, https: false }
    }

    fn form(room: &RoomSnapshot, answer: &VisitorResponse) -> Value {
        serde_json::to_value(CfWaitingRoom::from_view(&view(answer, room, NOW_MS))).unwrap()
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
    fn inside_there_is_nothing_to_wait_for() {
        let room = room(QueueingMethod::Fifo, &Value::Null);
        let told = form(&room, &answer(Status::Admitted, Some(0), None));
        assert_eq!(told["inWaitingRoom"], false);
        assert_eq!(told["refreshIntervalSeconds"], 0);
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
