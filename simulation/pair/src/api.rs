//! Calls of an API without a socket.

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, header},
};
use serde_json::Value;
use tower::ServiceExt;
use vestibule_controller::in_process::TOKEN;

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The body; null if there is none.
    pub body: Value,
}

/// Calls `router`; `body`: null for none.
pub(crate) async fn call(router: Router, method: &str, path: &str, body: &Value) -> Reply {
    let content = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::AUTHORIZATION, format!("Bearer {TOKEN}"))
        .header(header::CONTENT_TYPE, "application/json")
        .body(content);
    let Ok(request) = request else { return Reply { status: 400, body: Value::Null } };
    let Ok(response) = router.oneshot(request).await;
    let status = response.status().as_u16();
    let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap_or_default();
    Reply { status, body: serde_json::from_slice(&bytes).unwrap_or(Value::Null) }
}
