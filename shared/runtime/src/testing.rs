//! What the tests of this crate share: reading answers. Compiled for tests only.

use axum::{body, response::Response};
use serde_json::Value;

/// The body as text.
pub(crate) async fn body_text(response: Response) -> String {
    let bytes = body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The body as JSON.
pub(crate) async fn body_json(response: Response) -> Value {
    serde_json::from_str(&body_text(response).await).unwrap()
}
