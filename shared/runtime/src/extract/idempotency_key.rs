//! The name that a caller gives to a call, so that it may send it again: it takes effect once.

use axum::{
    extract::FromRequestParts,
    http::request::Parts,
    response::{IntoResponse, Response},
};
use utoipa::IntoParams;

use crate::problem::{Problem, ProblemType};

const HEADER: &str = "idempotency-key";
const LONGEST: usize = 64;

/// `Idempotency-Key`, bare or in quotes.
#[derive(Debug, Clone, Default, IntoParams)]
#[into_params(parameter_in = Header)]
pub struct IdempotencyKey {
    /// A name for this call: sent again under it within a day, it takes effect once and has the same answer. Up to 64
    /// letters, digits and `-._`.
    #[param(rename = "Idempotency-Key", value_type = Option<String>, example = "8e03978e-40d5-43dd-bc93-6894a57f9324")]
    pub name: Option<String>,
}

/// The header is there, and no name.
#[derive(Debug, Clone, Copy)]
pub struct NoName;

// === impl IdempotencyKey ===

impl IdempotencyKey {
    /// What is said of a name under which something else was asked before.
    pub const TAKEN: &str = "Idempotency-Key names another call; give each call a name of its own";
}

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = NoName;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, NoName> {
        let Some(header) = parts.headers.get(HEADER) else { return Ok(Self::default()) };
        let text = header.to_str().map_err(|_| NoName)?.trim();
        let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        let name = quoted.unwrap_or(text);
        let is_name =
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        if is_name && (1..=LONGEST).contains(&name.len()) {
            Ok(Self { name: Some(name.to_owned()) })
        } else {
            Err(NoName)
        }
    }
}

// === impl NoName ===

impl NoName {
    /// What a name must be.
    pub const DETAIL: &str =
        "Idempotency-Key must be 1 to 64 letters, digits and -._, such as a UUID";
}

impl IntoResponse for NoName {
    fn into_response(self) -> Response {
        Problem::from(self).into_response()
    }
}

impl From<NoName> for Problem {
    fn from(NoName: NoName) -> Self {
        Self::new(ProblemType::InvalidRequest).detail(NoName::DETAIL)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    async fn read(value: &str) -> Option<Option<String>> {
        let request = Request::post("/").header(HEADER, value).body(()).unwrap();
        let (mut parts, ()) = request.into_parts();
        let key = IdempotencyKey::from_request_parts(&mut parts, &()).await;
        key.ok().map(|key| key.name)
    }

    #[tokio::test]
    async fn a_name_is_read_bare_and_in_quotes_and_all_else_is_refused() {
        for value in ["8e03978e-40d5", "\"8e03978e-40d5\"", " 8e03978e-40d5 "] {
            assert_eq!(read(value).await, Some(Some("8e03978e-40d5".to_owned())), "{value}");
        }
        for value in ["", "\"\"", "a b", "a:b", "a\"", "ä", &"x".repeat(65)] {
            assert_eq!(read(value).await, None, "{value}");
        }
    }

    #[tokio::test]
    async fn it_may_be_left_out() {
        let (mut parts, ()) = Request::post("/").body(()).unwrap().into_parts();
        let key = IdempotencyKey::from_request_parts(&mut parts, &()).await.unwrap();
        assert_eq!(key.name, None);
    }
}
