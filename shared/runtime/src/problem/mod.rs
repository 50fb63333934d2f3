//! RFC 9457 problem documents: how every error of the JSON APIs looks from outside.
//!
//! Domain and store errors know no HTTP; one exhaustive match per endpoint turns them into a
//! [`Problem`]. This module decides the shape and the headers only. AWS-style paths that must
//! answer in another shape build their own bodies and may read [`Problem::kind`].

mod documented;
mod kind;

use std::{borrow::Cow, collections::BTreeMap, error::Error};

use axum::{
    body::Body,
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
    },
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

pub use self::{
    documented::{json_response, problem_response},
    kind::{PROBLEM_URI_PREFIX, ProblemType, UnknownProblemType},
};
use crate::error_chain::ErrorChain;

/// The media type of a problem document.
pub const PROBLEM_JSON: &str = "application/problem+json";

/// A problem document (RFC 9457).
///
/// As a response it has the status of its type, `Cache-Control: no-store`, and `Retry-After`
/// whenever it says to come back. Details of 5xx problems are dropped: they never leave.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Problem {
    /// URI of the problem type.
    #[serde(rename = "type")]
    kind: ProblemType,
    /// Short sentence, the same for every occurrence of the type.
    title: &'static str,
    /// The HTTP status, repeated.
    #[schema(example = 400)]
    status: u16,
    /// What is special about this occurrence.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    detail: Option<Cow<'static, str>>,
    /// The fields of the request that are wrong, if that is the problem.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    errors: Vec<FieldError>,
    /// Further members of this type of problem.
    #[serde(flatten)]
    #[schema(ignore)]
    members: BTreeMap<&'static str, Value>,
    #[serde(skip)]
    retry_after: Option<u32>,
}

/// One field of a request and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldError {
    /// Path of the field, as the client spelled it: `limits.total_active_users`, `rooms[0]`.
    #[schema(value_type = String, min_length = 1)]
    pub field: Cow<'static, str>,
    /// What is wrong with it, for a person to read.
    #[schema(value_type = String)]
    pub reason: Cow<'static, str>,
}

// === impl Problem ===

impl Problem {
    /// A bare document of the given type.
    #[must_use]
    pub const fn new(kind: ProblemType) -> Self {
        Self {
            kind,
            title: kind.title(),
            status: kind.status().as_u16(),
            detail: None,
            errors: Vec::new(),
            members: BTreeMap::new(),
            retry_after: kind.default_retry_after(),
        }
    }

    /// Logs the error with its causes, once, and answers a bare [`ProblemType::Internal`].
    #[must_use]
    pub fn internal(error: &dyn Error) -> Self {
        tracing::error!(error = %ErrorChain(error), "request failed");
        Self::new(ProblemType::Internal)
    }

    /// Says what is special about this occurrence. Ignored for 5xx, whose details stay inside.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<Cow<'static, str>>) -> Self {
        if !self.kind.status().is_server_error() {
            self.detail = Some(detail.into());
        }
        self
    }

    /// Adds a field of the request and what is wrong with it. An empty name is the whole document,
    /// or a member without a name: then the reason becomes part of the detail.
    #[must_use]
    pub fn field(
        mut self,
        field: impl Into<Cow<'static, str>>,
        reason: impl Into<Cow<'static, str>>,
    ) -> Self {
        let error = FieldError { field: field.into(), reason: reason.into() };
        if error.field.is_empty() {
            let detail = match &self.detail {
                Some(detail) => format!("{detail}: {}", error.reason).into(),
                None => error.reason,
            };
            return self.detail(detail);
        }
        self.errors.push(error);
        self
    }

    /// Adds a member that only problems of this type have.
    #[must_use]
    pub fn member(mut self, name: &'static str, value: Value) -> Self {
        self.members.insert(name, value);
        self
    }

    /// Sets `Retry-After`, in seconds.
    #[must_use]
    pub const fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// After how many seconds to try again, if that can help.
    #[must_use]
    pub const fn seconds_to_retry(&self) -> Option<u32> {
        self.retry_after
    }

    /// The type of the problem.
    #[must_use]
    pub const fn kind(&self) -> ProblemType {
        self.kind
    }

    /// The slug of the type, for metric labels.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// The HTTP status.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        self.kind.status()
    }

    /// The fields that are wrong.
    #[must_use]
    pub fn errors(&self) -> &[FieldError] {
        &self.errors
    }

    fn write_headers(&self, headers: &mut HeaderMap) {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        // RFC 9110 requires a challenge with every 401.
        let challenge = match self.kind {
            ProblemType::Unauthorized => "Bearer",
            ProblemType::InvalidDpopProof => r#"DPoP error="invalid_dpop_proof""#,
            _ => return,
        };
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    }
}

impl From<ProblemType> for Problem {
    fn from(kind: ProblemType) -> Self {
        Self::new(kind)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        // Strings, numbers and lists of them: serialising cannot fail.
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status();
        self.write_headers(response.headers_mut());
        // The metrics layer reads it back as the `code` label.
        response.extensions_mut().insert(self.kind);
        response
    }
}

impl IntoResponse for ProblemType {
    fn into_response(self) -> Response {
        Problem::new(self).into_response()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::body_json;

    #[tokio::test]
    async fn a_problem_answers_with_its_document_and_headers() {
        let problem = Problem::new(ProblemType::InvalidRequest)
            .detail("the body has an error")
            .field("total_active_users", "must not be negative");
        let response = problem.into_response();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
        assert_eq!(response.headers()[CONTENT_TYPE], PROBLEM_JSON);
        assert_eq!(response.headers()[CACHE_CONTROL], "no-store");
        assert!(!response.headers().contains_key(RETRY_AFTER));
        assert_eq!(response.extensions().get(), Some(&ProblemType::InvalidRequest));
        assert_eq!(
            body_json(response).await,
            json!({
                "type": "urn:vestibule:problem:invalid-request",
                "title": "The request is not valid",
                "status": 400,
                "detail": "the body has an error",
                "errors": [{"field": "total_active_users", "reason": "must not be negative"}],
            })
        );
    }

    #[tokio::test]
    async fn what_has_no_name_is_told_in_the_detail() {
        let problem = Problem::new(ProblemType::InvalidRequest).field("", "is no object");
        let document = body_json(problem.field("", "at all").into_response()).await;
        assert_eq!(document["detail"], "is no object: at all");
        assert_eq!(document["errors"], Value::Null);
    }

    #[test]
    fn temporary_problems_say_when_to_come_back() {
        let overloaded = ProblemType::Overloaded.into_response();
        assert_eq!(overloaded.headers()[RETRY_AFTER], "1");
        let redis = Problem::new(ProblemType::RedisUnavailable).retry_after(7).into_response();
        assert_eq!(redis.headers()[RETRY_AFTER], "7");
    }

    #[test]
    fn unauthorized_carries_a_challenge() {
        let response = ProblemType::Unauthorized.into_response();
        assert_eq!(response.headers()[WWW_AUTHENTICATE], "Bearer");
    }

    #[tokio::test]
    async fn details_of_our_own_faults_never_leave() {
        let error = std::io::Error::other("redis://user:hunter2@10.0.0.7");
        let problem = Problem::internal(&error).detail("the password is hunter2");
        let document = body_json(problem.into_response()).await;
        assert_eq!(document["status"], 500);
        assert_eq!(document["detail"], Value::Null);
        assert!(!document.to_string().contains("hunter2"));
    }

    #[test]
    fn the_schema_describes_the_document() {
        use std::collections::BTreeSet;

        use utoipa::PartialSchema;
        let schema = serde_json::to_value(Problem::schema()).unwrap();
        let properties = schema["properties"].as_object().unwrap();
        let names: BTreeSet<_> = properties.keys().map(String::as_str).collect();
        assert_eq!(names, BTreeSet::from(["detail", "errors", "status", "title", "type"]));
        assert_eq!(schema["required"], json!(["type", "title", "status"]));
    }
}
