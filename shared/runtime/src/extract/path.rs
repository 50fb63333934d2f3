//! The parameters of the route, read as a type.

use axum::{
    extract::{
        FromRequestParts, Path as AxumPath,
        path::{ErrorKind, RawPathParams},
        rejection::{PathRejection, RawPathParamsRejection},
    },
    http::request::Parts,
};
use serde::de::{
    DeserializeOwned,
    value::{Error as ValueError, MapDeserializer},
};

use super::reason::shorten;
use crate::problem::{Problem, ProblemType};

/// The parameters of the route. Rejects with 400, naming the parameter and the reason.
#[derive(Debug, Clone, Copy, Default)]
pub struct Path<T>(pub T);

// === impl Path ===

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        match AxumPath::from_request_parts(parts, state).await {
            Ok(AxumPath(value)) => Ok(Self(value)),
            Err(PathRejection::FailedToDeserializePathParams(error)) => {
                let params = RawPathParams::from_request_parts(parts, state).await.ok();
                Err(explain::<T>(error.into_kind(), params.as_ref()))
            }
            Err(error) => Err(Problem::internal(&error)),
        }
    }
}

/// What is answered when the parameters cannot even be read as text: 400, for what is not UTF-8.
#[cold]
#[must_use]
pub fn unreadable(error: &RawPathParamsRejection) -> Problem {
    match error {
        RawPathParamsRejection::InvalidUtf8InPathParam(_) => {
            invalid().detail("the address is not UTF-8")
        }
        error => Problem::internal(error),
    }
}

/// The parameter that cannot be read, where axum names none: found by reading them once more.
fn unnamed<T: DeserializeOwned>(params: Option<&RawPathParams>) -> String {
    let Some(params) = params else { return String::new() };
    if let [(name, _)] = params.iter().collect::<Vec<_>>()[..] {
        return name.to_owned();
    }
    let again = MapDeserializer::<_, ValueError>::new(params.iter());
    let error = serde_path_to_error::deserialize::<_, T>(again).err();
    error.map(|error| error.path().to_string()).unwrap_or_default()
}

#[cold]
fn explain<T: DeserializeOwned>(error: ErrorKind, params: Option<&RawPathParams>) -> Problem {
    let only = || unnamed::<T>(params);
    let (field, reason) = match error {
        ErrorKind::ParseErrorAtKey { key, expected_type, .. } => (key, wrong_type(expected_type)),
        ErrorKind::ParseErrorAtIndex { index, expected_type, .. } => {
            let name = params.and_then(|params| params.iter().nth(index));
            (name.map_or("", |(name, _)| name).to_owned(), wrong_type(expected_type))
        }
        ErrorKind::ParseError { expected_type, .. } => (only(), wrong_type(expected_type)),
        ErrorKind::InvalidUtf8InPathParam { key } => (key, "is not UTF-8".to_owned()),
        ErrorKind::DeserializeError { key, message, .. } => (key, shorten(&message)),
        ErrorKind::Message(message) => (only(), shorten(&message)),
        // The handler asks for a parameter that its route does not have: a fault in this program.
        programming_error => {
            tracing::error!(error = %programming_error, "route and handler disagree");
            return Problem::new(ProblemType::Internal);
        }
    };
    invalid().field(field, reason)
}

fn invalid() -> Problem {
    Problem::new(ProblemType::InvalidRequest).detail("the address does not have the expected form")
}

fn wrong_type(expected: &str) -> String {
    format!("is not of type {expected}")
}

#[cfg(test)]
mod tests {
    use axum::{Router, body::Body, extract::Request, http::StatusCode, routing::get};
    use serde::{Deserialize, Deserializer, de::Error};
    use serde_json::Value;
    use tower::ServiceExt;

    use super::*;
    use crate::testing::body_json;

    struct Short;

    impl<'de> Deserialize<'de> for Short {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = String::deserialize(deserializer)?;
            if text.len() < 4 { Ok(Self) } else { Err(D::Error::custom("is too long")) }
        }
    }

    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "room")]
        _room: Short,
        #[serde(rename = "minute")]
        _minute: u32,
    }

    async fn get_path(path: &str) -> (StatusCode, Value) {
        let router = Router::new()
            .route("/one/{room}", get(async |_: Path<Short>| "null"))
            .route("/two/{room}/{minute}", get(async |_: Path<Params>| "null"))
            .route("/none", get(async |_: Path<Short>| "null"));
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = router.oneshot(request).await.unwrap();
        (response.status(), body_json(response).await)
    }

    #[tokio::test]
    async fn the_wrong_parameter_is_named() {
        assert_eq!(get_path("/one/a").await.0, StatusCode::OK);
        let (status, problem) = get_path("/two/a/x").await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert_eq!(problem["errors"][0]["field"], "minute");
        assert_eq!(problem["errors"][0]["reason"], "is not of type u32");
        let (_, problem) = get_path("/two/abcde/1").await;
        assert_eq!(problem["errors"][0]["reason"], "is too long");
        assert_eq!(problem["errors"][0]["field"], "room");
    }

    #[tokio::test]
    async fn a_single_parameter_gives_its_reason() {
        let (status, problem) = get_path("/one/abcde").await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert_eq!(problem["errors"][0]["field"], "room");
        assert_eq!(problem["errors"][0]["reason"], "is too long");
        assert_eq!(get_path("/one/%ff").await.1["errors"][0]["reason"], "is not UTF-8");
    }

    #[tokio::test]
    async fn a_handler_that_disagrees_with_its_route_is_our_fault() {
        assert_eq!(get_path("/none").await.0, StatusCode::INTERNAL_SERVER_ERROR);
    }
}
