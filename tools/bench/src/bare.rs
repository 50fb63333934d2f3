//! The baseline of the measurements: an axum service that only answers JSON, as a process of its
//! own.
//!
//! It has the same allocator, runtime and socket options as the services, and an answer of about
//! the size of a status answer, built and serialised anew for every request. It has no state, no
//! layers and no headers of its own.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use axum::{Json, Router, routing::get, serve::ListenerExt};
use serde::Serialize;
use tokio::net::TcpListener;

/// The body: the members of a status answer.
#[derive(Debug, Serialize)]
struct Answer {
    room: &'static str,
    status: &'static str,
    request_id: &'static str,
    queue_number: u64,
    position: u64,
    people_ahead: u64,
    wait_seconds: Option<u64>,
    next_check_in_seconds: f64,
}

/// Serves until it is killed.
#[tokio::main]
pub(crate) async fn serve(listen: SocketAddr) -> Result<()> {
    let listener = TcpListener::bind(listen).await;
    let listener = listener.with_context(|| format!("cannot listen on {listen}"))?;
    let listener = listener.tap_io(|stream| {
        // A failure makes the connection slower, but not wrong.
        let _ = stream.set_nodelay(true);
    });
    let router = Router::new().route("/", get(answer).post(answer));
    axum::serve(listener, router).await.context("the bare service ended")
}

async fn answer() -> Json<Answer> {
    Json(Answer {
        room: "bench-poll",
        status: "waiting",
        request_id: "0f8fad5b-d9cb-469f-a165-70867728950e",
        queue_number: 4_711,
        position: 4_711,
        people_ahead: 4_710,
        wait_seconds: None,
        next_check_in_seconds: 12.5,
    })
}
