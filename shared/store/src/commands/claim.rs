//! Claiming: a served visitor enters, if a seat is free. The hard gate.

use vestibule_domain::{Place, RoomId};

use super::{keys, optional};
use crate::{Store, StoreError, keys::Part, scripts};

/// Which calls a session belongs to; they differ in when it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SessionKind {
    /// The visitor's calls: ends after a session length of idleness.
    Visitor,
    /// The AWS-style calls: ends when its token expires.
    AwsStyle,
}

/// One visitor who wants to enter.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The reset epoch that its request id was sealed for.
    pub reset_epoch: u64,
    /// Its place.
    pub place: Place,
    /// Where it stands in the line; `None` while it waits for its draw.
    pub position: Option<u64>,
    /// How many draws the position takes into account.
    pub draws: usize,
    /// Whether it has won in a random room.
    pub won: bool,
    /// Which calls it uses.
    pub kind: SessionKind,
    /// Its request id as text (kept for AWS-style sessions only).
    pub request_id: String,
    /// The issuer of its tokens.
    pub issuer: String,
    /// Another validity than the room's, in seconds (AWS-style, private call).
    pub validity_seconds: Option<u64>,
}

/// What a token is made of, besides the visitor's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRecord {
    /// Unix seconds.
    pub issued_at: u64,
    /// Unix seconds.
    pub expires_at: u64,
    /// Which key signs it.
    pub key_id: String,
    /// Its issuer.
    pub issuer: String,
}

/// What became of one claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// A session began.
    Entered(TokenRecord),
    /// A session had begun already: the same again.
    Repeated(TokenRecord),
    /// The room is suspended: enter, uncounted.
    Uncounted(TokenRecord),
    /// The serving counter is below its position.
    NotServed,
    /// It is its turn, but no seat is free.
    NoSeat,
    /// It did not claim in time.
    PositionExpired,
    /// Its session is over.
    SessionEnded,
    /// Its request id is of before a reset.
    Foreign,
}

/// What became of a batch of claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// Redis's time, ms.
    pub now_ms: u64,
    /// The room's reset epoch.
    pub reset_epoch: u64,
    /// The room's generation.
    pub generation: u32,
    /// Sessions that ever began in this room.
    pub admitted: u64,
    /// One outcome per claim, in order.
    pub outcomes: Vec<ClaimOutcome>,
}

/// What became of one claim of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimReply {
    /// Redis's time, ms.
    pub now_ms: u64,
    /// The room's generation.
    pub generation: u32,
    /// What became of it.
    pub outcome: ClaimOutcome,
}

/// As scripts answer: an outcome, then issued at, expires at, key id and issuer if there is a token.
pub(super) type Answer = (u64, Option<u64>, Option<u64>, Option<String>, Option<String>);

type Answers = (u64, u64, u32, u64, Vec<redis::Value>);

impl Store {
    /// Lets a batch of visitors enter, as far as they may. `key_id` names the key that signs the
    /// tokens of those who do.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], or as for every call to Redis.
    pub async fn claim(
        &self,
        room: &RoomId,
        key_id: &str,
        claims: &[Claim],
    ) -> Result<Claims, StoreError> {
        let parts = [
            Part::Line,
            Part::Settings,
            Part::Sessions,
            Part::Records,
            Part::Tokens,
            Part::Entered,
            Part::Rate,
            Part::Rows,
            Part::Door,
            Part::Traffic,
            Part::Unattended,
        ];
        let mut call = self.timed(&scripts::CLAIM, &keys(room, parts));
        call.arg(key_id);
        for claim in claims {
            call.arg(claim.reset_epoch).arg(claim.draws).arg(claim.place.number);
            call.arg(optional(claim.position)).arg(u8::from(claim.won));
            call.arg(claim.place.entered_at).arg(claim.kind.letter());
            call.arg(&claim.request_id).arg(&claim.issuer).arg(optional(claim.validity_seconds));
        }
        let (now_ms, reset_epoch, generation, admitted, answers): Answers = self.run(&call).await?;
        let outcomes = answers.into_iter().map(outcome).collect::<Result<_, _>>()?;
        Ok(Claims { now_ms, reset_epoch, generation, admitted, outcomes })
    }
}

// === impl TokenRecord ===

impl TokenRecord {
    /// The token of a script's answer, if it has one.
    pub(super) fn from_reply((_, issued_at, expires_at, key_id, issuer): Answer) -> Option<Self> {
        Some(Self {
            issued_at: issued_at?,
            expires_at: expires_at?,
            key_id: key_id?,
            issuer: issuer?,
        })
    }
}

// === impl SessionKind ===

impl SessionKind {
    fn letter(self) -> &'static str {
        match self {
            Self::Visitor => "v",
            Self::AwsStyle => "a",
        }
    }
}

fn outcome(answer: redis::Value) -> Result<ClaimOutcome, StoreError> {
    let redis::Value::Array(mut parts) = answer else {
        return Err(StoreError::unexpected("a claim's outcome is no list"));
    };
    parts.resize(5, redis::Value::Nil);
    let answer: Answer =
        redis::from_redis_value(redis::Value::Array(parts)).map_err(StoreError::unexpected)?;
    let code = answer.0;
    let record = || {
        TokenRecord::from_reply(answer)
            .ok_or_else(|| StoreError::unexpected("a claim without its token"))
    };
    Ok(match code {
        1 => ClaimOutcome::Entered(record()?),
        2 => ClaimOutcome::Repeated(record()?),
        3 => ClaimOutcome::NotServed,
        4 => ClaimOutcome::NoSeat,
        5 => ClaimOutcome::PositionExpired,
        6 => ClaimOutcome::SessionEnded,
        7 => ClaimOutcome::Foreign,
        8 => ClaimOutcome::Uncounted(record()?),
        other => return Err(StoreError::unexpected(format_args!("claim outcome {other}"))),
    })
}
