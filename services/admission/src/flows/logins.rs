//! Logging visitors in at sites, by OpenID Connect: somebody who is inside gets a code for the site, and the site gets
//! tokens for the code, once. Nothing of this is stored but that a code was used.

use vestibule_token::{Grant, IdClaims, Login, Mark, TokenUse};

use super::{FlowError, Flows, RoomContext, Status, VisitorResponse, responder::VisitorResponder};

/// What a site gets for a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoginTokens {
    /// The visitor's access token.
    pub(crate) access_token: String,
    /// That it is for this site.
    pub(crate) id_token: String,
    /// Seconds until both expire.
    pub(crate) expires_in: u64,
}

// === impl Flows ===

impl Flows {
    /// The code of a visitor who was answered `response`, for the site that has asked for `login`; `None`: it is not
    /// inside, or was let in without a place while Redis was away.
    pub(crate) fn grant(
        room: &RoomContext,
        login: &Login,
        response: &VisitorResponse,
    ) -> Option<String> {
        let ticket = response.cookie.ticket()?;
        let seat = ticket.seat().filter(|_| response.status.status == Status::Admitted)?;
        let place = ticket.waiter.place;
        let grant = Grant {
            client: login.client.clone(),
            redirect_uri: login.redirect_uri.clone(),
            nonce: login.nonce.clone(),
            challenge: login.challenge.clone(),
            number: place.number,
            entered_at: place.entered_at,
            region: place.region,
            issued_at: seat.issued_at,
            expires_at: seat.expires_at,
            seen_at: room.known.now_ms() / 1000,
        };
        Some(response.ciphers.codes.seal(&grant))
    }

    /// Uses the `code`, which was opened as `grant`, and returns what the provider `issuer` gives for it; `None`: it has
    /// expired or was used before, or the visitor's session is over.
    ///
    /// # Errors
    /// [`FlowError::Signer`], before the code is used; [`FlowError::Store`], and then it may have been used.
    pub(crate) async fn exchange(
        &self,
        room: &RoomContext,
        code: &str,
        grant: &Grant,
        issuer: String,
    ) -> Result<Option<LoginTokens>, FlowError> {
        let now = room.known.now_ms() / 1000;
        let is_over = room.known.has_ended(room.ciphers.reset_epoch, grant.number);
        if is_over || grant.until() <= now || grant.expires_at <= now {
            return Ok(None);
        }
        // Signed first: a code whose tokens cannot be made is not lost.
        let tokens = self.login_tokens(room, grant, issuer, now).await?;
        let mark = Mark::of(code, grant.until());
        let is_first = self.spends.spend(&room.snapshot.room, mark).await?;
        Ok(is_first.then_some(tokens))
    }

    async fn login_tokens(
        &self,
        room: &RoomContext,
        grant: &Grant,
        issuer: String,
        now: u64,
    ) -> Result<LoginTokens, FlowError> {
        let responder = VisitorResponder::new(self, room);
        let record = responder.record(grant.issued_at, grant.expires_at)?;
        let place = grant.place();
        let sub = room.ciphers.request_ids.seal(place)?;
        let access_token = responder.sign(&place, &sub, &record, None).await?;
        let claims = IdClaims {
            at_hash: IdClaims::hash_of(&access_token),
            aud: grant.client.clone(),
            auth_time: grant.seen_at,
            exp: grant.expires_at,
            iat: now,
            iss: issuer,
            nonce: grant.nonce.clone(),
            sub,
            token_use: TokenUse::Id,
        };
        let key = self.keys.get(&record.key_id, now).map_err(|_| FlowError::NoSigningKey)?;
        let id_token = self.signer.sign_id(key, claims).await?;
        Ok(LoginTokens { access_token, id_token, expires_in: grant.expires_at - now })
    }
}
