//! A tiny admission service and controller for this crate's own tests: one fifo room with a
//! ceiling, kept in memory. It speaks the contract's HTTP and nothing else of Vestibule; what it says about waits is
//! made up. It is strict where a client could be sloppy: a visitor must send its newest ticket.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Json, Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{any, get, post, put},
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, time::Instant};

/// Every call of this number is shed with a 503.
const SHED_EVERY: usize = 29;
/// There are no AWS-style numbers for this room.
pub(crate) const NO_ROOM: &str = "elsewhere";
/// Who has not checked in for this long is taken to be gone.
const GONE_AFTER: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy)]
struct Place {
    version: u32,
    inside: bool,
    seen: Instant,
}

/// The room's whole state.
#[derive(Debug)]
pub(crate) struct FakeRoom {
    ceiling: usize,
    places: BTreeMap<u64, Place>,
    last: u64,
    calls: usize,
    settings: Option<Value>,
}

type Shared = Arc<Mutex<FakeRoom>>;

/// Serves a room with this ceiling on as many ports as asked for; gives their base addresses.
pub(crate) async fn serve(ceiling: usize, services: usize) -> Vec<reqwest::Url> {
    let room = FakeRoom { ceiling, places: BTreeMap::new(), last: 0, calls: 0, settings: None };
    let app = Router::new()
        .route("/v1/rooms/{room}/{call}", any(answer))
        .route("/controller/v1/rooms/{room}", put(create).get(settings))
        .route("/controller/v1/rooms/{room}/status", get(status))
        .route("/assign_queue_num", post(assign))
        .with_state(Arc::new(Mutex::new(room)));
    let mut bases = Vec::new();
    for _ in 0..services {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        bases.push(format!("http://{}", listener.local_addr().unwrap()).parse().unwrap());
        let app = app.clone();
        tokio::spawn(async move { axum::serve(listener, app).await });
    }
    bases
}

async fn answer(
    State(room): State<Shared>,
    Path((_, call)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let mut room = room.lock().unwrap();
    room.calls += 1;
    if room.calls.is_multiple_of(SHED_EVERY) {
        return (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "0")]).into_response();
    }
    let ticket = headers.get("vestibule-ticket").map(|t| t.to_str().unwrap());
    let Some(number) = room.number(&call, ticket) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    if call == "leave" {
        room.places.remove(&number);
        return StatusCode::NO_CONTENT.into_response();
    }
    room.stand(&call, number)
}

/// A number of which nothing is heard again: here, it is nobody's place.
async fn assign(State(room): State<Shared>, Json(asked): Json<Value>) -> Response {
    let mut room = room.lock().unwrap();
    room.calls += 1;
    if asked["event_id"] == NO_ROOM {
        return StatusCode::BAD_REQUEST.into_response();
    }
    if room.calls.is_multiple_of(SHED_EVERY) {
        return (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "0")]).into_response();
    }
    room.last += 1;
    Json(json!({ "api_request_id": format!("{:08x}", room.last) })).into_response()
}

fn is_operator(headers: &HeaderMap) -> bool {
    headers.get("authorization").is_some_and(|value| value == "Bearer operator")
}

async fn create(
    State(room): State<Shared>,
    headers: HeaderMap,
    Json(settings): Json<Value>,
) -> Response {
    if !is_operator(&headers) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let mut room = room.lock().unwrap();
    room.ceiling = settings["total_active_users"].as_u64().unwrap().try_into().unwrap();
    room.settings = Some(settings.clone());
    Json(settings).into_response()
}

async fn settings(State(room): State<Shared>) -> Response {
    match &room.lock().unwrap().settings {
        Some(settings) => Json(settings).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn status(State(room): State<Shared>) -> Json<Value> {
    let room = room.lock().unwrap();
    let inside = room.places.values().filter(|p| p.inside).count();
    Json(json!({ "active_users": inside, "waiting": room.places.len() - inside, "leader": "a" }))
}

impl FakeRoom {
    /// The caller's number: a new one for a join, else the one of its newest ticket.
    fn number(&mut self, call: &str, ticket: Option<&str>) -> Option<u64> {
        let now = Instant::now();
        if call == "join" {
            self.last += 1;
            self.places.insert(self.last, Place { version: 0, inside: false, seen: now });
            return Some(self.last);
        }
        let (number, version) = ticket?.split_once('.')?;
        let number = number.parse().ok()?;
        let place = self.places.get_mut(&number)?;
        place.seen = now;
        (place.version == version.parse::<u32>().ok()?).then_some(number)
    }

    fn stand(&mut self, call: &str, number: u64) -> Response {
        let active = self.places.values().filter(|p| p.inside).count();
        let present = |p: &Place| !p.inside && p.seen.elapsed() < GONE_AFTER;
        let ahead = self.places.range(..number).filter(|(_, p)| present(p)).count();
        let turn = ahead < self.ceiling - active;
        let place = self.places.get_mut(&number).unwrap();
        place.version += 1;
        place.inside |= turn && call != "status";
        let status = match (place.inside, turn) {
            (true, _) => "admitted",
            (_, true) => "your_turn",
            (_, false) if call == "claim" => "your_turn",
            _ => "waiting",
        };
        let body = json!({
            "status": status,
            "request_id": format!("{number:08x}-0000-4000-8000-000000000000"),
            "queue_number": number,
            "people_ahead": ahead,
            "wait_seconds": ahead / 20,
            "next_check_in_seconds": 0.1,
            "access_token": place.inside.then_some("token"),
            "expires_in": place.inside.then_some(300),
        });
        ([("vestibule-ticket", format!("{number}.{}", place.version))], Json(body)).into_response()
    }
}
