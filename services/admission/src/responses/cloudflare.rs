//! An answer in the form that Cloudflare's waiting rooms give to apps, so that an app written for
//! them needs only a new address. The form itself is in `vestibule-page`, because custom pages have
//! the same variables.

use axum::{
    Json,
    http::{
        HeaderValue,
        header::{CACHE_CONTROL, HeaderName},
    },
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;
use vestibule_domain::RoomSnapshot;
use vestibule_page::{CfWaitingRoom, Language, Notices, PageFrame, PageState, PageView};

use super::VisitorReply;
use crate::flows::{Status, VisitorResponse, VisitorStatus};

const REFRESH: HeaderName = HeaderName::from_static("refresh");

/// What a call for the status answers: our form, or Cloudflare's in a room that offers it.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read by the API document only")]
pub(crate) enum StatusBody {
    /// Our form.
    Own(VisitorStatus),
    /// Cloudflare's form.
    #[schema(title = "CloudflareStatus")]
    Cloudflares {
        /// The variables of Cloudflare's waiting rooms.
        #[serde(rename = "cfWaitingRoom")]
        #[schema(value_type = Object)]
        room: (),
        /// Where the visitor stands, with the token, once it is inside.
        #[schema(required = false)]
        vestibule: VisitorStatus,
    },
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

/// `reply` in Cloudflare's form, by what is known of the room by now.
pub(super) fn respond(reply: VisitorReply<'_>) -> Response {
    let (known, status) = (&reply.room.known, &reply.response.status);
    let form = CfWaitingRoom::from_view(&view(reply.response, &known.snapshot(), known.now_ms()));
    let inside = status.status == Status::Admitted;
    let next = whole(status.next_check_in_seconds);
    let body = Body { room: form, vestibule: inside.then_some(status) };
    let mut response = ([(CACHE_CONTROL, "no-store")], Json(body)).into_response();
    if next > 0 && !inside {
        response.headers_mut().insert(REFRESH, HeaderValue::from(next));
    }
    reply.write_ticket(response.headers_mut());
    response
}

/// What the form tells: how the visitor stands, not where it stands in which page.
fn view(response: &VisitorResponse, room: &RoomSnapshot, now_ms: u64) -> PageView {
    let told = &response.status;
    let quartiles = told.wait_seconds_p25.zip(told.wait_seconds_p50).zip(told.wait_seconds_p75);
    let asks_again = told.next_check_in_seconds > 0.0;
    PageView {
        room: told.room.to_string(),
        state: if told.status == Status::Admitted { PageState::Inside } else { PageState::Waiting },
        method: room.settings.queueing_method,
        queue_all: room.settings.queue_all,
        event: room.event.clone(),
        position: told.position,
        people_ahead: told.people_ahead,
        wait_seconds: told.wait_seconds,
        quartiles: quartiles.map(|((p25, p50), p75)| [p25, p50, p75]),
        waited_seconds: None,
        now_ms,
        updated_ms: room.now_ms,
        interval_ms: if asks_again { told.next_check_in_ms() } else { 0 },
        refresh_ms: 0,
        hold_seconds: None,
        is_automatic: false,
        grace_seconds: None,
        challenge: None,
        message: None,
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
    use std::sync::Arc;

    use serde_json::{Value, json};
    use vestibule_domain::{QueueingMethod, RoomSettings};
    use vestibule_issuance::{CipherCache, RoomCiphers};
    use vestibule_token::DeploymentSecret;

    use super::*;
    use crate::flows::CookieChange;

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
        let status = VisitorStatus {
            room: "r".parse().unwrap(),
            status,
            reason: None,
            message: None,
            request_id: None,
            queue_number: 1,
            position: None,
            people_ahead: None,
            wait_seconds: wait,
            wait_seconds_p25: p25,
            wait_seconds_p50: p50,
            wait_seconds_p75: p75,
            queueing_method: "",
            event_starts_in_seconds: None,
            next_check_in_seconds: 20.0,
            access_token: None,
            expires_in: None,
            seat_held_seconds: None,
            stale: false,
        };
        VisitorResponse { status, cookie: CookieChange::None, ciphers: ciphers() }
    }

    fn ciphers() -> Arc<RoomCiphers> {
        let secret = DeploymentSecret::new(&[1; 32]).unwrap();
        CipherCache::new(Arc::new(secret)).get(&"r".parse().unwrap(), 1)
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
}
