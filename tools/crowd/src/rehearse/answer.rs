//! What visitors ask of admission and what the answers mean: the part of the HTTP contract that this
//! tool knows. No request is made here, and nothing is decided; `client` calls, `journey` decides.

use reqwest::{
    Method, StatusCode,
    header::{HeaderMap, RETRY_AFTER},
};
use serde::Deserialize;

use crate::{crowd::Call, record::Estimate};

/// Pause when a 503 does not say how long, in seconds.
const DEFAULT_RETRY_AFTER: f64 = 1.0;
/// No visitor waits longer than this because of a `Retry-After`, in seconds.
const LONGEST_RETRY_AFTER: f64 = 600.0;

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

/// The part of an answer's body that a visitor acts on. Unknown fields are ignored.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Answer {
    /// Where the visitor stands.
    pub(crate) status: Standing,
    /// The visitor's identity in the room.
    #[serde(default)]
    pub(crate) request_id: Option<String>,
    /// The number drawn on arrival.
    #[serde(default)]
    pub(crate) queue_number: Option<u64>,
    /// Where that number stands in the line, if there is an order.
    #[serde(default)]
    pub(crate) position: Option<u64>,
    /// Visitors ahead, if known.
    #[serde(default)]
    pub(crate) people_ahead: Option<f64>,
    /// The estimated wait, if known.
    #[serde(default)]
    pub(crate) wait_seconds: Option<f64>,
    /// A quarter of all chances are that the wait is no longer; only where chance decides.
    #[serde(default)]
    pub(crate) wait_seconds_p25: Option<f64>,
    /// Half of all chances.
    #[serde(default)]
    pub(crate) wait_seconds_p50: Option<f64>,
    /// Three quarters of all chances.
    #[serde(default)]
    pub(crate) wait_seconds_p75: Option<f64>,
    /// When to come back.
    #[serde(default)]
    pub(crate) next_check_in_seconds: Option<f64>,
    /// How long the session lasts, once admitted.
    #[serde(default)]
    pub(crate) expires_in: Option<f64>,
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

/// The HTTP method of a call.
pub(crate) fn method(call: Call) -> Method {
    if call == Call::Status { Method::GET } else { Method::POST }
}

/// What a complete response to `call` comes down to.
pub(crate) fn interpret(
    call: Call,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
) -> Outcome {
    match status {
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
            Outcome::Shed { status, retry_after: retry_after(headers) }
        }
        status if !status.is_success() => Outcome::Refused(status),
        _ if call == Call::Leave => Outcome::Left,
        _ => serde_json::from_slice(body).map_or(Outcome::Garbled, Outcome::Answer),
    }
}

fn retry_after(headers: &HeaderMap) -> f64 {
    let text = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let seconds = text.and_then(|text| text.trim().parse::<f64>().ok());
    seconds.filter(|s| (0.0..=LONGEST_RETRY_AFTER).contains(s)).unwrap_or(DEFAULT_RETRY_AFTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shed(retry_after: &str) -> Outcome {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, retry_after.parse().unwrap());
        interpret(Call::Join, StatusCode::SERVICE_UNAVAILABLE, &headers, b"")
    }

    #[test]
    fn obeys_retry_after_when_it_makes_sense() {
        assert!(matches!(shed("7"), Outcome::Shed { retry_after: 7.0, .. }));
        assert!(matches!(shed("-1"), Outcome::Shed { retry_after: 1.0, .. }));
        assert!(matches!(shed("soon"), Outcome::Shed { retry_after: 1.0, .. }));
    }

    #[test]
    fn reads_answers_leniently() {
        let read = |body: &[u8]| interpret(Call::Status, StatusCode::OK, &HeaderMap::new(), body);
        let Outcome::Answer(answer) = read(br#"{"status":"your_turn","wait_seconds":null,"x":1}"#)
        else {
            panic!("this is an answer");
        };
        assert_eq!(answer.status, Standing::YourTurn);
        assert_eq!(answer.queue_number, None);
        let random = br#"{"status":"waiting","queueing_method":"random","position":null,
            "people_ahead":null,"wait_seconds":8,"wait_seconds_p25":3,"wait_seconds_p50":8,
            "wait_seconds_p75":16}"#;
        let Outcome::Answer(answer) = read(random) else { panic!("this is an answer") };
        assert_eq!((answer.position, answer.people_ahead), (None, None));
        assert_eq!(answer.estimate(1.0), Some(Estimate::new(1.0, 8.0, Some([3.0, 8.0, 16.0]))));
        assert!(matches!(read(b"<html>"), Outcome::Garbled));
        assert!(matches!(read(br#"{"status":"dancing"}"#), Outcome::Garbled));
    }
}
