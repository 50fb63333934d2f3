//! The part of the AWS-style API that both services share: its errors, its bodies, and
//! `generate_token`.
//!
//! Its clients rely on exact status codes and bodies, so errors are not problem documents: an error
//! is `{"error": "…"}`, and one found before the call itself is `{"message": "…"}`.

mod error;
mod generate_token;
mod responses;

use axum::{Json, response::IntoResponse};
use serde::Serialize;
use utoipa::ToSchema;

pub use error::AwsError;
pub use generate_token::{GenerateTokenContext, generate_token};
pub use responses::{AwsBadRequest, AwsMalformed};

/// An AWS-style error: `{"error": "…"}`.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ErrorBody {
    /// What is wrong.
    pub error: &'static str,
}

/// What a gateway in front of the AWS-style API says: `{"message": "…"}`.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct MessageBody {
    /// What is wrong.
    pub message: String,
}

/// The tokens of a visitor who may enter.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Tokens {
    /// Opens the gateway.
    pub access_token: String,
    /// The same claims with `token_use` `refresh`; there is no refresh grant.
    pub refresh_token: String,
    /// The same claims with `token_use` `id`.
    pub id_token: String,
    /// Always `Bearer`.
    #[schema(example = "Bearer")]
    pub token_type: &'static str,
    /// Seconds until the tokens expire; 0 once they have.
    pub expires_in: u64,
}

// === impl Tokens ===

impl IntoResponse for Tokens {
    fn into_response(self) -> axum::response::Response {
        ([("cache-control", "no-store")], Json(self)).into_response()
    }
}
