//! Joining: queue numbers for newcomers, and seats at once if nobody waits.

use vestibule_domain::{
    RoomId, SessionNote,
    network_limits::{NetworkLimit, NetworkLimits},
    regions::Taken,
};
use vestibule_history::Call;

use super::TokenRecord;

use crate::{
    Store, StoreError,
    recording::answers,
    scripts::{
        self,
        order::join::{Arguments, Item, Reply},
    },
    store::Sealed,
};

/// Whether newcomers take a seat at once if one is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JoinMode {
    /// Yes: the visitor's calls.
    Enter,
    /// No, they claim it later: the AWS-style calls.
    Queue,
}

/// A batch of newcomers.
#[derive(Debug, Clone)]
pub struct Join<'a> {
    /// The name of the call: see [`Store::call_name`].
    pub call: &'a str,
    /// Whether it may have come before, and its answer was lost: then the answer may be that one. It is only for who writes
    /// down what was answered.
    pub again: bool,
    /// The region where they arrived.
    pub region: &'a str,
    /// How many they are.
    pub count: u64,
    /// Whether they take seats at once.
    pub mode: JoinMode,
    /// Which key signs the tokens of those who enter.
    pub key_id: &'a str,
    /// The issuer of their tokens.
    pub issuer: &'a str,
    /// The network of each, as its digest; empty where nothing is limited.
    pub networks: &'a [u64],
    /// What one network may have.
    pub limits: NetworkLimits,
    /// How long a session lasts at most, in seconds.
    pub max_session_seconds: Option<u64>,
}

/// What became of one newcomer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admittance {
    /// It has a place, whose number is so far beyond the first.
    Place(u64),
    /// It was turned away: its network has reached this limit.
    Over(NetworkLimit),
}

/// How many newcomers were beyond a limit of their network, whether they were turned away or only counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BeyondLimits {
    /// `joins_per_network_per_minute`.
    pub joins: u64,
    /// `places_per_network`.
    pub places: u64,
}

/// The numbers of a batch: `first`, `first + 1`, …
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    /// Redis's time, ms.
    pub now_ms: u64,
    /// The room's reset epoch, which request ids are sealed for.
    pub reset_epoch: u64,
    /// The room's generation, which seats are noted for.
    pub generation: u32,
    /// The first queue number.
    pub first: u64,
    /// How many of the batch have entered: the lowest numbers.
    pub seated: u64,
    /// Whether the room is suspended: everyone enters, uncounted.
    pub suspended: bool,
    /// The serving counter, after the join.
    pub serving_counter: i64,
    /// When tokens of those who entered were issued, unix seconds.
    pub issued_at: u64,
    /// When they expire, unix seconds.
    pub expires_at: u64,
    /// Sessions that ever began in this room.
    pub admitted: u64,
    /// The index of the draw that they wait for; `None`: of none.
    pub pool: Option<u32>,
    /// Which regions' slots were used by those who entered.
    pub taken: Taken,
    /// What became of each, where networks are limited; empty: all have places, in this order.
    pub admittances: Vec<Admittance>,
    /// How many were beyond a limit.
    pub beyond: BeyondLimits,
    /// When somebody of a network that has had too many newcomers may try again, seconds.
    pub wait_s: u64,
}

impl Store {
    /// Reserves queue numbers for a batch of newcomers.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn join(&self, room: &RoomId, join: &Join<'_>) -> Result<Joined, StoreError> {
        let arguments = Arguments {
            call: join.call,
            region: join.region,
            count: join.count,
            mode: match join.mode {
                JoinMode::Enter => "enter",
                JoinMode::Queue => "queue",
            },
            key_id: join.key_id,
            issuer: join.issuer,
            joins_per_minute: join.limits.joins_per_minute,
            places: join.limits.places,
            seats: join.limits.seats,
            only_logs: join.limits.only_logs,
            max_session_seconds: join.max_session_seconds,
        };
        let items = join.networks.iter().map(|network| Item { network: *network });
        let call = || vec![Call::Join { count: join.count, networks: join.networks.to_vec() }];
        let noting = self.noting(Some(room), call).await;
        let store = self.replicated();
        let reply = store.call_in_order::<_, _, Reply>(&scripts::JOIN, room, &arguments, items);
        let joined = reply.await.and_then(|reply| read(join, reply));
        if let Some(noting) = noting {
            let at = |joined: &Joined| Some(joined.now_ms);
            noting.settle(&joined, at, |joined| vec![answers::joined(join, joined)]);
        }
        joined
    }
}

/// The numbers, after the store has taken in what it may have to tell one day.
fn read(join: &Join<'_>, sealed: Sealed<Reply>) -> Result<Joined, StoreError> {
    let Sealed { seal, answer, memory, era } = sealed;
    let joined = Joined::of(join, answer);
    memory.take_counters(joined.reset_epoch, joined.last(join), joined.admitted);
    memory.take_serving(joined.serving_counter, &seal);
    let record = joined.token(join);
    let entered = joined.first..joined.first + joined.seated;
    let seats = entered.map(|number| record.seat(number, None, &seal));
    memory.take_seats(joined.reset_epoch, seats);
    memory.take_entered(joined.reset_epoch, joined.first..joined.first + joined.seated);
    memory.confirm(era)?;
    Ok(joined)
}

// === impl Joined ===

impl Joined {
    fn of(join: &Join<'_>, reply: Reply) -> Self {
        let admittances = if reply.limited && reply.outcomes.is_empty() {
            // None was turned away, and none has its number before one that came earlier.
            (0..join.count).map(Admittance::Place).collect()
        } else {
            reply.outcomes.into_iter().map(Admittance::from_reply).collect()
        };
        Self {
            now_ms: reply.now_ms,
            reset_epoch: reply.reset_epoch,
            generation: reply.generation,
            first: reply.first,
            seated: reply.seated,
            suspended: reply.suspended,
            serving_counter: reply.serving_counter,
            issued_at: reply.issued_at,
            expires_at: reply.expires_at,
            admitted: reply.admitted,
            pool: reply.pool,
            taken: Taken { own: reply.own, anywhere: reply.anywhere, lent: reply.lent },
            admittances,
            beyond: BeyondLimits { joins: reply.beyond_joins, places: reply.beyond_places },
            wait_s: reply.wait_s,
        }
    }

    /// How many of those who came by `join` have a place.
    #[must_use]
    pub fn places(&self, join: &Join<'_>) -> u64 {
        if self.admittances.is_empty() {
            return join.count;
        }
        let has_place = |one: &&Admittance| matches!(one, Admittance::Place(_));
        self.admittances.iter().filter(has_place).count() as u64
    }

    /// The highest number that has been handed out, this join's included: of whom all were turned away, the one before.
    #[must_use]
    pub fn last(&self, join: &Join<'_>) -> u64 {
        self.first + self.places(join) - 1
    }

    /// The record of the tokens of those who entered by `join`.
    #[must_use]
    pub fn token(&self, join: &Join<'_>) -> TokenRecord {
        let began = join.max_session_seconds.map(|_| self.issued_at);
        TokenRecord {
            issued_at: self.issued_at,
            expires_at: self.expires_at,
            key_id: join.key_id.to_owned(),
            issuer: join.issuer.to_owned(),
            note: SessionNote { began, ..SessionNote::default() },
        }
    }
}

// === impl Admittance ===

impl Admittance {
    fn from_reply(outcome: i64) -> Self {
        match outcome {
            -1 => Self::Over(NetworkLimit::Joins),
            -2 => Self::Over(NetworkLimit::Places),
            nth => Self::Place(nth.unsigned_abs()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_was_turned_away_has_taken_no_number() {
        let join = Join {
            call: "a",
            again: false,
            region: "here",
            count: 3,
            mode: JoinMode::Enter,
            key_id: "k",
            issuer: "i",
            networks: &[7; 3],
            limits: NetworkLimits::default(),
            max_session_seconds: None,
        };
        let joined = |admittances| Joined {
            now_ms: 1,
            reset_epoch: 1,
            generation: 1,
            first: 11,
            seated: 0,
            suspended: false,
            serving_counter: 0,
            issued_at: 0,
            expires_at: 0,
            admitted: 0,
            pool: None,
            taken: Taken::default(),
            admittances,
            beyond: BeyondLimits::default(),
            wait_s: 0,
        };
        let over = Admittance::Over(NetworkLimit::Joins);
        assert_eq!(joined(Vec::new()).last(&join), 13);
        assert_eq!(joined(vec![Admittance::Place(0), over, Admittance::Place(1)]).last(&join), 12);
        assert_eq!(joined(vec![over; 3]).last(&join), 10);
    }
}
