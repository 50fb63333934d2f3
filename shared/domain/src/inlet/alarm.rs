//! The alarm that stops the periodic inlet, in the words of Amazon `CloudWatch`, so that what its alarms tell can be read
//! as it is.

use serde::{Deserialize, Serialize};

/// How the alarm stands. Only one of them stops the inlet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AlarmState {
    /// All is well.
    #[default]
    Ok,
    /// The inlet serves nobody.
    Alarm,
    /// Nobody knows, and the inlet goes on.
    InsufficientData,
}

/// What an alarm of `CloudWatch` tells, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct AlarmChange {
    /// How it stands from now on.
    pub new_state_value: AlarmState,
}

// === impl AlarmState ===

impl AlarmState {
    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Alarm => "ALARM",
            Self::InsufficientData => "INSUFFICIENT_DATA",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cloudwatch_tells_is_read_as_it_is() {
        for state in [AlarmState::Ok, AlarmState::Alarm, AlarmState::InsufficientData] {
            let told = format!(
                r#"{{"AlarmName":"busy","NewStateValue":"{}","OldStateValue":"OK","Region":"EU (Ireland)",
                    "StateChangeTime":"2026-11-05T10:00:00.000+0000","Trigger":{{"Period":60}}}}"#,
                state.name()
            );
            let read: AlarmChange = serde_json::from_str(&told).unwrap();
            assert_eq!(read.new_state_value, state);
            assert_eq!(serde_json::to_value(state).unwrap(), state.name());
        }
        assert!(serde_json::from_str::<AlarmState>(r#""alarm""#).is_err());
    }
}
