//! Requests beyond the limit, and what takes no place: a body that does not come.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use axum::{
    Router,
    body::Bytes,
    http::{StatusCode, header::RETRY_AFTER},
    routing::{get, post},
};
use tokio::{
    sync::{Semaphore, mpsc},
    task::JoinHandle,
};
use tower::ServiceExt;

use super::*;
use crate::{
    extract::{Json, MAX_BODY_BYTES},
    testing::{body_json, sent_body},
};

async fn send(router: &Router) -> Response {
    let request = Request::get("/").body(Body::empty()).unwrap();
    router.clone().oneshot(request).await.unwrap()
}

#[tokio::test]
async fn a_limit_of_zero_refuses_everything_untouched() {
    let called = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&called);
    let handler = async move || counter.fetch_add(1, Relaxed).to_string();
    let router = Router::new().route("/", get(handler)).layer(Shed::new(0));
    for expected in ["1", "2", "1"] {
        let response = send(&router).await;
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()[RETRY_AFTER], expected);
        let problem = body_json(response).await;
        assert_eq!(problem["type"], "urn:vestibule:problem:overloaded");
    }
    assert_eq!(called.load(Relaxed), 0);
}

#[tokio::test]
async fn permits_are_shared_and_given_back() {
    let go_on = Arc::new(Semaphore::new(0));
    let wait = Arc::clone(&go_on);
    let handler = async move || wait.acquire().await.unwrap().forget();
    let shed = Shed::new(1);
    let router = Router::new()
        .route("/", get(handler))
        .route("/quick", get(async || "ok"))
        .layer(shed.clone());
    let first = tokio::spawn({
        let router = router.clone();
        async move { send(&router).await.status() }
    });
    while shed.0.in_flight() == 0 {
        tokio::task::yield_now().await;
    }
    let other = Request::get("/quick").body(Body::empty()).unwrap();
    let refused = router.clone().oneshot(other).await.unwrap();
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    go_on.add_permits(2);
    assert_eq!(first.await.unwrap(), StatusCode::OK);
    assert_eq!(send(&router).await.status(), StatusCode::OK);
    assert_eq!(shed.0.in_flight(), 0);
}

#[tokio::test]
async fn a_request_given_up_gives_its_permit_back() {
    let shed = Shed::new(1);
    let router = Router::new().route("/", get(std::future::pending::<()>)).layer(shed.clone());
    let mut answer = Box::pin(send(&router));
    assert!(std::future::poll_fn(|cx| Poll::Ready(answer.as_mut().poll(cx).is_pending())).await);
    assert_eq!(shed.0.in_flight(), 1);
    drop(answer);
    assert_eq!(shed.0.in_flight(), 0);
}

/// Sends a request whose body comes later.
fn begin(router: &Router) -> (mpsc::UnboundedSender<Bytes>, JoinHandle<Response>) {
    let (rest, body) = sent_body();
    let request = Request::post("/").body(body).unwrap();
    let router = router.clone();
    (rest, tokio::spawn(async move { router.oneshot(request).await.unwrap() }))
}

async fn settle() {
    for _ in 0..9 {
        tokio::task::yield_now().await;
    }
}

/// Takes any JSON.
fn taker(shed: &Shed) -> Router {
    let handler = async |Json(json): Json<serde_json::Value>| Json(json);
    Router::new().route("/", post(handler).get(async || "ok")).layer(shed.clone())
}

#[tokio::test]
async fn whoever_sends_no_body_takes_no_place_from_others() {
    let shed = Shed::new(1);
    let router = taker(&shed);
    let mut slow = Vec::new();
    for _ in 0..9 {
        slow.push(begin(&router));
        settle().await;
    }
    assert_eq!(send(&router).await.status(), StatusCode::OK);
    for (rest, answer) in slow {
        rest.send("[1".into()).unwrap();
        settle().await;
        assert_eq!(shed.0.in_flight(), 0, "half a body is none");
        rest.send(",2]".into()).unwrap();
        drop(rest);
        assert_eq!(body_json(answer.await.unwrap()).await.to_string(), "[1,2]");
    }
    assert_eq!(shed.0.in_flight(), 0);
}

#[tokio::test]
async fn whose_body_comes_when_all_places_are_taken_is_told_to_come_back() {
    let shed = Shed::new(1);
    let router = taker(&shed);
    let (rest, answer) = begin(&router);
    settle().await;
    let taken = shed.0.take_permit().unwrap();
    rest.send("[]".into()).unwrap();
    drop(rest);
    let refused = answer.await.unwrap();
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.headers()[RETRY_AFTER], "1");
    assert_eq!(body_json(refused).await["type"], "urn:vestibule:problem:overloaded");
    drop(taken);
    assert_eq!(shed.0.in_flight(), 0);
}

#[tokio::test]
async fn a_request_whose_body_has_come_has_a_place_until_it_is_answered() {
    let go_on = Arc::new(Semaphore::new(0));
    let wait = Arc::clone(&go_on);
    let handler = async move |_: Json<serde_json::Value>| wait.acquire().await.unwrap().forget();
    let shed = Shed::new(1);
    let router = Router::new().route("/", post(handler)).layer(shed.clone());
    let (rest, answer) = begin(&router);
    rest.send("[]".into()).unwrap();
    drop(rest);
    settle().await;
    assert_eq!(shed.0.in_flight(), 1);
    go_on.add_permits(1);
    assert_eq!(answer.await.unwrap().status(), StatusCode::OK);
    assert_eq!(shed.0.in_flight(), 0);
}

#[tokio::test]
async fn a_body_that_is_too_long_or_breaks_off_leaves_nothing_behind() {
    let shed = Shed::new(1);
    let router = taker(&shed);
    let (rest, answer) = begin(&router);
    settle().await;
    rest.send(vec![b' '; MAX_BODY_BYTES + 1].into()).unwrap();
    assert_eq!(answer.await.unwrap().status(), StatusCode::PAYLOAD_TOO_LARGE);
    let (rest, answer) = begin(&router);
    settle().await;
    answer.abort();
    assert!(answer.await.unwrap_err().is_cancelled());
    drop(rest);
    assert_eq!(shed.0.in_flight(), 0);
}
