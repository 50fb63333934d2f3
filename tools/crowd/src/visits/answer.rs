//! What visitors hear: the answers to their calls as far as they act on them. Nothing is decided here.

use reqwest::StatusCode;
use serde::{Deserialize, de::IgnoredAny};

use crate::record::Estimate;

/// Where a visitor stands, as admission says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Standing {
    /// In the line.
    Waiting,
    /// May claim a seat.
    YourTurn,
    /// Inside.
    Admitted,
    /// Came back too late, or the session is over.
    Expired,
    /// The room lets nobody join.
    Closed,
}

/// The part of an answer's body that a visitor acts on. Unknown fields are ignored, and what
/// is left out is not known.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Answer {
    /// Where the visitor stands.
    pub(crate) status: Standing,
    /// The visitor's identity in the room.
    pub(crate) request_id: Option<String>,
    /// The number drawn on arrival.
    pub(crate) queue_number: Option<u64>,
    /// Where that number stands in the line, if there is an order.
    pub(crate) position: Option<u64>,
    /// Visitors ahead, if known.
    pub(crate) people_ahead: Option<f64>,
    /// The estimated wait, if known.
    pub(crate) wait_seconds: Option<f64>,
    /// A quarter of all chances are that the wait is no longer; only where chance decides.
    pub(crate) wait_seconds_p25: Option<f64>,
    /// Half of all chances.
    pub(crate) wait_seconds_p50: Option<f64>,
    /// Three quarters of all chances.
    pub(crate) wait_seconds_p75: Option<f64>,
    /// When to come back.
    pub(crate) next_check_in_seconds: Option<f64>,
    /// How long the session lasts, once admitted.
    pub(crate) expires_in: Option<f64>,
    /// That there is a token for the site. What it says is nobody's business here.
    pub(crate) access_token: Option<IgnoredAny>,
}

/// What came of a call.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    /// A proper answer.
    Answer(Box<Answer>),
    /// The seat was given back.
    Left,
    /// 503 or 429: come back after so many seconds.
    Shed {
        /// The status that said so.
        status: StatusCode,
        /// `Retry-After`, in seconds.
        retry_after: f64,
    },
    /// Any other status.
    Refused(StatusCode),
    /// No whole answer came back: `connect`, `disconnected` or `timeout`.
    Broken(&'static str),
    /// 2xx with a body that is no answer.
    Garbled,
}

// === impl Answer ===

impl Answer {
    /// What it says about the wait, heard at `at`.
    pub(crate) fn estimate(&self, at: f64) -> Option<Estimate> {
        let quartiles =
            || Some([self.wait_seconds_p25?, self.wait_seconds_p50?, self.wait_seconds_p75?]);
        Some(Estimate::new(at, self.wait_seconds?, quartiles()))
    }
}

// === impl Outcome ===

impl Outcome {
    /// Whether the caller was told that it has too much.
    pub(crate) fn is_too_many(&self) -> bool {
        matches!(self, Self::Shed { status: StatusCode::TOO_MANY_REQUESTS, .. })
    }

    /// What the call counts as in the report's table of errors; `None` when all is well.
    pub(crate) fn error(&self) -> Option<String> {
        match self {
            Self::Answer(_) | Self::Left => None,
            Self::Shed { status, .. } | Self::Refused(status) => Some(status.as_u16().to_string()),
            Self::Broken(how) => Some((*how).to_owned()),
            Self::Garbled => Some("garbled".to_owned()),
        }
    }
}
