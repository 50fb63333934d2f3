//! `generate_token`, public and private: the status matrix that AWS-style clients rely on.

use std::sync::Arc;

use vestibule_store::{Claim, KnownRoom, Outcome, SessionKind, TokenRecord};
use vestibule_token::{RequestIdError, TokenUse};

use super::{Answer, Tokens};
use crate::{Desk, KeyKeeper, Seals, Signer, TokenFor};

/// What `generate_token` needs of the service that offers it.
#[derive(Debug, Clone, Copy)]
pub struct Generate<'a> {
    /// Where claims are handed in.
    pub desk: &'a Desk,
    /// The key ring.
    pub keys: &'a KeyKeeper,
    /// The ciphers.
    pub seals: &'a Seals,
    /// The signing threads.
    pub signer: &'a Signer,
    /// The issuer of a first token.
    pub issuer: &'a str,
    /// Another validity of a first token than the room's, in seconds.
    pub validity_seconds: Option<u64>,
}

const USES: [TokenUse; 3] = [TokenUse::Access, TokenUse::Refresh, TokenUse::Id];

/// Lets the visitor of `request_id` enter `room`, or says why not.
///
/// # Errors
/// Every row of the status matrix that is no success.
pub async fn generate_token(
    with: Generate<'_>,
    room: Option<Arc<KnownRoom>>,
    request_id: &str,
) -> Result<Tokens, Answer> {
    let snapshot = room.ok_or(Answer::InvalidEventOrRequest)?.snapshot();
    let seals = with.seals.of(&snapshot.room, snapshot.reset_epoch);
    let place = seals.request_ids.open(request_id).map_err(|error| match error {
        RequestIdError::Malformed => Answer::InvalidEventOrRequest,
        RequestIdError::Foreign => Answer::InvalidRequest,
    })?;
    let claim = Claim {
        reset_epoch: snapshot.reset_epoch,
        place,
        position: snapshot.position(place.number),
        draws: snapshot.draws.len(),
        won: false,
        kind: SessionKind::AwsStyle,
        request_id: request_id.to_owned(),
        issuer: with.issuer.to_owned(),
        validity_seconds: with.validity_seconds,
    };
    let claimed = with.desk.claim(&snapshot.room, claim).await?;
    let record = admitted(claimed.outcome)?;
    let key = with.keys.get(&record.key_id)?;
    let whom = TokenFor { room: &snapshot.room, request_id, place };
    let tokens = with.signer.sign(key, whom, &record, &USES).await?;
    let [access_token, refresh_token, id_token] =
        <[String; 3]>::try_from(tokens).map_err(|_| Answer::NotServed)?;
    let expires_in = record.expires_at.saturating_sub(claimed.now_ms / 1000);
    Ok(Tokens { access_token, refresh_token, id_token, token_type: "Bearer", expires_in })
}

fn admitted(outcome: Outcome) -> Result<TokenRecord, Answer> {
    match outcome {
        Outcome::Entered(record) | Outcome::Repeated(record) | Outcome::Uncounted(record) => {
            Ok(record)
        }
        Outcome::NotServed | Outcome::NoSeat => Err(Answer::NotServed),
        Outcome::PositionExpired => Err(Answer::PositionExpired),
        Outcome::SessionEnded => Err(Answer::SessionEnded),
        Outcome::Foreign => Err(Answer::InvalidRequest),
    }
}
