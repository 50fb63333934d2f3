//! What tells a room's inlet something: who has left, and how its alarm stands. By calls with a token, or by messages of
//! Amazon SNS, which do the same.

pub(crate) mod get_inlet;
pub(crate) mod receive_notification;
mod replace;
pub(crate) mod report_exits;
pub(crate) mod set_inlet_alarm;

use serde::Serialize;
use utoipa::ToSchema;
use vestibule_domain::{inlet::AlarmState, schedule::moment};
use vestibule_store::InletAlarm;

/// How the alarm stands that stops the room's periodic inlet.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct InletAlarmState {
    /// How it stands: only `ALARM` stops the inlet.
    state: AlarmState,
    /// Of which moment that is; null: nobody has told anything.
    #[schema(format = DateTime)]
    at: Option<String>,
}

// === impl InletAlarmState ===

impl From<Option<InletAlarm>> for InletAlarmState {
    fn from(alarm: Option<InletAlarm>) -> Self {
        let state = alarm.map(|alarm| alarm.alarm).unwrap_or_default();
        Self { state, at: alarm.and_then(|alarm| moment::write(alarm.at_ms / 1_000).ok()) }
    }
}
