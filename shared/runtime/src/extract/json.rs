//! JSON in and out, whatever the `Content-Type` says.
//!
//! Clients of the AWS-style API send JSON as `text/plain` to spare themselves a preflight, so the
//! header is not looked at. The body is parsed the fast way first; only a body that fails is
//! parsed again to find out which field is wrong.

use axum::{
    extract::{FromRequest, OptionalFromRequest, Request},
    response::{IntoResponse, Response},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, error::Category};

use super::{body::read_body, reason};
use crate::problem::{Problem, ProblemType};

const NOT_JSON: &str = "the body is not valid JSON";
const UNEXPECTED: &str = "the body does not have the expected form";

/// A JSON body: as an argument of a handler, or as its answer.
///
/// Rejects with 400 for anything that is not the JSON of a `T`, and a body as [`read_body`] does.
#[derive(Debug, Clone, Copy, Default)]
pub struct Json<T>(pub T);

// === impl Json ===

impl<T: DeserializeOwned> Json<T> {
    /// Parses a body that has been read already.
    ///
    /// # Errors
    /// [`ProblemType::InvalidRequest`], naming the field and the reason.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Problem> {
        serde_json::from_slice(bytes).map(Self).map_err(|error| explain::<T>(bytes, &error))
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Self::Rejection> {
        Self::from_bytes(&read_body(request.into_body()).await?)
    }
}

/// A body that may be left out: an empty one is none.
impl<T: DeserializeOwned, S: Send + Sync> OptionalFromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _state: &S) -> Result<Option<Self>, Self::Rejection> {
        let bytes = read_body(request.into_body()).await?;
        if bytes.trim_ascii().is_empty() { Ok(None) } else { Self::from_bytes(&bytes).map(Some) }
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        axum::Json(self.0).into_response()
    }
}

#[cold]
fn explain<T: DeserializeOwned>(bytes: &[u8], error: &serde_json::Error) -> Problem {
    if bytes.trim_ascii().is_empty() {
        return Problem::new(ProblemType::InvalidRequest).detail("the body is empty, not JSON");
    }
    if error.classify() != Category::Data {
        return explain_syntax::<T>(bytes, error);
    }
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    match serde_path_to_error::deserialize::<_, T>(&mut deserializer) {
        Err(error) => reason::problem(UNEXPECTED, &error),
        // The body starts with a valid `T`, but something follows it.
        Ok(_) => Problem::new(ProblemType::InvalidRequest).detail(NOT_JSON),
    }
}

/// `serde_json` takes JSON for none where something stands in the place of an enum that is neither a text nor an object.
fn explain_syntax<T: DeserializeOwned>(bytes: &[u8], error: &serde_json::Error) -> Problem {
    let is_json = serde_json::from_slice::<Value>(bytes);
    match is_json.map(serde_path_to_error::deserialize::<_, T>) {
        Ok(Err(error)) => reason::problem(UNEXPECTED, &error),
        _ => Problem::new(ProblemType::InvalidRequest).detail(format!("{NOT_JSON}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use axum::{
        Router,
        body::Body,
        http::{StatusCode, header::CONTENT_TYPE},
        routing::post,
    };
    use serde::Deserialize;
    use serde_json::json;
    use tower::ServiceExt;

    use super::*;
    use crate::{extract::MAX_BODY_BYTES, testing::body_json};

    #[derive(Debug, Deserialize, Serialize)]
    #[serde(deny_unknown_fields)]
    struct Increment {
        event_id: String,
        increment_by: u32,
    }

    async fn send(content_type: &str, body: impl Into<Body>) -> (StatusCode, Value) {
        let router = Router::new()
            .route("/", post(async |Json(increment): Json<Increment>| Json(increment)));
        let request =
            Request::post("/").header(CONTENT_TYPE, content_type).body(body.into()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        (response.status(), body_json(response).await)
    }

    #[tokio::test]
    async fn json_is_read_under_any_content_type() {
        let body = json!({"event_id": "Sample", "increment_by": 5});
        for content_type in ["application/json", "text/plain;charset=UTF-8", "x"] {
            let answer = send(content_type, body.to_string()).await;
            assert_eq!(answer, (StatusCode::OK, body.clone()));
        }
    }

    #[tokio::test]
    async fn a_body_may_be_left_out_where_that_is_said() {
        let handler = async |body: Option<Json<Increment>>| Json(body.map(|Json(body)| body));
        let send = async |body: &'static str| {
            let router = Router::new().route("/", post(handler));
            let response = router.oneshot(Request::post("/").body(Body::from(body)).unwrap()).await;
            let response = response.unwrap();
            (response.status(), body_json(response).await)
        };
        for empty in ["", " \n"] {
            assert_eq!(send(empty).await, (StatusCode::OK, Value::Null));
        }
        let body = r#"{"event_id":"Sample","increment_by":5}"#;
        assert_eq!(send(body).await.1.to_string(), body);
        assert_eq!(send("{").await.0, StatusCode::BAD_REQUEST);
    }

    #[tokio::test]
    async fn the_wrong_field_is_named() {
        let (status, problem) = send("text/plain", r#"{"event_id": "Sample"}"#).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert_eq!(problem["type"], "urn:vestibule:problem:invalid-request");
        assert_eq!(
            problem["errors"],
            json!([{"field": "increment_by", "reason": "missing field `increment_by`"}])
        );
        let (_, problem) =
            send("text/plain", r#"{"event_id": "Sample", "increment_by": "5"}"#).await;
        assert_eq!(problem["errors"][0]["field"], "increment_by");
        assert_eq!(problem["errors"][0]["reason"], "invalid type: string, expected u32");
        let (_, problem) = send("text/plain", r#""hunter2""#).await;
        let whole = "the body does not have the expected form: invalid type: string, expected struct Increment";
        assert_eq!(problem["detail"], whole);
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Mode {
        Off,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only the errors are looked at")]
    struct Challenge {
        mode: Mode,
        modes: Option<Vec<Mode>>,
    }

    #[test]
    fn what_stands_in_the_place_of_one_of_some_texts_is_named_too() {
        let explain = |body: &str| {
            let problem = Json::<Challenge>::from_bytes(body.as_bytes()).unwrap_err();
            let error = problem.errors().first().cloned();
            error.map(|error| format!("{}: {}", error.field, error.reason))
        };
        for (body, found) in [
            (r#"{"mode": false}"#, "mode: invalid type: boolean"),
            (r#"{"mode": null}"#, "mode: invalid type: null"),
            (r#"{"mode": 5}"#, "mode: invalid type: integer"),
            (r#"{"mode": ["off"]}"#, "mode: invalid type: sequence"),
            (r#"{"mode": "off", "modes": ["off", true]}"#, "modes[1]: invalid type: boolean"),
        ] {
            let told = explain(body).unwrap_or_default();
            assert!(told.starts_with(found), "{body}: {told}");
        }
        for body in [r#"{"mode": off}"#, r#"{"mode": false"#, r#"{"mode": false} x"#] {
            assert_eq!(explain(body), None, "{body}");
        }
    }

    #[tokio::test]
    async fn what_is_not_json_says_so() {
        for body in ["{", "{} x", "hello", r#"{"event_id": "S", "increment_by": 1} x"#, "\u{1}"] {
            let (status, problem) = send("application/json", body).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
            assert!(problem["detail"].is_string(), "{body}");
        }
        let (_, problem) = send("application/json", "").await;
        assert_eq!(problem["detail"], "the body is empty, not JSON");
    }

    #[tokio::test]
    async fn a_long_body_is_refused() {
        let (status, problem) = send("application/json", vec![b' '; MAX_BODY_BYTES + 1]).await;
        assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
        assert_eq!(problem["detail"], "a body may have at most 65536 bytes");
    }
}
