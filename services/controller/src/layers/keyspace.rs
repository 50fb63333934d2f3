//! Lets calls through once the start has found that this release can work with the keyspace, and has learnt what time it
//! is there: what is done before might be written as a later release does not read it, or at a time that a jump of Redis's
//! clock has made.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use vestibule_runtime::{Problem, ProblemType};

use crate::state::Controller;

/// Lets calls through; before, answers a problem that says when to try again.
pub(crate) async fn require_keyspace(
    State(controller): State<Arc<Controller>>,
    request: Request,
    next: Next,
) -> Response {
    if controller.knows_keyspace() {
        return next.run(request).await;
    }
    let starts = "this controller has just started, and has not reached Redis yet";
    Problem::new(ProblemType::RedisUnavailable).detail(starts).into_response()
}
