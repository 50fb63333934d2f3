//! Advancing: the second half of the leader's tick.

use vestibule_domain::{RoomId, tick::TickDecision};

use super::{TickReport, keys};
use crate::{Store, StoreError, keys::Part, scripts};

impl Store {
    /// Applies what was decided from `report` and pushes the room's snapshot to every service.
    /// Refused for a stale leader; without effect on the line when the room was reset since.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], [`StoreError::Fenced`], or as for every call to Redis.
    pub async fn apply_plan(
        &self,
        room: &RoomId,
        epoch: u64,
        reset_epoch: u64,
        report: &TickReport,
        decision: &TickDecision,
    ) -> Result<i64, StoreError> {
        let parts = [
            Part::Line,
            Part::Settings,
            Part::Sessions,
            Part::Rate,
            Part::Rows,
            Part::Presence,
            Part::Grants,
        ];
        let TickDecision { plan, figures, grants } = decision;
        let figures = serde_json::to_string(figures).map_err(StoreError::unexpected)?;
        let mut call = self.timed(&scripts::APPLY_PLAN, &keys(room, parts));
        call.arg(room.as_str()).arg(epoch).arg(plan.serving_counter).arg(plan.promised);
        call.arg(report.survey.promised).arg(figures).arg(reset_epoch);
        call.arg(report.survey.serving_counter);
        call.arg(plan.hazard_increase).arg(grants.regions.len()).arg(grants.anywhere);
        for (region, slots) in &grants.regions {
            call.arg(region).arg(slots);
        }
        for field in &report.gone {
            call.arg(field);
        }
        self.run(&call).await
    }
}
