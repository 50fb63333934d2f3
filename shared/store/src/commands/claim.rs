//! Claims: served visitors enter as far as seats are free. The script enforces both limits.

use vestibule_domain::{Place, RoomId, SessionNote};

use super::CallerBindings;
use crate::{
    Store, StoreError,
    memory::{Seal, Seat},
    recording::answers,
    scripts::{
        self,
        order::claim::{Arguments, Item, Reply, ReplyItem},
    },
    store::Sealed,
};

/// The API that a session belongs to. It decides when the session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SessionKind {
    /// The visitor's calls: ends after a session length of idleness.
    Visitor,
    /// The AWS-style calls: ends when its token expires.
    AwsStyle,
}

/// The claim of one visitor.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The reset epoch that its request id was sealed for.
    pub reset_epoch: u64,
    /// Its place.
    pub place: Place,
    /// Where it stands in the line; `None` while it waits for its draw.
    pub position: Option<u64>,
    /// Its rank at the door: see [`vestibule_domain::poll::rank`].
    pub rank: u64,
    /// How many draws the position takes into account.
    pub draws: usize,
    /// Whether it has won in a random room.
    pub won: bool,
    /// The API that it uses.
    pub kind: SessionKind,
    /// For how long its request stays open while no seat is free, ms.
    pub held_ms: u64,
    /// Whether it asks for a seat to be held for it, instead of entering.
    pub hold: bool,
    /// Its request id as text (kept for AWS-style sessions only).
    pub request_id: String,
    /// The issuer of its tokens.
    pub issuer: String,
    /// Another validity than the room's, in seconds (AWS-style, private call).
    pub validity_seconds: Option<u64>,
    /// Its network; `None` where nothing is limited.
    pub network: Option<ClaimNetwork>,
    /// How long a session lasts at most, in seconds.
    pub max_session_seconds: Option<u64>,
    /// Who the caller is.
    pub caller: CallerBindings,
}

/// The network that a claim comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimNetwork {
    /// Its digest.
    pub digest: u64,
    /// How many sessions it may have at a time; `None`: any number.
    pub seats: Option<u64>,
    /// Whether that is only counted.
    pub only_logs: bool,
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
    /// What is noted of the session.
    pub note: SessionNote,
}

/// The outcome of one claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// A session began.
    Entered(TokenRecord),
    /// A session had begun before: the record of the same token.
    Repeated(TokenRecord),
    /// The room is suspended: the visitor enters uncounted.
    Uncounted(TokenRecord),
    /// The serving counter is below its position.
    NotServed,
    /// It is the visitor's turn, but no seat is free, or none may be held for it.
    NoSeat,
    /// It is its turn, but its network has as many seats as it may.
    NetworkFull,
    /// A seat is held for it.
    Held {
        /// Until when, ms.
        until_ms: u64,
    },
    /// The visitor did not claim in time.
    PositionExpired,
    /// Its session is over.
    SessionEnded,
    /// It entered before, and its session is bound to somebody else.
    Stranger,
    /// The request id is from before a reset.
    Foreign,
}

/// The reply to a batch of claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimReplies {
    /// Redis's time, ms.
    pub now_ms: u64,
    /// The room's reset epoch.
    pub reset_epoch: u64,
    /// The room's generation.
    pub generation: u32,
    /// Sessions that ever began in this room.
    pub admitted: u64,
    /// When those without a seat may find one, ms, unless somebody leaves or an operator changes
    /// something before; `None`: nobody can say, or nobody was without one.
    pub free_at_ms: Option<u64>,
    /// One outcome per claim, in order.
    pub outcomes: Vec<ClaimOutcome>,
    /// Of each claim whether its network had its seats already, whether it was kept out for that or not.
    pub beyond_seats: Vec<bool>,
}

/// The reply to one claim of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimReply {
    /// Redis's time, ms.
    pub now_ms: u64,
    /// The room's generation.
    pub generation: u32,
    /// When a seat may be free at the soonest: see [`ClaimReplies::free_at_ms`].
    pub free_at_ms: Option<u64>,
    /// The outcome.
    pub outcome: ClaimOutcome,
    /// Whether its network had its seats already.
    pub beyond_seats: bool,
}

impl Store {
    /// Claims for a batch of visitors. `key_id` names the key that signs the tokens of those who enter.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn claim(
        &self,
        room: &RoomId,
        key_id: &str,
        claims: &[Claim],
    ) -> Result<ClaimReplies, StoreError> {
        let noting = self.noting(Some(room), || answers::claim_calls(claims)).await;
        let arguments = {
            let (region, able_ms) = (self.region(), self.memory().standing().able_ms());
            Arguments { key_id, region, able_ms }
        };
        let items = claims.iter().map(Item::from);
        let reply: Result<Sealed<Reply>, _> =
            self.replicated().call_in_order(&scripts::CLAIM, room, &arguments, items).await;
        let replies = reply.and_then(|reply| read(claims, reply));
        if let Some(noting) = noting {
            let at = |replies: &ClaimReplies| Some(replies.now_ms);
            noting.settle(&replies, at, |replies| answers::claimed(claims, replies));
        }
        replies
    }
}

/// The replies, after the store has taken in what it may have to tell one day.
fn read(claims: &[Claim], sealed: Sealed<Reply>) -> Result<ClaimReplies, StoreError> {
    let Sealed { seal, answer, memory, era } = sealed;
    let replies = ClaimReplies::try_from(answer)?;
    memory.take_counters(replies.reset_epoch, 0, replies.admitted);
    let seat = |(claim, outcome): (&Claim, &ClaimOutcome)| match outcome {
        ClaimOutcome::Entered(record) | ClaimOutcome::Repeated(record) => {
            let aws_style = claim.kind == SessionKind::AwsStyle;
            let request_id = aws_style.then_some(claim.request_id.as_str());
            Some(record.seat(claim.place.number, request_id, &seal))
        }
        _ => None,
    };
    let entered = |(claim, outcome): (&Claim, &ClaimOutcome)| {
        let has_entered = matches!(
            outcome,
            ClaimOutcome::Entered(_) | ClaimOutcome::Repeated(_) | ClaimOutcome::SessionEnded
        );
        claim.position.filter(|_| has_entered)
    };
    let positions = claims.iter().zip(&replies.outcomes).filter_map(entered);
    memory.take_entered(replies.reset_epoch, positions);
    memory.take_seats(replies.reset_epoch, claims.iter().zip(&replies.outcomes).filter_map(seat));
    memory.confirm(era)?;
    Ok(replies)
}

// === impl SessionKind ===

impl SessionKind {
    /// Its letter in records and arguments.
    fn letter(self) -> &'static str {
        match self {
            Self::Visitor => "v",
            Self::AwsStyle => "a",
        }
    }
}

// === impl ClaimReplies ===

impl TryFrom<Reply> for ClaimReplies {
    type Error = StoreError;

    fn try_from(reply: Reply) -> Result<Self, StoreError> {
        let beyond_seats = reply.outcomes.iter().map(|item| item.beyond_seats).collect();
        let outcomes = reply.outcomes.into_iter().map(ReplyItem::outcome);
        Ok(Self {
            now_ms: reply.now_ms,
            reset_epoch: reply.reset_epoch,
            generation: reply.generation,
            admitted: reply.admitted,
            free_at_ms: reply.free_at_ms,
            outcomes: outcomes.collect::<Result<_, _>>()?,
            beyond_seats,
        })
    }
}

// === impl TokenRecord ===

impl TokenRecord {
    /// The seat that it is the record of, in the state of `seal`. `request_id`: that of an AWS-style session.
    pub(super) fn seat(&self, number: u64, request_id: Option<&str>, seal: &Seal) -> Seat {
        let Self { issued_at, expires_at, key_id, issuer, note } = self;
        let (kind, slot) = match request_id {
            Some(request_id) if *note == SessionNote::default() => ("a", request_id.to_owned()),
            Some(request_id) => ("a", format!("{request_id};{note}")),
            None => ("v", note.to_string()),
        };
        let record = format!("{issued_at}|{expires_at}|0|{kind}|{key_id}|{slot}|{issuer}");
        let seen_at = (seal.stamp.generation, seal.stamp.seq);
        Seat { number, record, expires_at: *expires_at, seen_at }
    }

    /// From the fields of a reply that has a token.
    pub(super) fn from_reply(
        issued_at: Option<u64>,
        expires_at: Option<u64>,
        key_id: Option<String>,
        issuer: Option<String>,
        note: Option<&str>,
    ) -> Result<Self, StoreError> {
        let note = note.map(SessionNote::read).unwrap_or_default();
        let record = || {
            let (issued_at, expires_at) = (issued_at?, expires_at?);
            Some(Self { issued_at, expires_at, key_id: key_id?, issuer: issuer?, note })
        };
        record().ok_or_else(|| StoreError::unexpected("a session without its token"))
    }
}

// === impl Item ===

impl<'a> From<&'a Claim> for Item<'a> {
    fn from(claim: &'a Claim) -> Self {
        Self {
            reset_epoch: claim.reset_epoch,
            draws: claim.draws,
            number: claim.place.number,
            position: claim.position,
            rank: claim.rank,
            won: claim.won,
            entered_at: claim.place.entered_at,
            kind: claim.kind.letter(),
            held_ms: claim.held_ms,
            hold: claim.hold,
            request_id: &claim.request_id,
            issuer: &claim.issuer,
            validity_seconds: claim.validity_seconds,
            network: claim.network.map(|network| network.digest),
            seats_per_network: claim.network.and_then(|network| network.seats),
            only_logs: claim.network.is_some_and(|network| network.only_logs),
            max_session_seconds: claim.max_session_seconds,
            caller: claim.caller.as_str(),
        }
    }
}

// === impl ReplyItem ===

impl ReplyItem {
    fn outcome(self) -> Result<ClaimOutcome, StoreError> {
        let Self { outcome, issued_at, expires_at, key_id, issuer, held_until_ms, note, .. } = self;
        let record =
            || TokenRecord::from_reply(issued_at, expires_at, key_id, issuer, note.as_deref());
        Ok(match outcome.as_str() {
            "entered" => ClaimOutcome::Entered(record()?),
            "repeated" => ClaimOutcome::Repeated(record()?),
            "uncounted" => ClaimOutcome::Uncounted(record()?),
            "not_served" => ClaimOutcome::NotServed,
            "no_seat" => ClaimOutcome::NoSeat,
            "network_full" => ClaimOutcome::NetworkFull,
            "held" => ClaimOutcome::Held {
                until_ms: held_until_ms
                    .ok_or_else(|| StoreError::unexpected("a held seat without an end"))?,
            },
            "position_expired" => ClaimOutcome::PositionExpired,
            "session_ended" => ClaimOutcome::SessionEnded,
            "stranger" => ClaimOutcome::Stranger,
            "foreign" => ClaimOutcome::Foreign,
            other => return Err(StoreError::unexpected(format_args!("claim outcome {other}"))),
        })
    }
}
