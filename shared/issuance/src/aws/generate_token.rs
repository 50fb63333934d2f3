//! `generate_token`, public and private: the statuses that AWS-style clients rely on.

use std::sync::Arc;

use serde::Serialize;
use vestibule_domain::{
    MAX_QUEUE_NUMBER, Place, RoomSnapshot, network_limits::NetworkLimit, webhook::EventKind,
};
use vestibule_runtime::problem::{Problem, ProblemType};
use vestibule_store::{
    CallerBindings, Claim, ClaimNetwork, ClaimOutcome, Feed, KnownRoom, SessionKind, TokenRecord,
};
use vestibule_token::{RequestIdError, TokenUse};

use super::{AwsError, Tokens};
use crate::{CipherCache, Claims, Keystore, Outbox, Signer, TokenSubject};

/// What `generate_token` needs from its service.
#[derive(Debug, Clone, Copy)]
pub struct GenerateTokenContext<'a, C> {
    /// The rooms, as far as the service knows them.
    pub feed: &'a Feed,
    /// Where claims go.
    pub claims: &'a C,
    /// For how long the call is held while no seat is free, ms.
    pub held_ms: u64,
    /// The key ring.
    pub keys: &'a Keystore,
    /// The ciphers.
    pub ciphers: &'a CipherCache,
    /// The signing threads.
    pub signer: &'a Signer,
    /// Who is told that a visitor has got its first tokens.
    pub outbox: &'a Outbox,
    /// The issuer of the first token.
    pub issuer: &'a str,
    /// The network of whoever asks; `None` where nothing is limited, as for operators.
    pub network: Option<ClaimNetwork>,
    /// The validity of the first token in seconds; `None`: that of the room.
    pub validity_seconds: Option<u64>,
}

/// What is told of a visitor's first tokens, as the original does.
#[derive(Serialize)]
struct TokenGenerated<'a> {
    event_id: &'a str,
    request_id: &'a str,
}

/// Seats of a full network come free when its sessions end: nobody knows when, seconds.
const SEATS_WAIT_S: u32 = 10;

const USES: [TokenUse; 3] = [TokenUse::Access, TokenUse::Refresh, TokenUse::Id];

/// Lets the visitor with `request_id` enter `room`.
///
/// # Errors
/// The [`AwsError`] that clients expect for each reason not to enter.
pub async fn generate_token<C: Claims>(
    with: GenerateTokenContext<'_, C>,
    room: Option<Arc<KnownRoom>>,
    request_id: &str,
) -> Result<Tokens, AwsError> {
    let room = room.ok_or(AwsError::InvalidEventOrRequest)?;
    let mut snapshot = room.snapshot();
    let mut opened = with.open(&snapshot, request_id);
    if opened == Err(RequestIdError::Foreign) {
        // It may be of after a reset that this service has not heard of.
        with.feed.catch_up(&room).await?;
        snapshot = with.feed.room(snapshot.room.as_str()).unwrap_or(room).snapshot();
        opened = with.open(&snapshot, request_id);
    }
    let place = opened.map_err(|error| match error {
        RequestIdError::Malformed => AwsError::InvalidEventOrRequest,
        RequestIdError::Foreign => AwsError::InvalidRequest,
    })?;
    // Its session would be longer, and would not end when its visitor goes.
    if place.is_of_visitors_calls() {
        return Err(AwsError::InvalidRequest);
    }
    let claim = Claim {
        reset_epoch: snapshot.reset_epoch,
        place,
        position: snapshot.position(place.number),
        rank: snapshot.position(place.number).unwrap_or(MAX_QUEUE_NUMBER),
        draws: snapshot.draws.len(),
        won: false,
        kind: SessionKind::AwsStyle,
        held_ms: with.held_ms,
        hold: false,
        request_id: request_id.to_owned(),
        issuer: with.issuer.to_owned(),
        validity_seconds: with.validity_seconds,
        network: with.network,
        max_session_seconds: snapshot.settings.max_session_seconds,
        caller: CallerBindings::unknown(),
    };
    let claimed = with.claims.claim(&snapshot.room, claim).await?;
    let is_first = matches!(claimed.outcome, ClaimOutcome::Entered(_));
    let record = admitted(claimed.outcome)?;
    if is_first && snapshot.settings.aws_style_api {
        let data = TokenGenerated { event_id: snapshot.event_id(), request_id };
        with.outbox.post(EventKind::TokenGenerated, snapshot.room.as_str(), claimed.now_ms, data);
    }
    let key = with.keys.get(&record.key_id, claimed.now_ms / 1000)?;
    let subject = TokenSubject { audience: snapshot.event_id(), request_id, place, key: None };
    let tokens = with.signer.sign(key, subject, &record, &USES).await?;
    let [access_token, refresh_token, id_token] =
        <[String; 3]>::try_from(tokens).map_err(|_| AwsError::NotServed)?;
    let expires_in = record.expires_at.saturating_sub(claimed.now_ms / 1000);
    Ok(Tokens { access_token, refresh_token, id_token, token_type: "Bearer", expires_in })
}

// === impl GenerateTokenContext ===

impl<C> GenerateTokenContext<'_, C> {
    fn open(&self, snapshot: &RoomSnapshot, request_id: &str) -> Result<Place, RequestIdError> {
        self.ciphers.get(&snapshot.room, snapshot.reset_epoch).request_ids.open(request_id)
    }
}

fn admitted(outcome: ClaimOutcome) -> Result<TokenRecord, AwsError> {
    match outcome {
        ClaimOutcome::Entered(record)
        | ClaimOutcome::Repeated(record)
        | ClaimOutcome::Uncounted(record) => Ok(record),
        ClaimOutcome::NotServed | ClaimOutcome::NoSeat | ClaimOutcome::Held { .. } => {
            Err(AwsError::NotServed)
        }
        ClaimOutcome::NetworkFull => Err(AwsError::Unavailable(
            Problem::new(ProblemType::NetworkLimit)
                .detail(NetworkLimit::Seats.name())
                .retry_after(SEATS_WAIT_S),
        )),
        ClaimOutcome::PositionExpired => Err(AwsError::PositionExpired),
        ClaimOutcome::SessionEnded => Err(AwsError::SessionEnded),
        ClaimOutcome::Foreign | ClaimOutcome::Stranger => Err(AwsError::InvalidRequest),
    }
}
