//! Bringing a room to the latest state that anybody knows of. The domain decides which that is.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use vestibule_domain::{Progress, RoomId, reconciliation::Reconciliation, schedule::RoomConfig};
use vestibule_history::{Call, What};

use super::phases::Phases;
use crate::{
    Store, StoreError, document,
    keys::{Part, ROOMS, RoomKeys},
    memory::{Ending, Seat},
    scripts,
};

/// So many seats and endings are put back with one call: more would take Redis's time for too long.
const AT_ONCE: usize = 40;
/// About so many are read with one call.
const READ_AT_ONCE: usize = 500;

/// The round of questions that a room is reconciled in, of the leader of a term.
#[derive(Debug, Clone, Copy)]
pub struct Round<'a> {
    /// Which room.
    pub room: &'a RoomId,
    /// Names the round.
    pub name: &'a str,
    /// The leader's epoch.
    pub epoch: u64,
}

#[derive(Serialize)]
struct Arguments<'a> {
    room: &'a RoomId,
    round: &'a str,
    leader_epoch: u64,
    begins_anew: bool,
    reset_epoch: u64,
    generation: u32,
    nonce: String,
    seq: u64,
    follows: String,
    queue_counter: u64,
    gap: u64,
    serving_counter: i64,
    admitted: u64,
    expired: u64,
    left: u64,
    left_out: &'a [(u64, u64)],
    unlisted: u64,
    expired_position: u64,
    cumulative_hazard: u64,
    tokens_until: u64,
    presence_seconds: u64,
    admitted_last_minute: Option<u64>,
    seen_last_minute: u64,
    unattended: Option<(u64, u64)>,
    draws: String,
    draw_count: usize,
    pool_first: u64,
    pool_last: u64,
    pool_id: String,
    version: u64,
    config: String,
    phases: Phases,
}

#[derive(Serialize)]
struct RebuildArguments<'a> {
    round: &'a str,
    reset_epoch: u64,
    ended: Vec<(u64, Option<u64>, u64, bool)>,
    seats: Vec<(u64, Option<u64>, &'a str)>,
}

#[derive(Serialize)]
struct ReopenArguments<'a> {
    room: &'a RoomId,
    round: &'a str,
    leader_epoch: u64,
    is_latest: bool,
    inside: u64,
    seen_inside: u64,
    held_before: u64,
    held_before_until: u64,
    seats_held_seconds: u64,
    held_once_heard_seconds: u64,
    sessions_kept_seconds: u64,
    awaits: Option<String>,
}

#[derive(Serialize)]
struct DismissArguments<'a> {
    room: &'a RoomId,
    leader_epoch: u64,
    reset_epoch: u64,
    queue_counter: u64,
    left_out: &'a [(u64, u64)],
    admitted: u64,
    awaits: Option<String>,
}

#[derive(Deserialize)]
struct Nothing {}

#[derive(Deserialize)]
struct Reply {
    done: bool,
}

impl Store {
    /// Brings the room to what was found; returns `false` if another round has begun. Refused for a stale leader.
    ///
    /// # Errors
    /// [`StoreError::Fenced`]; otherwise see [`StoreError`].
    pub async fn reconcile(
        &self,
        round: Round<'_>,
        to: &Reconciliation,
        config: &RoomConfig,
    ) -> Result<bool, StoreError> {
        let Round { room, name, epoch } = round;
        let last = &to.latest;
        // First, so that every service looks for the room.
        self.query::<()>(redis::cmd("SADD").arg(ROOMS).arg(room.as_str())).await?;
        let arguments = Arguments {
            room,
            round: name,
            leader_epoch: epoch,
            begins_anew: to.begins_anew,
            reset_epoch: last.reset_epoch,
            generation: to.generation,
            nonce: self.nonce(),
            seq: to.seq,
            follows: document::text(&to.follows)?,
            queue_counter: to.queue_counter,
            gap: to.gap,
            serving_counter: to.serving_counter,
            admitted: to.admitted,
            expired: last.expired,
            left: last.left,
            left_out: &to.left_out,
            unlisted: to.unlisted,
            expired_position: last.expired_position,
            cumulative_hazard: last.cumulative_hazard,
            tokens_until: last.tokens_until,
            presence_seconds: to.presence_seconds,
            admitted_last_minute: to.admitted_last_minute,
            seen_last_minute: to.seen_last_minute,
            unattended: to.unattended,
            draws: document::text(&last.draws)?,
            draw_count: last.draws.len(),
            pool_first: last.pool_first,
            pool_last: last.pool_last,
            pool_id: to.pool_id(config),
            version: config.version,
            config: document::text(config)?,
            phases: Phases::new(config, self.reached_ms_in(room).await?)?,
        };
        let (reset_epoch, generation) = (arguments.reset_epoch, arguments.generation);
        let call = || vec![Call::Restore { reset_epoch, generation }];
        let noting = self.noting(Some(room), call).await;
        let reply: Result<Reply, _> = self.call(&scripts::RECONCILE, room, &arguments).await;
        if let Some(noting) = noting {
            noting.answer(&reply, |reply| What::Restored { restored: reply.done });
        }
        Ok(reply?.done)
    }

    /// Puts seats back and ends sessions, as they were seen in this reset epoch; each with its position, if that is known.
    /// Returns `false` if another round has begun, or the room was reset.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn rebuild(
        &self,
        round: Round<'_>,
        reset_epoch: u64,
        seats: &[Seat],
        endings: &[Ending],
        position: impl Fn(u64) -> Option<u64>,
    ) -> Result<bool, StoreError> {
        let ended: Vec<_> = endings
            .iter()
            .map(|ending| {
                let &Ending { number, expires_at, is_place } = ending;
                (number, position(number), expires_at, is_place)
            })
            .collect();
        let seats: Vec<_> = seats
            .iter()
            .map(|seat| (seat.number, position(seat.number), seat.record.as_str()))
            .collect();
        // All endings come first, because no seat is put back that has ended.
        let endings = ended.chunks(AT_ONCE).map(|some| (some, &seats[..0]));
        for (ended, seats) in endings.chain(seats.chunks(AT_ONCE).map(|some| (&ended[..0], some))) {
            let arguments = RebuildArguments {
                round: round.name,
                reset_epoch,
                ended: ended.to_vec(),
                seats: seats.to_vec(),
            };
            let reply: Reply = self.call(&scripts::REBUILD, round.room, &arguments).await?;
            if !reply.done {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The seats that are on record, and those that were: for a room that has lost the list of its sessions. Of one that
    /// a service remembers it is the service that says when it was seen.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn seats_on_record(&self, room: &RoomId) -> Result<Vec<Seat>, StoreError> {
        let (key, mut cursor) = (RoomKeys(room).key(Part::Records), "0".to_owned());
        let mut seats = BTreeMap::new();
        loop {
            let mut scan = redis::cmd("HSCAN");
            scan.arg(&key).arg(&cursor).arg("COUNT").arg(READ_AT_ONCE);
            let (next, page): (String, Vec<(u64, String)>) = self.query(&scan).await?;
            seats.extend(page);
            if next == "0" {
                break;
            }
            cursor = next;
        }
        let seat = |(number, record)| Seat { number, record, expires_at: 0, seen_at: (0, 0) };
        Ok(seats.into_iter().map(seat).collect())
    }

    /// Ends the round: from now on everybody may change the room again. `to`: what it was brought to; `None`: it was
    /// the latest. `awaits`: the services that may have seen more. Returns `false` if another round has begun. Refused for
    /// a stale leader.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], [`StoreError::Fenced`]; otherwise see [`StoreError`].
    pub async fn reopen(
        &self,
        round: Round<'_>,
        to: Option<&Reconciliation>,
        awaits: &[String],
    ) -> Result<bool, StoreError> {
        let arguments = ReopenArguments {
            room: round.room,
            round: round.name,
            leader_epoch: round.epoch,
            is_latest: to.is_none(),
            inside: to.map_or(0, |to| to.inside),
            seen_inside: to.map_or(0, |to| to.seen_inside),
            held_before: to.map_or(0, |to| to.held_before.0),
            held_before_until: to.map_or(0, |to| to.held_before.1),
            seats_held_seconds: to.map_or(0, |to| to.seats_held_seconds),
            held_once_heard_seconds: to.map_or(0, |to| to.held_once_heard_seconds),
            sessions_kept_seconds: to.map_or(0, |to| to.sessions_kept_seconds),
            awaits: names(awaits)?,
        };
        let reply: Reply = self.call(&scripts::REOPEN, round.room, &arguments).await?;
        Ok(reply.done)
    }

    /// Notes that services were heard that had been silent: the highest counters that they have seen in this reset epoch,
    /// which numbers they had left out, and who is still silent. After a reset it does nothing. Refused for a stale leader.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], [`StoreError::Fenced`]; otherwise see [`StoreError`].
    pub async fn dismiss(
        &self,
        round: Round<'_>,
        reset_epoch: u64,
        seen: Progress,
        left_out: &[(u64, u64)],
        awaits: &[String],
    ) -> Result<(), StoreError> {
        let Round { room, epoch, .. } = round;
        let Progress { queue_counter, admitted } = seen;
        let awaits = names(awaits)?;
        let arguments = DismissArguments {
            room,
            leader_epoch: epoch,
            reset_epoch,
            queue_counter,
            left_out,
            admitted,
            awaits,
        };
        let noting = self.noting(Some(room), || vec![Call::CatchUp { queue_counter }]).await;
        let reply: Result<Nothing, _> = self.call(&scripts::DISMISS, room, &arguments).await;
        if let Some(noting) = noting {
            noting.settle(&reply, |_| None, |_| Vec::new());
        }
        reply.map(|Nothing {}| ())
    }

    /// Ends a round of questions about a room of which nobody knows anything.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn end_round(&self, room: &RoomId) -> Result<(), StoreError> {
        let key = RoomKeys(room).key(Part::Testimony);
        self.query(redis::cmd("DEL").arg(key)).await
    }
}

/// The names of services, as JSON; `None`: there is none.
fn names(names: &[String]) -> Result<Option<String>, StoreError> {
    if names.is_empty() { Ok(None) } else { document::text(&names).map(Some) }
}
