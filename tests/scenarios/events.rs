//! Scheduled events: how operators plan them, what is refused and why, and that they take force.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures_util::future::{join, try_join_all};
use reqwest::Method;
use serde_json::{Value, json};
use vestibule_tests::{Deployment, Operator, Reply, eventually};

use crate::rooms::expect_problem;

const SOON: Duration = Duration::from_secs(30);
/// A moment that every event here may lie after.
const DISTANT: i64 = 4_000_000_000;

/// Calls for the events of the room `sale`.
struct Events(Operator);

// === impl Events ===

impl Events {
    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Reply> {
        self.0.call(method, &format!("/v1/rooms/sale/events{path}"), body).await
    }

    async fn put(&self, name: &str, event: &Value) -> Result<Reply> {
        self.call(Method::PUT, &format!("/{name}"), Some(event)).await
    }

    async fn patch(&self, name: &str, changes: &Value) -> Result<Reply> {
        self.call(Method::PATCH, &format!("/{name}"), Some(changes)).await
    }

    async fn get(&self, path: &str) -> Result<Reply> {
        self.call(Method::GET, path, None).await
    }
}

async fn sale() -> Result<(Deployment, Events)> {
    let deployment = Deployment::builder().controllers(2).start().await?;
    let settings = json!({ "total_active_users": 100, "new_users_per_minute": 50 });
    deployment.create_room("sale", &settings).await?;
    let events = Events(deployment.operator().clone());
    Ok((deployment, events))
}

/// An event of an hour, so many seconds after [`DISTANT`].
fn an_hour(after: i64) -> Value {
    let start = DISTANT + after;
    json!({ "event_start_time": start, "event_end_time": start + 3600 })
}

fn with(event: &Value, more: &Value) -> Value {
    let mut both = event.clone();
    for (field, value) in more.as_object().into_iter().flatten() {
        both[field] = value.clone();
    }
    both
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_are_created_changed_listed_and_deleted() -> Result<()> {
    let (_deployment, events) = sale().await?;
    let more = json!({
        "description": "the second day", "prequeue_start_time": "2096-10-02T07:06:40Z",
        "draw_at_event_start": true, "session_duration_seconds": 60,
    });
    let later = events.put("later", &with(&an_hour(1800), &more)).await?.expect(201)?;
    for (field, value) in [
        ("name", json!("later")),
        ("description", json!("the second day")),
        ("event_start_time", json!("2096-10-02T07:36:40Z")),
        ("event_end_time", json!("2096-10-02T08:36:40Z")),
        ("prequeue_start_time", json!("2096-10-02T07:06:40Z")),
        ("draw_at_event_start", json!(true)),
        ("suspended", json!(false)),
        ("session_duration_seconds", json!(60)),
        ("total_active_users", json!(null)),
        ("queueing_method", json!(null)),
        ("beacon", json!(null)),
    ] {
        assert_eq!(later.body[field], value, "{field}");
    }
    ensure!(later.text_of("commitment")?.len() == 64, "{}", later.text);
    let again = events.put("later", &later.body).await?.expect(200)?;
    assert_eq!(again.body, later.body, "what was answered may be sent back, seed and all");
    events.put("early", &an_hour(-7200)).await?.expect(201)?;
    let list = events.get("").await?.expect(200)?;
    let names: Vec<_> = list.body["events"].as_array().context("events")?.iter().collect();
    assert_eq!(names.iter().map(|event| &event["name"]).collect::<Vec<_>>(), ["early", "later"]);
    let change = json!({ "description": "", "session_duration_seconds": null });
    let changed = events.patch("later", &change).await?.expect(200)?;
    assert_eq!(changed.body, with(&later.body, &change), "and nothing else");
    assert_eq!(events.get("/later").await?.expect(200)?.body, changed.body);
    events.call(Method::DELETE, "/later", None).await?.expect(204)?;
    for gone in [
        events.get("/later").await?,
        events.get("/later/details").await?,
        events.patch("later", &change).await?,
        events.call(Method::DELETE, "/later", None).await?,
    ] {
        expect_problem(&gone, 404, "event-not-found")?;
    }
    let reborn = events.put("later", &with(&an_hour(1800), &more)).await?.expect(201)?;
    ensure!(reborn.body["commitment"] != later.body["commitment"], "another event, another seed");
    events.0.call(Method::DELETE, "/v1/rooms/sale", None).await?.expect(204)?;
    expect_problem(&events.get("").await?, 404, "room-not-found")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_is_refused_with_the_field_and_the_reason() -> Result<()> {
    let (_deployment, events) = sale().await?;
    events.put("first", &an_hour(0)).await?.expect(201)?;
    let hour = an_hour(7200);
    let at = |field: &str, value: Value| with(&hour, &json!({ field: value }));
    let beacon = json!({ "url": "https://x", "round": 1, "public_key": "ab".repeat(48) });
    let cases = [
        (an_hour(3599), "event_start_time", "overlaps with the event first"),
        (an_hour(-3599), "event_end_time", "overlaps with the event first"),
        (
            with(&an_hour(3700), &json!({ "prequeue_start_time": DISTANT + 3300 })),
            "prequeue_start_time",
            "overlaps with the event first",
        ),
        (at("draw_at_event_start", json!(true)), "draw_at_event_start", "prequeue_start_time"),
        (at("beacon", beacon), "beacon", "needs draw_at_event_start"),
        (at("prequeue_start_time", json!(DISTANT + 6901)), "prequeue_start_time", "300 seconds"),
        (at("event_end_time", json!(DISTANT + 7259)), "event_end_time", "60 seconds"),
        (at("event_start_time", json!(1_700_000_000)), "event_start_time", "in the past"),
        (
            at("prequeue_start_time", json!("2023-11-14T22:13:20Z")),
            "prequeue_start_time",
            "in the past",
        ),
        (at("event_start_time", json!("soon")), "event_start_time", "RFC 3339"),
        (at("total_active_users", json!(5)), "new_users_per_minute", "both or neither"),
        (
            with(&hour, &json!({ "total_active_users": 5, "new_users_per_minute": 6 })),
            "new_users_per_minute",
            "must not be above total_active_users",
        ),
        (at("session_duration_seconds", json!(0)), "session_duration_seconds", "from 1"),
        (at("queueing_method", json!("lifo")), "queueing_method", "unknown"),
        (at("commitment", json!("ab")), "commitment", "cannot be set"),
        (at("limit", json!(5)), "limit", "unknown field"),
        (at("name", json!("third")), "name", "not the event of the address"),
        (json!({ "event_end_time": DISTANT }), "event_start_time", "missing"),
    ];
    for (event, field, reason) in cases {
        let refused = events.put("second", &event).await?;
        expect_problem(&refused, 400, reason)?;
        let errors = refused.body["errors"].as_array().context("errors")?;
        ensure!(errors.iter().any(|error| error["field"] == field), "{field}: {}", refused.text);
    }
    expect_problem(&events.get("/second").await?, 404, "event-not-found")?;
    for name in ["a.b", "a%20b", &"x".repeat(65)] {
        expect_problem(&events.put(name, &hour).await?, 400, "event")?;
    }
    events.put("aside", &with(&an_hour(60), &json!({ "suspended": true }))).await?.expect(201)?;
    let refused = events.patch("aside", &json!({ "suspended": false })).await?;
    expect_problem(&refused, 400, "overlaps with the event first")?;
    let rate = json!({ "new_users_per_minute": 101 });
    expect_problem(&events.0.patch_room("sale", &rate).await?, 400, "new_users_per_minute")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_at_the_same_time_lose_nothing_and_never_overlap() -> Result<()> {
    let (_deployment, events) = sale().await?;
    // One who is told that others keep changing the room tries again.
    let put = async |name: String, event: Value| loop {
        let reply = events.put(&name, &event).await?;
        if reply.status != 409 {
            return anyhow::Ok(reply.status);
        }
    };
    let apart = (0..6).map(|index| put(format!("apart-{index}"), an_hour(3600 * (index + 1))));
    let over = (0..6).map(|index| put(format!("over-{index}"), an_hour(-index)));
    let (apart, over) = join(try_join_all(apart), try_join_all(over)).await;
    assert_eq!(apart?, [201; 6]);
    let mut over = over?;
    over.sort_unstable();
    assert_eq!(over, [201, 400, 400, 400, 400, 400]);
    let list = events.get("").await?.expect(200)?;
    assert_eq!(list.body["events"].as_array().map(Vec::len), Some(7));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn details_follow_the_room_as_it_changes() -> Result<()> {
    let (_deployment, events) = sale().await?;
    let limits = json!({ "total_active_users": 7, "new_users_per_minute": 6 });
    events.put("limited", &with(&an_hour(0), &limits)).await?.expect(201)?;
    events.put("plain", &an_hour(3600)).await?.expect(201)?;
    let figures = |reply: &Reply| {
        let of = |field: &str| reply.body[field].clone();
        (of("total_active_users"), of("session_duration_seconds"), of("state"))
    };
    for (ceiling, session) in [(100, 300), (200, 60)] {
        let change = json!({ "total_active_users": ceiling, "session_duration_seconds": session });
        events.0.patch_room("sale", &change).await?.expect(200)?;
        let limited = events.get("/limited/details").await?.expect(200)?;
        assert_eq!(figures(&limited), (json!(7), json!(session), json!("scheduled")));
        let plain = events.get("/plain/details").await?.expect(200)?;
        assert_eq!(figures(&plain), (json!(ceiling), json!(session), json!("scheduled")));
    }
    let room = events.0.call(Method::GET, "/v1/rooms/sale", None).await?.expect(200)?;
    events.0.put_room("sale", &room.body).await?.expect(200)?;
    let list = events.get("").await?.expect(200)?;
    assert_eq!(list.body["events"].as_array().map(Vec::len), Some(2), "replacing keeps the events");
    events.patch("plain", &json!({ "suspended": true })).await?.expect(200)?;
    let plain = events.get("/plain/details").await?.expect(200)?;
    assert_eq!(plain.body["state"], "suspended");
    let status = events.0.status("sale").await?;
    assert_eq!(status.body["next_event_start_time"], "2096-10-02T07:06:40Z");
    assert_eq!(status.body["event"], Value::Null);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_takes_force_at_its_start_and_ends_when_it_is_deleted() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 0 })).await?;
    let events = Events(deployment.operator().clone());
    // What must come before the start has time enough.
    let start = deployment.redis().now_seconds().await? + 8;
    let flash = json!({
        "event_start_time": start, "event_end_time": start + 3600,
        "total_active_users": 1, "new_users_per_minute": 1,
    });
    events.put("flash", &flash).await?.expect(201)?;
    let early = events.0.status("sale").await?;
    assert_eq!(
        (&early.body["event"], &early.body["state"]),
        (&Value::Null, &json!("not_queueing"))
    );
    let mut guest = deployment.visitor("sale");
    let joined = guest.join().await?.expect(200)?;
    ensure!(!joined.says("admitted"), "the room lets nobody in: {}", joined.text);
    guest.claims(SOON).await?;
    let now = deployment.redis().now_seconds().await?;
    ensure!(now >= start, "let in at {now}, before the start at {start}");
    assert_eq!(events.0.status("sale").await?.body["event"], "flash");
    assert_eq!(events.get("/flash/details").await?.body["state"], "running");
    let room = events.0.call(Method::GET, "/v1/rooms/sale", None).await?.expect(200)?;
    assert_eq!(room.body["total_active_users"], 0, "the room's own settings are as they were");
    let late = events.patch("flash", &json!({ "event_start_time": start + 60 })).await?;
    expect_problem(&late, 400, "it has passed")?;
    events.call(Method::DELETE, "/flash", None).await?.expect(204)?;
    assert_eq!(events.0.status("sale").await?.body["event"], Value::Null, "at once");
    guest.leave().await?.expect(200)?;
    let behind = deployment.visitor("sale").join().await?.expect(200)?;
    ensure!(!behind.says("admitted"), "the event is over: {}", behind.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_session_frees_its_seat_at_once() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 1 })).await?;
    deployment.create_room("other", &json!({})).await?;
    let operator = deployment.operator();
    let mut guest = deployment.visitor("sale");
    let joined = guest.join().await?.expect(200)?;
    let id = joined.text_of("request_id")?;
    let revoke = async |room: &str, id: &str| {
        let path = format!("/v1/rooms/{room}/sessions/{id}");
        operator.call(Method::DELETE, &path, None).await
    };
    expect_problem(&revoke("other", &id).await?, 400, "invalid-request-id")?;
    expect_problem(&revoke("sale", "x").await?, 400, "invalid-request-id")?;
    expect_problem(&revoke("nowhere", &id).await?, 404, "room-not-found")?;
    let waiting = deployment.visitor("sale").join().await?.expect(200)?;
    ensure!(!waiting.says("admitted"), "the room is full: {}", waiting.text);
    let waiting = waiting.text_of("request_id")?;
    revoke("sale", &waiting).await?.expect(204)?;
    revoke("sale", &id).await?.expect(204)?;
    let status = operator.status("sale").await?;
    assert_eq!(status.number("active_users")?, 0);
    expect_problem(&revoke("sale", &id).await?, 404, "session-not-found")?;
    eventually(SOON, "that the guest is told", || {
        let mut guest = guest.clone();
        async move {
            let told = guest.status().await?;
            ensure!(!told.says("admitted"), "{}", told.text);
            Ok(())
        }
    })
    .await
}
