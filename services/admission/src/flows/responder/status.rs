//! The body of every response: what the room's snapshot says about a place.

use vestibule_domain::{Outlook, Place, challenge::endless_line};
use vestibule_token::Ticket;

use super::VisitorResponder;
use crate::flows::{FlowError, Status, VisitorStatus};

// === impl VisitorResponder ===

impl VisitorResponder<'_> {
    /// Where the holder of `ticket` stands, or is told to stand: see [`Self::status`].
    pub(super) fn status_of(
        &self,
        ticket: &Ticket,
        status: Status,
        next_ms: u32,
    ) -> Result<VisitorStatus, FlowError> {
        let place = &ticket.waiter.place;
        let Some(endless) = ticket.endless() else { return self.status(place, status, next_ms) };
        let (snapshot, now) = (&self.room.snapshot, (self.now_ms, self.room.progress()));
        let outlook = endless_line::outlook(snapshot, place.number, now);
        let mut body = self.body(place.number, outlook, status, next_ms);
        body.request_id = Some(self.ciphers.request_ids.seal_nothing(endless.seed));
        Ok(body)
    }

    /// Where `place` stands, with `status`. `next_ms`: after how many ms to ask again; 0: do not.
    pub(super) fn status(
        &self,
        place: &Place,
        status: Status,
        next_ms: u32,
    ) -> Result<VisitorStatus, FlowError> {
        let request_id = self.ciphers.request_ids.seal(*place)?;
        let mut body = self.status_without_id(place.number, status, next_ms);
        body.request_id = Some(request_id);
        Ok(body)
    }

    /// The same for a visitor without a request id.
    pub(super) fn status_without_id(
        &self,
        queue_number: u64,
        status: Status,
        next_ms: u32,
    ) -> VisitorStatus {
        let snapshot = &self.room.snapshot;
        let outlook = snapshot.outlook(queue_number, self.now_ms, self.room.progress());
        self.body(queue_number, outlook, status, next_ms)
    }

    fn body(
        &self,
        queue_number: u64,
        outlook: Outlook,
        status: Status,
        next_ms: u32,
    ) -> VisitorStatus {
        let snapshot = &self.room.snapshot;
        let [p25, p50, p75] = match outlook.wait.quartiles {
            Some(quartiles) => quartiles.map(|seconds| Some(whole(seconds))),
            None => [None; 3],
        };
        let early = snapshot.event.as_ref().filter(|event| event.prequeueing);
        VisitorStatus {
            room: snapshot.room.clone(),
            status,
            reason: self.room.closed_reason(status),
            message: self.room.message(status),
            request_id: None,
            queue_number,
            position: outlook.position,
            people_ahead: outlook.people_ahead,
            wait_seconds: outlook.wait.seconds.map(whole),
            wait_seconds_p25: p25,
            wait_seconds_p50: p50,
            wait_seconds_p75: p75,
            queueing_method: snapshot.settings.queueing_method.name(),
            event_starts_in_seconds: early
                .map(|event| event.start.saturating_sub(self.now_ms / 1000)),
            next_check_in_seconds: f64::from(next_ms.div_ceil(100)) / 10.0,
            access_token: None,
            expires_in: None,
            seat_held_seconds: None,
            stale: self.flows.feed.is_stale(&self.room.known, snapshot, self.now_ms),
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a wait")]
fn whole(seconds: f64) -> u64 {
    seconds.ceil() as u64
}
