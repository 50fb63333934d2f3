//! Redeeming: a site exchanges what its visitor has shown for who the visitor is, once.

use vestibule_store::RedeemOutcome;
use vestibule_token::{Claims, Ticket, VerifyError};

use super::{FlowError, Flows, RoomContext};

/// Whose session it is, and until when what was shown is valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Redeemer {
    /// The visitor's request id.
    pub(crate) request_id: String,
    /// Its queue number.
    pub(crate) number: u64,
    /// When what was shown was issued, unix seconds.
    pub(crate) issued_at: u64,
    /// When it expires, unix seconds.
    pub(crate) expires_at: u64,
    /// Whether the session is somebody's who has to prove it elsewhere.
    pub(crate) is_bound: bool,
}

// === impl Redeemer ===

impl Redeemer {
    /// Whose session `ticket` is of; `None`: it is of no session.
    ///
    /// # Errors
    /// [`FlowError::RequestId`].
    pub(crate) fn of_ticket(
        room: &RoomContext,
        ticket: &Ticket,
    ) -> Result<Option<Self>, FlowError> {
        let Some(seat) = ticket.seat() else { return Ok(None) };
        let place = ticket.waiter.place;
        Ok(Some(Self {
            request_id: room.ciphers.request_ids.seal(place)?,
            number: place.number,
            issued_at: seat.issued_at,
            expires_at: seat.expires_at,
            is_bound: seat.binding.is_some(),
        }))
    }
}

// === impl Flows ===

impl Flows {
    /// Whose session the access token `token` is of.
    ///
    /// # Errors
    /// As [`Self::claims_of`].
    pub(crate) async fn redeemer_of_token(
        &self,
        room: &RoomContext,
        token: &str,
    ) -> Result<Result<Redeemer, VerifyError>, FlowError> {
        Ok(self.claims_of(room, token).await?.map(|claims| {
            let Claims { sub, queue_position, iat, exp, cnf, .. } = claims;
            Redeemer {
                request_id: sub,
                number: queue_position,
                issued_at: iat,
                expires_at: exp,
                is_bound: cnf.is_some(),
            }
        }))
    }

    /// What the access token `token` says.
    ///
    /// # Errors
    /// The inner one if it does not open `room`; the outer one if Redis does not answer when that may be because this
    /// instance has not heard of a new key yet.
    pub(crate) async fn claims_of(
        &self,
        room: &RoomContext,
        token: &str,
    ) -> Result<Result<Claims, VerifyError>, FlowError> {
        let now = || room.known.now_ms() / 1000;
        // Those of AWS-style calls have the event id.
        let names = [room.snapshot.room.as_str(), room.snapshot.event_id()];
        let verified = self.keys.verify(token, &names, now());
        if verified != Err(VerifyError::UnknownKey) {
            return Ok(verified);
        }
        self.keys.catch_up().await.map_err(|_| FlowError::NoSigningKey)?;
        Ok(self.keys.verify(token, &names, now()))
    }

    /// Redeems the session. `call`: what its caller calls the call, so that it may be sent again.
    pub(crate) async fn redeem(
        &self,
        room: &RoomContext,
        redeemer: &Redeemer,
        call: Option<&str>,
    ) -> Result<RedeemOutcome, FlowError> {
        let digests = |call: &str| room.ciphers.clients.all("redeem", &[call.as_bytes()]).collect();
        let calls: Vec<u64> = call.map(digests).unwrap_or_default();
        let (name, epoch, number) =
            (&room.snapshot.room, room.ciphers.reset_epoch, redeemer.number);
        let session = (name.clone(), epoch, number);
        if let Some(before) = self.redemptions.by_another(&session, &calls) {
            return Ok(RedeemOutcome::Already(before));
        }
        let outcome = self.store.redeem(name, epoch, number, &calls).await?;
        if let RedeemOutcome::Already(before) = outcome {
            self.redemptions.note(session, before);
        }
        Ok(outcome)
    }
}
