//! The errors of AWS-style calls: one table of statuses and texts, which clients compare literally.

use axum::{
    Extension, Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use vestibule_runtime::{
    NotForPages,
    extract::NoName,
    problem::{Problem, ProblemType},
};
use vestibule_store::StoreError;

use super::{ErrorBody, MessageBody};
use crate::{KeyError, SignerError};

/// An error of an AWS-style call.
#[derive(Debug)]
pub enum AwsError {
    /// The event is not a room here.
    InvalidEvent,
    /// The event is not a room here, or the request id is malformed.
    InvalidEventOrRequest,
    /// The request id does not belong to this room.
    InvalidRequest,
    /// The same, for calls whose clients expect 404.
    UnknownRequest,
    /// The same, for calls whose clients expect 202, because it may not have arrived yet.
    NotFoundYet,
    /// The serving counter has not reached the position, or no seat is free yet.
    NotServed,
    /// Positions do not expire in this room.
    ExpiryOff,
    /// The position was served and not claimed in time.
    PositionExpired,
    /// The session is completed or abandoned.
    SessionEnded,
    /// There is no such session, or it has ended already.
    NoSession,
    /// The request itself is malformed. The body is that of errors of AWS API Gateway.
    Message(StatusCode, String),
    /// The service is unavailable for the moment.
    Unavailable(Problem),
}

// === impl AwsError ===

impl AwsError {
    /// A 400 with the body of AWS API Gateway's errors.
    #[must_use]
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::Message(StatusCode::BAD_REQUEST, message.into())
    }

    fn error(&self) -> Option<(StatusCode, &'static str)> {
        Some(match self {
            Self::InvalidEvent => (StatusCode::BAD_REQUEST, "Invalid event ID"),
            Self::InvalidEventOrRequest => (StatusCode::BAD_REQUEST, "Invalid event or request ID"),
            Self::InvalidRequest => (StatusCode::BAD_REQUEST, "Invalid request ID"),
            Self::UnknownRequest => (StatusCode::NOT_FOUND, "Invalid request ID"),
            Self::NotFoundYet => (StatusCode::ACCEPTED, "Request ID not found"),
            Self::NotServed => (StatusCode::ACCEPTED, "Request ID not being served yet"),
            Self::ExpiryOff => (StatusCode::ACCEPTED, "Queue position expiration not enabled"),
            Self::PositionExpired => (StatusCode::GONE, "Queue position has expired"),
            Self::SessionEnded => {
                (StatusCode::GONE, "Token corresponding to request id has expired")
            }
            Self::NoSession => {
                (StatusCode::NOT_FOUND, "Request ID doesn't exist or status already set.")
            }
            Self::Message(..) | Self::Unavailable(_) => return None,
        })
    }
}

impl IntoResponse for AwsError {
    fn into_response(self) -> Response {
        let no_store = [("cache-control", "no-store")];
        if let Some((status, error)) = self.error() {
            return (status, no_store, Json(ErrorBody { error })).into_response();
        }
        match self {
            // The gateway of the original lets no page read why it refuses, and pages of its clients take what they may
            // read for success.
            Self::Message(StatusCode::FORBIDDEN, message) => {
                let body = Json(MessageBody { message });
                (StatusCode::FORBIDDEN, no_store, Extension(NotForPages), body).into_response()
            }
            Self::Message(status, message) => {
                (status, no_store, Json(MessageBody { message })).into_response()
            }
            Self::Unavailable(problem) => problem.into_response(),
            _ => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }
}

impl From<Problem> for AwsError {
    fn from(problem: Problem) -> Self {
        Self::Unavailable(problem)
    }
}

impl From<NoName> for AwsError {
    fn from(NoName: NoName) -> Self {
        Self::bad_request(NoName::DETAIL)
    }
}

impl From<StoreError> for AwsError {
    fn from(error: StoreError) -> Self {
        Self::Unavailable(crate::problem_of(&error))
    }
}

impl From<KeyError> for AwsError {
    fn from(error: KeyError) -> Self {
        Self::Unavailable(match error {
            KeyError::Store(error) => crate::problem_of(&error),
            KeyError::Missing => {
                Problem::new(ProblemType::RedisUnavailable).detail("there is no signing key yet")
            }
            other => Problem::internal(&other),
        })
    }
}

impl From<SignerError> for AwsError {
    fn from(error: SignerError) -> Self {
        Self::Unavailable(match error {
            SignerError::Overloaded => Problem::new(ProblemType::Overloaded),
            SignerError::Failed(_) => Problem::internal(&error),
        })
    }
}
