//! What a site is answered that does not get tokens (RFC 6749, 5.2).

use axum::{
    Json,
    http::{
        HeaderValue, StatusCode,
        header::{CACHE_CONTROL, PRAGMA, WWW_AUTHENTICATE},
    },
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;
use vestibule_runtime::problem::{Problem, ProblemType};

/// Why there are no tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TokenError {
    /// Something is missing, there twice, or wrong.
    InvalidRequest(&'static str),
    /// The client has not proven who it is.
    InvalidClient {
        /// Whether it has tried to in `Authorization`.
        by_header: bool,
    },
    /// The code is not one that this client may exchange now.
    InvalidGrant(&'static str),
    /// Not `authorization_code`.
    UnsupportedGrantType,
}

/// What is wrong, as OAuth names it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OAuthError {
    /// `invalid_request`, `invalid_client`, `invalid_grant` or `unsupported_grant_type`.
    error: &'static str,
    /// The same for people.
    error_description: &'static str,
}

// === impl TokenError ===

impl TokenError {
    fn body(&self) -> OAuthError {
        let (error, error_description) = match self {
            Self::InvalidRequest(reason) => ("invalid_request", *reason),
            Self::InvalidClient { .. } => (
                "invalid_client",
                "client_id and client_secret are not those of a client of this room",
            ),
            Self::InvalidGrant(reason) => ("invalid_grant", *reason),
            Self::UnsupportedGrantType => {
                ("unsupported_grant_type", "grant_type must be authorization_code")
            }
        };
        OAuthError { error, error_description }
    }
}

impl IntoResponse for TokenError {
    fn into_response(self) -> Response {
        let status = match self {
            Self::InvalidClient { .. } => StatusCode::UNAUTHORIZED,
            _ => StatusCode::BAD_REQUEST,
        };
        let headers = [(CACHE_CONTROL, "no-store"), (PRAGMA, "no-cache")];
        let mut response = (status, headers, Json(self.body())).into_response();
        if self == (Self::InvalidClient { by_header: true }) {
            let scheme = HeaderValue::from_static(r#"Basic realm="oidc""#);
            response.headers_mut().insert(WWW_AUTHENTICATE, scheme);
        }
        response
    }
}

impl TokenError {
    /// A body that is no form; what else is wrong with it stays a problem.
    ///
    /// # Errors
    /// `problem` itself.
    pub(crate) fn of_body(problem: Problem) -> Result<Self, Problem> {
        match problem.kind() {
            ProblemType::InvalidRequest | ProblemType::UnsupportedMediaType => Ok(
                Self::InvalidRequest("the body must be a form (application/x-www-form-urlencoded)"),
            ),
            _ => Err(problem),
        }
    }
}
