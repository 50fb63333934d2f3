//! The proof of a key (`DPoP`) that a call brings, and the request that it must be for.

use axum::http::{HeaderMap, HeaderName};
use vestibule_domain::BoundTo;
use vestibule_token::{ProvenRequest, Ticket};

use crate::flows::{Flows, RoomContext, Unproven};

/// The header that carries a proof.
const PROOF: HeaderName = HeaderName::from_static("dpop");

/// The request that was made.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Its method.
    pub(crate) method: String,
    /// Its address, as its client knows it.
    pub(crate) url: String,
    /// Of whom it was made, and who tells of it.
    pub(crate) by: AskedBy,
}

/// Of whom a request was made, and who tells of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskedBy {
    /// A client, of this service.
    Client,
    /// A gateway, of what a client wants from the site. Its proof may be for the site, and is looked at only if the session
    /// is bound to a key.
    Gateway,
    /// The same gateway, which asks for the page in the place of what it has asked about before, with the same proof.
    GatewayAgain,
}

// === impl Asked ===

impl Asked {
    /// A call of this service: of `path`, below its public address.
    pub(crate) fn of_us(flows: &Flows, method: &axum::http::Method, path: &str) -> Self {
        let (method, url) = (method.as_str().to_owned(), format!("{}{path}", flows.public_url));
        Self { method, url, by: AskedBy::Client }
    }

    /// The same, asked once more by its gateway, for the page.
    #[must_use]
    pub(crate) fn again(self) -> Self {
        Self { by: AskedBy::GatewayAgain, ..self }
    }

    /// Notes in `room` the key that the caller has, by the proof among `headers`.
    ///
    /// # Errors
    /// [`Unproven`], if there is a proof that is not good, or none of the key that the session of `ticket` is bound to.
    pub(crate) fn prove(
        &self,
        flows: &Flows,
        room: &mut RoomContext,
        headers: &HeaderMap,
        ticket: Option<&Ticket>,
    ) -> Result<(), Unproven> {
        let seat = ticket.and_then(Ticket::seat);
        let bound = seat.and_then(|seat| seat.binding).filter(|bound| bound.to == BoundTo::Key);
        if bound.is_none() && !(self.by == AskedBy::Client && headers.contains_key(PROOF)) {
            return Ok(());
        }
        let mut proofs = headers.get_all(PROOF).iter();
        let proof = proofs.next().ok_or(Unproven::Missing)?;
        if proofs.next().is_some() {
            return Err(Unproven::Several);
        }
        let now = room.known.now_ms() / 1000;
        let request = ProvenRequest { method: &self.method, url: &self.url, now };
        let proof = proof.to_str().unwrap_or_default();
        let is_again = self.by == AskedBy::GatewayAgain;
        room.caller.key = Some(flows.proofs.take(proof, request, is_again)?);
        match bound {
            Some(bound) if !room.bindings_to(BoundTo::Key).contains(&bound) => {
                Err(Unproven::OtherKey)
            }
            _ => Ok(()),
        }
    }
}
