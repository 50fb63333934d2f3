//! Bodies of the AWS-style calls: JSON whatever the `Content-Type` says, and one answer to all
//! that is wrong with them.

use axum::extract::{FromRequest, Request};
use serde::{Deserialize, Deserializer, de::DeserializeOwned, de::Error};
use vestibule_issuance::aws::AwsError;
use vestibule_runtime::extract::Json;

/// A JSON body. Rejects with `{"message":"Invalid request body"}`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AwsBody<T>(pub T);

/// A whole number, also if it is written as `5.0`. What is longer than 64 bits is as much as they hold: whoever takes one says
/// what is too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WholeNumber(pub i64);

// === impl AwsBody ===

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for AwsBody<T> {
    type Rejection = AwsError;

    async fn from_request(request: Request, state: &S) -> Result<Self, Self::Rejection> {
        match Json::from_request(request, state).await {
            Ok(Json(body)) => Ok(Self(body)),
            Err(problem) => Err(AwsError::Message(problem.status(), "Invalid request body".into())),
        }
    }
}

// === impl WholeNumber ===

impl<'de> Deserialize<'de> for WholeNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(deserializer)?;
        let whole = number.as_i64().or_else(|| number.as_f64().and_then(whole));
        whole.map(Self).ok_or_else(|| D::Error::custom("must be a whole number"))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "whole, and what is too much stays too much")]
fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0).then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use axum::{body::Body, http::StatusCode};

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Increment {
        increment_by: WholeNumber,
    }

    async fn read(body: &str) -> Result<i64, StatusCode> {
        let request = Request::post("/").header("content-type", "text/plain");
        let request = request.body(Body::from(body.to_owned())).unwrap();
        match AwsBody::<Increment>::from_request(request, &()).await {
            Ok(AwsBody(body)) => Ok(body.increment_by.0),
            Err(AwsError::Message(status, message)) => {
                assert_eq!(message, "Invalid request body");
                Err(status)
            }
            Err(other) => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn whole_numbers_are_read_and_all_else_refused_in_the_same_words() {
        assert_eq!(read(r#"{"increment_by":-7,"more":1}"#).await, Ok(-7));
        assert_eq!(read(r#"{"increment_by":5.0}"#).await, Ok(5));
        assert_eq!(read(r#"{"increment_by":9223372036854775807}"#).await, Ok(i64::MAX));
        assert_eq!(read(r#"{"increment_by":9223372036854775808}"#).await, Ok(i64::MAX));
        assert_eq!(read(r#"{"increment_by":-1e300}"#).await, Ok(i64::MIN));
        for body in [
            "",
            "{}",
            "[]",
            r#"{"increment_by":1.5}"#,
            r#"{"increment_by":"2"}"#,
            r#"{"increment_by":null}"#,
            r#"{"increment_by":1"#,
        ] {
            assert_eq!(read(body).await, Err(StatusCode::BAD_REQUEST), "{body}");
        }
    }
}
