//! Where a visitor stands: the body of every response to a visitor's call in the public API.

use serde::Serialize;
use utoipa::ToSchema;
use vestibule_domain::RoomId;

/// Where a visitor stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// In line.
    Waiting,
    /// May enter: claim. When a claim answers this, no seat is free yet; ask again.
    YourTurn,
    /// Inside, with a token.
    Admitted,
    /// The session ran out, the turn was missed for too long, or the place was revoked: join again.
    Expired,
    /// The session was ended by leaving, or by the site: join again. Or, with a `reason`: the room lets nobody in;
    /// whoever has a place keeps it.
    Closed,
}

/// Why a room lets nobody in, or not this visitor any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Nothing is left.
    SoldOut,
    /// Its `queueing_method` is `reject`.
    TurnedAway,
    /// An operator has taken the place.
    Revoked,
}

/// Where a visitor stands, and when to ask again.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct VisitorStatus {
    /// The room.
    #[schema(value_type = String)]
    pub room: RoomId,
    /// Where the visitor stands.
    pub status: Status,
    /// Why, if it is not the visitor's own doing. Only when `closed` or `expired`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Reason, required = false)]
    pub reason: Option<Reason>,
    /// What the operator says to visitors in this state, as plain text, in the language that `Accept-Language` prefers
    /// or the next best; absent if nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    pub message: Option<String>,
    /// The visitor's permanent identity in the room: 36 characters. Absent for someone who was
    /// turned away.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    pub request_id: Option<String>,
    /// In order of arrival, from 1 on; 0: let in without a number while the store was away, or
    /// turned away without one.
    pub queue_number: u64,
    /// Where the number stands in the line; null before its draw, and where chance decides.
    pub position: Option<u64>,
    /// People still there and ahead of this visitor; null as for `position`.
    pub people_ahead: Option<u64>,
    /// The expected wait; null: unknown.
    pub wait_seconds: Option<u64>,
    /// Where chance decides: a quarter of those who wait like this have entered after so long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_seconds_p25: Option<u64>,
    /// The same of half of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_seconds_p50: Option<u64>,
    /// The same of three quarters of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_seconds_p75: Option<u64>,
    /// How the room chooses who enters next.
    #[schema(value_type = String, example = "fifo")]
    pub queueing_method: &'static str,
    /// Seconds until the event starts that this visitor came early for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_starts_in_seconds: Option<u64>,
    /// When to ask for the status again. Asking earlier changes nothing. 0 when `closed` or
    /// `expired`: not by itself.
    pub next_check_in_seconds: f64,
    /// Opens the gateway: a signed token (a JWT). Only when admitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_token: Option<String>,
    /// Seconds until the token expires. Only when admitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<u64>,
    /// A seat is held for the visitor for so long: claim within it. Only for `your_turn`, if the claim asked
    /// for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seat_held_seconds: Option<u64>,
    /// The store cannot be reached: this is the last that was known. Absent otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
}

// === impl Status ===

impl Status {
    /// Its name, as answers have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::YourTurn => "your_turn",
            Self::Admitted => "admitted",
            Self::Expired => "expired",
            Self::Closed => "closed",
        }
    }
}

// === impl VisitorStatus ===

impl VisitorStatus {
    /// When to ask again, in ms; 0: not by itself.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an interval")]
    pub(crate) fn next_check_in_ms(&self) -> u32 {
        (self.next_check_in_seconds * 1000.0).ceil() as u32
    }

    /// The visitor may enter: there is nothing left to wait for but a seat.
    pub(crate) fn clear_wait(&mut self) {
        self.wait_seconds = Some(0);
        (self.wait_seconds_p25, self.wait_seconds_p50, self.wait_seconds_p75) = (None, None, None);
    }
}
