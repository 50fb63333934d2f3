//! What only the leader can compute, and every service goes by.

use serde::{Deserialize, Deserializer, Serialize};

/// Figures that only the leader can compute, from presence and from the pace of the last seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TickFigures {
    /// Everyone waiting who is still there.
    pub waiting: u64,
    /// Of those, who ask when they are told to; `None`: all of them.
    pub polling: Option<u64>,
    /// Admissions per second as shown to operators: the expected pace while people wait, else the
    /// measured one.
    pub admissions_per_second: f64,
    /// Admissions per second that waiting visitors can expect; 0: unknown. `None`: the same as
    /// `admissions_per_second`.
    pub expected_per_second: Option<f64>,
    /// The fastest pace seen lately, in admissions per second: people who entered together may leave
    /// together. `None`: what the ceiling makes possible.
    pub fastest_per_second: Option<f64>,
    /// The share of the waiting who give up per second.
    #[serde(deserialize_with = "zero_if_null")]
    pub leaving_per_second: f64,
    /// Recent newcomers per second who ask when they are told to.
    pub newcomers_per_second: f64,
    /// Waiting visitors of AWS-style clients, who cannot check in.
    pub unattended: u64,
    /// Points (position, people still there up to it), rising, as drawn by the tick.
    pub ahead: Vec<(u64, u64)>,
    /// When the rate limit admits the next one, if its window is used up, ms.
    pub rate_resumes_at_ms: u64,
    /// Sessions that had begun when the tick counted the waiting visitors; `None` before the first
    /// tick.
    pub admitted: Option<u64>,
    /// Up to where AWS-style clients are told that their turn has come, in a room whose serving counter follows its
    /// seats; `None`: up to the serving counter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown: Option<u64>,
}

/// Earlier releases wrote null where the share was infinite.
fn zero_if_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

// === impl TickFigures ===

impl TickFigures {
    /// Admissions per second to expect; 0: unknown.
    pub(super) fn expected_pace(&self) -> f64 {
        self.expected_per_second.unwrap_or(self.admissions_per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_was_written_as_null_keeps_no_room_from_being_read() {
        let figures: TickFigures =
            serde_json::from_str(r#"{"waiting":3,"leaving_per_second":null}"#).unwrap();
        assert_eq!(figures, TickFigures { waiting: 3, ..TickFigures::default() });
    }
}
