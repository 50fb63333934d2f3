//! The response of a room that fails open, while the store is away.

use vestibule_domain::{OnRedisFailure, Place};
use vestibule_store::StoreError;

use super::VisitorResponder;
use crate::flows::{CookieChange, FlowError, Status, VisitorResponse};

/// The longest that a token of a room that fails open is valid, in seconds.
const EMERGENCY_SECONDS: u64 = 60;

// === impl VisitorResponder ===

impl VisitorResponder<'_> {
    /// Lets a visitor in while the store is away, if the room's settings allow it: with a token of at
    /// most [`EMERGENCY_SECONDS`], queue number 0 and no ticket.
    ///
    /// # Errors
    /// `error` itself, in a room that fails closed.
    pub(in crate::flows) async fn respond_without_store(
        &self,
        error: StoreError,
    ) -> Result<VisitorResponse, FlowError> {
        let settings = &self.room.snapshot.settings;
        let open = settings.on_redis_failure == OnRedisFailure::Open;
        if !open || !matches!(error, StoreError::Unavailable(_)) {
            return Err(error.into());
        }
        let now = self.now_ms / 1000;
        let entered_at = u32::try_from(now).unwrap_or(u32::MAX);
        let region = Place::marked(self.flows.region.index(), true, self.flows.feed.makes_uuids());
        let place = Place { number: 0, entered_at, region };
        let valid = EMERGENCY_SECONDS.min(settings.session_duration_seconds);
        let record = self.record(now, now + valid)?;
        let next_ms = u32::try_from(valid * 1000).unwrap_or(u32::MAX);
        let mut body = self.status(&place, Status::Admitted, next_ms)?;
        let key = self.room.caller.key;
        let request_id = body.request_id.as_deref().unwrap_or_default();
        body.access_token = Some(self.sign(&place, request_id, &record, key).await?);
        (body.expires_in, body.wait_seconds) = (Some(valid), Some(0));
        Ok(self.response(body, CookieChange::Remove))
    }
}
