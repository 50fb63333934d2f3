//! Answers to someone who is inside, with the access token.

use vestibule_domain::{BoundTo, Place, SessionNote, poll};
use vestibule_issuance::TokenSubject;
use vestibule_store::TokenRecord;
use vestibule_token::{Seat, Thumbprint, Ticket, TicketState, TokenUse};

use super::VisitorResponder;
use crate::flows::{CookieChange, FlowError, Status, VisitorResponse};

// === impl VisitorResponder ===

impl VisitorResponder<'_> {
    /// Answers someone who is inside, with a token for `record`. `generation`: that of the room's
    /// state that granted the session, or [`Seat::UNCOUNTED`].
    ///
    /// # Errors
    /// [`FlowError::Signer`] when too much waits to be signed.
    pub(in crate::flows) async fn respond_inside(
        &self,
        mut ticket: Ticket,
        record: &TokenRecord,
        generation: u32,
    ) -> Result<VisitorResponse, FlowError> {
        let (issued_at, expires_at) = (record.issued_at, record.expires_at);
        let (noted, before) = (record.note.binding, ticket.seat());
        let binding = match before.filter(Seat::is_counted) {
            Some(seat) => self.room.binding_of(noted, &seat),
            None => noted.or_else(|| self.room.new_binding()),
        };
        let seat = Seat { issued_at, expires_at, generation, binding };
        // A ticket with a binding forgets how its holder waited.
        let unbound = Seat { binding: None, ..seat };
        ticket.state = TicketState::Held(if seat.is_counted() { seat } else { unbound });
        ticket.waiter.heard_at = self.now_ms;
        let place = ticket.waiter.place;
        let mut body = self.status(&place, Status::Admitted, self.next_inside_ms(record))?;
        (body.people_ahead, body.wait_seconds) = (Some(0), Some(0));
        body.expires_in = Some(expires_at.saturating_sub(self.now_ms / 1000));
        let request_id = body.request_id.as_deref().unwrap_or_default();
        let key = self.room.caller.key.filter(|_| binding.is_some_and(|to| to.to == BoundTo::Key));
        body.access_token = Some(self.sign(&place, request_id, record, key).await?);
        Ok(self.response(body, CookieChange::Set(ticket)))
    }

    /// The record of a token with these times (unix seconds), to be signed by the current key.
    ///
    /// # Errors
    /// [`FlowError::NoSigningKey`].
    pub(in crate::flows) fn record(
        &self,
        issued_at: u64,
        expires_at: u64,
    ) -> Result<TokenRecord, FlowError> {
        let key = self.flows.keys.current().map_err(|_| FlowError::NoSigningKey)?;
        let issuer = self.issuer().to_owned();
        let (key_id, note) = (key.kid().to_owned(), SessionNote::default());
        Ok(TokenRecord { issued_at, expires_at, key_id, issuer, note })
    }

    /// The record of the token of a visitor inside a suspended room who has no seat: with the
    /// times of `seat`, or with new times in the second half of its life.
    ///
    /// # Errors
    /// [`FlowError::NoSigningKey`].
    pub(in crate::flows) fn uncounted_record(&self, seat: &Seat) -> Result<TokenRecord, FlowError> {
        let now = self.now_ms / 1000;
        let session = self.room.snapshot.settings.session_duration_seconds;
        if seat.expires_at > now + session / 2 {
            return self.record(seat.issued_at, seat.expires_at);
        }
        self.record(now, now + session)
    }

    /// After how many ms a visitor inside should ask again: in time to renew the session, or at its end
    /// where sessions are not renewed.
    fn next_inside_ms(&self, record: &TokenRecord) -> u32 {
        let settings = &self.room.snapshot.settings;
        let left = record.expires_at.saturating_sub(self.now_ms / 1000);
        let seconds = if settings.disable_session_renewal {
            left
        } else {
            let life = record.expires_at - record.issued_at;
            seconds_to_renewal(life, left, settings.session_duration_seconds)
        };
        u32::try_from(seconds * 1000).unwrap_or(u32::MAX).max(poll::YOUR_TURN_INTERVAL_MS)
    }

    pub(in crate::flows) async fn sign(
        &self,
        place: &Place,
        request_id: &str,
        record: &TokenRecord,
        bound_to: Option<Thumbprint>,
    ) -> Result<String, FlowError> {
        let key = self
            .flows
            .keys
            .get(&record.key_id, self.now_ms / 1000)
            .map_err(|_| FlowError::NoSigningKey)?;
        let subject = TokenSubject {
            audience: self.room.snapshot.room.as_str(),
            request_id,
            place: *place,
            key: bound_to,
        };
        let mut tokens = self.flows.signer.sign(key, subject, record, &[TokenUse::Access]).await?;
        Ok(tokens.pop().unwrap_or_default())
    }
}

/// After how many seconds to ask for the renewal of a token that lives for `life` seconds, of which some are left, where
/// sessions last for `session` now. It is renewed when no more than half a session is left of it.
fn seconds_to_renewal(life: u64, left: u64, session: u64) -> u64 {
    let due_in = left.saturating_sub(session / 2);
    match life / 2 {
        half if half < left => half,
        // Sessions were longer when it began, or this token is the last.
        _ if due_in > 0 => due_in,
        _ => left,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_inside_asks_in_time_for_a_renewal_and_never_after_the_end() {
        assert_eq!(seconds_to_renewal(300, 300, 300), 150, "a new token");
        assert_eq!(seconds_to_renewal(300, 151, 300), 150);
        assert_eq!(
            seconds_to_renewal(300, 60, 300),
            60,
            "the last one, of a visit that has a longest time"
        );
        assert_eq!(seconds_to_renewal(3600, 1500, 60), 1470, "sessions were longer");
        for (life, session) in [(300, 300), (3600, 60), (60, 3600), (1, 1)] {
            for left in 0..=life {
                assert!(seconds_to_renewal(life, left, session) <= left, "{left} of {life}");
            }
        }
    }
}
