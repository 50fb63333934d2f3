//! The response to who is let in without a place: by a room that fails open, while the store is away, and by a suspended
//! one that guards its places.

use vestibule_domain::Place;
use vestibule_store::StoreError;

use super::VisitorResponder;
use crate::flows::{CookieChange, FlowError, Status, VisitorResponse};

/// The longest that such a token is valid, in seconds.
const LONGEST_SECONDS: u64 = 60;

// === impl VisitorResponder ===

impl VisitorResponder<'_> {
    /// Lets a visitor in while the store is away, if the room's settings allow it. `cookie`: what becomes of its ticket.
    ///
    /// # Errors
    /// `error` itself, in a room that fails closed.
    pub(in crate::flows) async fn respond_without_store(
        &self,
        error: StoreError,
        cookie: CookieChange,
    ) -> Result<VisitorResponse, FlowError> {
        if !self.room.fails_open(&error) {
            return Err(error.into());
        }
        self.respond_without_place(cookie).await
    }

    /// Lets a visitor in with a token of at most [`LONGEST_SECONDS`], queue number 0 and no ticket.
    ///
    /// # Errors
    /// If it cannot be signed.
    pub(in crate::flows) async fn respond_without_place(
        &self,
        cookie: CookieChange,
    ) -> Result<VisitorResponse, FlowError> {
        let now = self.now_ms / 1000;
        let entered_at = u32::try_from(now).unwrap_or(u32::MAX);
        let region = Place::marked(self.flows.region.index(), true, self.flows.feed.makes_uuids());
        let place = Place { number: 0, entered_at, region };
        let valid = LONGEST_SECONDS.min(self.room.snapshot.settings.session_duration_seconds);
        let record = self.record(now, now + valid)?;
        let next_ms = u32::try_from(valid * 1000).unwrap_or(u32::MAX);
        let mut body = self.status(&place, Status::Admitted, next_ms)?;
        let key = self.room.caller.key;
        let request_id = body.request_id.as_deref().unwrap_or_default();
        body.access_token = Some(self.sign(&place, request_id, &record, key).await?);
        (body.expires_in, body.wait_seconds) = (Some(valid), Some(0));
        Ok(self.response(body, cookie))
    }
}
