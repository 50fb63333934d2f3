//! What answers are written down as.

use serde::Deserialize;
use vestibule_domain::{RoomSnapshot, network_limits::NetworkLimit, schedule::RoomConfig};
use vestibule_history::{
    Call, Claimed, ClaimedAs, ConfigRead, Ended, EndedSession, JoinedAs, Key, NetworkClaimed,
    NetworkLimitsSeen, NetworksJoined, Programme, Put, PutAs, Rules, SessionApi, SnapshotSeen,
    Token, Touched as TouchedEvent, What,
};

use crate::{
    Admittance, Claim, ClaimOutcome, ClaimReplies, Departure, GivenUp, Join, JoinMode, Joined,
    PutOutcome, SessionKind, TokenRecord, Touch, Touched, document,
};

/// A key of the ring's text, which the token crate writes. The rest of it is sealed.
#[derive(Deserialize)]
struct KeyInText {
    kid: String,
    #[serde(default)]
    retires_at: Option<u64>,
    #[serde(default)]
    signs_from: Option<u64>,
}

pub(crate) fn joined(join: &Join<'_>, joined: &Joined) -> What {
    let token = Token {
        issued_at: joined.issued_at,
        expires_at: joined.expires_at,
        kid: join.key_id.to_owned(),
    };
    What::Joined(vestibule_history::Joined {
        reset_epoch: joined.reset_epoch,
        generation: joined.generation,
        first: joined.first,
        count: joined.places(join),
        entered: joined.seated,
        token: (joined.seated > 0).then_some(token),
        suspended: joined.suspended,
        again: join.again,
        api: match join.mode {
            JoinMode::Enter => SessionApi::Visitor,
            JoinMode::Queue => SessionApi::Aws,
        },
        region: join.region.to_owned(),
        serving_counter: joined.serving_counter,
        networks: (!joined.admittances.is_empty()).then(|| networks(join, joined)),
    })
}

fn networks(join: &Join<'_>, joined: &Joined) -> NetworksJoined {
    let became = |admittance: &Admittance| match *admittance {
        Admittance::Place(nth) if nth < joined.seated => JoinedAs::Seated(joined.first + nth),
        Admittance::Place(nth) => JoinedAs::Placed(joined.first + nth),
        Admittance::Over(NetworkLimit::Joins) => JoinedAs::TooManyJoins,
        Admittance::Over(_) => JoinedAs::TooManyPlaces,
    };
    let limits = NetworkLimitsSeen {
        joins: join.limits.joins_per_minute,
        places: join.limits.places,
        seats: join.limits.seats,
        only_logs: join.limits.only_logs,
    };
    let newcomers = join.networks.iter().copied().zip(joined.admittances.iter().map(became));
    NetworksJoined { limits, newcomers: newcomers.collect() }
}

/// The call, whose answer is [`given_up`].
pub(crate) fn give_up_call(reset_epoch: u64, places: &[GivenUp]) -> Call {
    let numbers = places.iter().map(|place| place.number).collect();
    let networks = places.iter().filter_map(|place| place.network).collect();
    Call::GiveUp { reset_epoch, numbers, networks }
}

pub(crate) fn given_up(reset_epoch: u64, places: &[GivenUp], given_up: &[bool]) -> What {
    let those = places.iter().zip(given_up).filter(|(_, given_up)| **given_up);
    let those = those.map(|(place, _)| place);
    What::GivenUp {
        reset_epoch,
        places: those.clone().map(|place| (place.number, place.network)).collect(),
        positions: those.filter_map(|place| place.position).collect(),
    }
}

/// The claims, as calls.
pub(crate) fn claim_calls(claims: &[Claim]) -> Vec<Call> {
    let call = |claim: &Claim| Call::Claim {
        reset_epoch: claim.reset_epoch,
        number: claim.place.number,
        position: claim.position,
        api: api(claim.kind),
        network: claim.network.map(|network| network.digest),
    };
    claims.iter().map(call).collect()
}

/// A stranger to a session learns nothing of it.
pub(crate) fn claimed(claims: &[Claim], replies: &ClaimReplies) -> Vec<What> {
    let one = |(claim, outcome): (&Claim, &ClaimOutcome)| {
        let network = claim.network.map(|network| NetworkClaimed {
            network: network.digest,
            seats: network.seats,
            only_logs: network.only_logs,
            kept_out: *outcome == ClaimOutcome::NetworkFull,
        });
        let outcome = claimed_as(outcome)?;
        Some(What::Claimed(Claimed {
            reset_epoch: replies.reset_epoch,
            id_epoch: claim.reset_epoch,
            generation: replies.generation,
            number: claim.place.number,
            position: claim.position,
            entered_at: claim.place.entered_at.into(),
            api: api(claim.kind),
            hold: claim.hold,
            outcome,
            network,
        }))
    };
    claims.iter().zip(&replies.outcomes).filter_map(one).collect()
}

fn claimed_as(outcome: &ClaimOutcome) -> Option<ClaimedAs> {
    Some(match outcome {
        ClaimOutcome::Entered(record) => ClaimedAs::Seated(token(record)),
        ClaimOutcome::Repeated(record) => ClaimedAs::Repeated(token(record)),
        ClaimOutcome::Uncounted(record) => ClaimedAs::Uncounted(token(record)),
        ClaimOutcome::NotServed => ClaimedAs::NotServed,
        ClaimOutcome::NoSeat | ClaimOutcome::NetworkFull => ClaimedAs::NoSeat,
        ClaimOutcome::Held { until_ms } => ClaimedAs::Held { until_ms: *until_ms },
        ClaimOutcome::PositionExpired => ClaimedAs::PositionExpired,
        ClaimOutcome::SessionEnded => ClaimedAs::SessionEnded,
        ClaimOutcome::Foreign => ClaimedAs::Foreign,
        ClaimOutcome::Stranger => return None,
    })
}

pub(crate) fn touched(touches: &[Touch], replies: &[Touched]) -> Vec<What> {
    let one = |(touch, reply): (&Touch, &Touched)| {
        What::Touched(TouchedEvent {
            id_epoch: touch.reset_epoch,
            generation: reply.generation,
            number: touch.number,
            token: reply.session.as_ref().map(token),
        })
    };
    let known = touches.iter().zip(replies).filter(|(_, reply)| !reply.is_stranger);
    known.map(one).collect()
}

pub(crate) fn ended(reset_epoch: u64, departures: &[Departure], ended: &[bool]) -> What {
    let one = |(departure, ended): (&Departure, &bool)| EndedSession {
        number: departure.number,
        ended: *ended,
    };
    What::Ended(Ended { reset_epoch, sessions: departures.iter().zip(ended).map(one).collect() })
}

/// The version that a put of `config` leads to, where it names the one before.
fn next_version(config: &RoomConfig) -> Option<u64> {
    (config.version > 0).then(|| config.version + 1)
}

pub(crate) fn put_call(config: &RoomConfig, now_ms: u64) -> Call {
    Call::Put { version: next_version(config), programme: Programme::of(config, now_ms) }
}

pub(crate) fn put(config: &RoomConfig, now_ms: u64, outcome: PutOutcome) -> What {
    let (version, outcome) = match outcome {
        PutOutcome::Created => (Some(1), PutAs::Created),
        PutOutcome::Changed => (next_version(config), PutAs::Changed),
        PutOutcome::Conflict => (None, PutAs::Conflict),
    };
    What::Put(Put { version, programme: Programme::of(config, now_ms), outcome })
}

pub(crate) fn config_read(config: Option<&RoomConfig>, now_ms: u64) -> What {
    config.map_or(What::RoomMissing, |config| {
        What::ConfigRead(ConfigRead {
            version: config.version,
            programme: Programme::of(config, now_ms),
        })
    })
}

pub(crate) fn snapshot(snapshot: &RoomSnapshot, pushed: bool) -> What {
    What::Snapshot(SnapshotSeen {
        pushed,
        redis_ms: snapshot.now_ms,
        reset_epoch: snapshot.reset_epoch,
        generation: snapshot.generation,
        config_version: snapshot.config_version,
        rules: Rules::of_snapshot(snapshot),
        queue_counter: snapshot.queue_counter,
        serving_counter: snapshot.serving_counter,
        admitted: snapshot.admitted,
        active: snapshot.active,
        unconfirmed: snapshot.unconfirmed,
        awaits: !snapshot.awaits.is_empty(),
        waiting: snapshot.figures.waiting,
        admitted_last_minute: snapshot.admitted_last_minute,
    })
}

pub(crate) fn snapshot_read(read: Option<&RoomSnapshot>) -> What {
    read.map_or(What::RoomMissing, |read| snapshot(read, false))
}

/// Nothing, if the text cannot be read.
pub(crate) fn keys_read(text: Option<&str>) -> Vec<What> {
    let Some(text) = text else { return vec![What::KeysRead { keys: None }] };
    keys(text).map(|keys| What::KeysRead { keys: Some(keys) }).into_iter().collect()
}

pub(crate) fn change_keys(text: &str) -> Vec<Call> {
    keys(text).map(|keys| Call::ChangeKeys { keys }).into_iter().collect()
}

pub(crate) fn keys_changed(text: &str, changed: bool) -> Vec<What> {
    keys(text).map(|keys| What::KeysChanged { keys, changed }).into_iter().collect()
}

/// The keys of the ring's text; `None` if this release cannot read it.
fn keys(text: &str) -> Option<Vec<Key>> {
    let keys: Vec<KeyInText> = document::decode(text).ok()?;
    let key = |KeyInText { kid, retires_at, signs_from }| Key { kid, retires_at, signs_from };
    Some(keys.into_iter().map(key).collect())
}

fn api(kind: SessionKind) -> SessionApi {
    match kind {
        SessionKind::Visitor => SessionApi::Visitor,
        SessionKind::AwsStyle => SessionApi::Aws,
    }
}

fn token(record: &TokenRecord) -> Token {
    let TokenRecord { issued_at, expires_at, ref key_id, .. } = *record;
    Token { issued_at, expires_at, kid: key_id.clone() }
}
