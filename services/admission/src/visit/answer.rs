//! What a visitor is answered: one form for every call.

use axum::{
    body::Body,
    http::{
        HeaderValue, Response, StatusCode,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
    response::IntoResponse,
};
use serde::Serialize;
use utoipa::ToSchema;
use vestibule_domain::RoomId;

use super::Carrier;

/// Room for the headers of an answer, those of the layers included, so that the map never grows.
const HEADERS: usize = 12;

/// Where a visitor stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// In line.
    Waiting,
    /// May enter: claim. When a claim answers this, no seat is free yet; ask again.
    YourTurn,
    /// Inside, with a token.
    Admitted,
    /// The session ran out, or the turn was missed for too long: join again.
    Expired,
    /// The session was ended by leaving, or by the site: join again.
    Closed,
}

/// Where a visitor stands, and when to ask again.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct VisitorStatus {
    /// The room.
    #[schema(value_type = String)]
    pub(crate) room: RoomId,
    /// Where the visitor stands.
    pub(crate) status: Status,
    /// The visitor's permanent identity in the room: 36 characters.
    pub(crate) request_id: String,
    /// In order of arrival, from 1 on; 0: let in without a number while the store was away.
    pub(crate) queue_number: u64,
    /// Where the number stands in the line.
    pub(crate) position: u64,
    /// People still there and ahead of this visitor.
    pub(crate) people_ahead: u64,
    /// The expected wait; null: unknown.
    pub(crate) wait_seconds: Option<u64>,
    /// When to ask for the status again. Asking earlier changes nothing.
    pub(crate) next_check_in_seconds: f64,
    /// Opens the gateway: an RS256 token. Only when admitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) access_token: Option<String>,
    /// Seconds until the token expires. Only when admitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires_in: Option<u64>,
    /// The store cannot be reached: this is the last that was known. Absent otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) stale: bool,
}

/// An answer to a visitor, with its newest ticket.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Where the visitor stands.
    pub(crate) body: VisitorStatus,
    /// The newest ticket; `None` takes it away.
    pub(crate) ticket: Option<String>,
    /// How the ticket travels.
    pub(crate) carrier: Carrier,
    /// Whether visitors come over https.
    pub(crate) secure: bool,
}

// === impl Answer ===

impl IntoResponse for Answer {
    fn into_response(self) -> axum::response::Response {
        let mut json = Vec::with_capacity(512);
        if serde_json::to_writer(&mut json, &self.body).is_err() {
            // Only a map with other keys than texts, or a failing writer, cannot be written.
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
        let mut response = Response::new(Body::from(json));
        let headers = response.headers_mut();
        headers.reserve(HEADERS);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        match &self.ticket {
            Some(ticket) => self.carrier.send(headers, &self.body.room, ticket, self.secure),
            None => self.carrier.take(headers, &self.body.room, self.secure),
        }
        response
    }
}
