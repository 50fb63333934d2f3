//! What this service has seen of one room.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use tokio::time::Instant;
use vestibule_domain::{RoomSnapshot, Stamp};

use super::{
    calls::{AnsweredCall, AnsweredCalls},
    elapsed_ms,
    places::{Places, PlacesChunk},
    seal::Seal,
    seats::{Ending, Seat, Seats},
    watermarks::Watermarks,
};
use crate::{Clock, InletAlarm, StoreError};

/// What was seen of a room.
#[derive(Debug, Default)]
pub(crate) struct RoomMemory {
    watermarks: Watermarks,
    seen: Mutex<Seen>,
    /// Counts the times that it was told what was seen: see [`Self::testify`].
    era: AtomicU64,
}

/// See [`Stamp::age`].
type Age = (u64, u32, u64);

/// What was seen, to be told.
#[derive(Debug)]
pub(crate) struct Recollection {
    /// Of the latest state; that of no room, if none was seen.
    pub(crate) stamp: Stamp,
    /// The latest serving counter, and the age of its state.
    pub(crate) served: Option<(i64, Age)>,
    /// Seats that were taken, and ended.
    pub(crate) seats: Seats,
    /// Which places are over.
    pub(crate) places: Places,
    /// What operators' calls were answered.
    pub(crate) calls: AnsweredCalls,
    /// How the alarm stands that stops the inlet.
    pub(crate) alarm: Option<InletAlarm>,
    /// Of who tells late: see [`Account::left_out`](crate::Account::left_out).
    pub(crate) left_out: Vec<(u64, u64)>,
}

#[derive(Debug, Default)]
struct Seen {
    /// The latest state; `None`: none was seen.
    stamp: Option<Stamp>,
    /// What time it was there, ms, and when it was that time.
    time: Option<(u64, Instant)>,
    /// The latest serving counter, and the age of its state.
    served: Option<(i64, Age)>,
    seats: Seats,
    places: Places,
    calls: AnsweredCalls,
    /// How the alarm stands that stops the inlet; `None`: nobody has told here.
    alarm: Option<InletAlarm>,
    /// For which round it was told what was seen.
    told: Option<String>,
}

// === impl RoomMemory ===

impl RoomMemory {
    /// What scripts are told: see `read_seen` in `lib/incarnation.lua`. Empty: nothing was seen, and it is not known
    /// what time it is in the deployment, `deployment_ms`. `server`: see [`super::Standing::server`].
    pub(crate) fn as_argument(
        &self,
        clock: &Clock,
        deployment_ms: Option<u64>,
        server: &str,
    ) -> String {
        let seen = self.lock();
        // A clock that a test holds does not run between two calls.
        let is_running = matches!(clock, Clock::Server);
        let about_ms = seen.about_ms().or(deployment_ms).filter(|_| is_running).unwrap_or(0);
        let nothing = Stamp::default();
        let stamp = seen.stamp.as_ref();
        if stamp.is_none() && about_ms == 0 && server.is_empty() {
            return String::new();
        }
        let Stamp { reset_epoch, generation, nonce, seq } = stamp.unwrap_or(&nothing);
        format!("{reset_epoch}:{generation}:{nonce}:{seq}:{about_ms}:{server}")
    }

    /// Takes in by what an answer was sealed, unless it is one to a call of another era than this.
    ///
    /// # Errors
    /// As [`Self::confirm`].
    pub(crate) fn take(&self, seal: &Seal, era: u64) -> Result<(), StoreError> {
        let mut seen = self.lock();
        if self.era() != era {
            return Err(superseded());
        }
        seen.take(&seal.stamp, seal.now_ms);
        Ok(())
    }

    /// Takes in a snapshot.
    pub(crate) fn take_snapshot(&self, snapshot: &RoomSnapshot) {
        let stamp = snapshot.stamp();
        self.watermarks.take(stamp.reset_epoch, snapshot.queue_counter, snapshot.admitted);
        let mut seen = self.lock();
        // A release without stamps makes snapshots that say nothing of the state's.
        if snapshot.is_stamped() {
            seen.take(&stamp, snapshot.now_ms);
        }
        seen.serve(snapshot.serving_counter, &stamp);
    }

    /// Takes in counters of an answer.
    pub(crate) fn take_counters(&self, reset_epoch: u64, queue_counter: u64, admitted: u64) {
        self.watermarks.take(reset_epoch, queue_counter, admitted);
    }

    /// Takes in a serving counter of the state of `seal`.
    pub(crate) fn take_serving(&self, serving_counter: i64, seal: &Seal) {
        self.lock().serve(serving_counter, &seal.stamp);
    }

    /// Takes in seats that were taken or renewed.
    pub(crate) fn take_seats(&self, reset_epoch: u64, seats: impl IntoIterator<Item = Seat>) {
        self.lock().seats.take(reset_epoch, seats);
    }

    /// Takes in sessions that were ended.
    pub(crate) fn take_endings(&self, reset_epoch: u64, endings: impl IntoIterator<Item = Ending>) {
        self.lock().seats.end(reset_epoch, endings);
    }

    /// Whether it is known that a session was ended before its time; until its last token has expired.
    pub(crate) fn has_ended(&self, reset_epoch: u64, number: u64) -> bool {
        self.lock().seats.has_ended(reset_epoch, number)
    }

    /// Takes in what an operator's call was answered.
    pub(crate) fn take_call(&self, call: AnsweredCall) {
        self.lock().calls.take(call);
    }

    /// Takes in how the alarm stands that stops the inlet, or stood: the latest counts.
    pub(crate) fn take_alarm(&self, alarm: InletAlarm) {
        let mut seen = self.lock();
        if seen.alarm.is_none_or(|known| known.at_ms <= alarm.at_ms) {
            seen.alarm = Some(alarm);
        }
    }

    /// Takes in that the visitors of these positions have entered.
    pub(crate) fn take_entered(&self, reset_epoch: u64, positions: impl IntoIterator<Item = u64>) {
        self.lock().places.enter(reset_epoch, positions);
    }

    /// Takes in who has given up before a draw, by number.
    pub(crate) fn take_gone_from_pools(
        &self,
        reset_epoch: u64,
        numbers: impl IntoIterator<Item = u64>,
    ) {
        self.lock().places.leave_pool(reset_epoch, numbers);
    }

    /// Takes in what Redis holds of a part of the places.
    pub(crate) fn take_places(&self, reset_epoch: u64, chunk: PlacesChunk) {
        self.lock().places.take(reset_epoch, chunk);
    }

    /// Takes in that all places were read when this was the highest number.
    pub(crate) fn note_places_known(&self, reset_epoch: u64, queue_counter: u64) {
        self.lock().places.note_known(reset_epoch, queue_counter);
    }

    /// The highest counters.
    pub(crate) fn watermarks(&self) -> &Watermarks {
        &self.watermarks
    }

    /// The reset epoch of the latest state.
    pub(crate) fn reset_epoch(&self) -> Option<u64> {
        self.lock().stamp.as_ref().map(|stamp| stamp.reset_epoch)
    }

    /// What time it is there by now, ms; `None`: no state was seen.
    pub(crate) fn about_ms(&self) -> Option<u64> {
        self.lock().about_ms()
    }

    /// In which era calls are made now.
    pub(crate) fn era(&self) -> u64 {
        self.era.load(Ordering::Acquire)
    }

    /// Confirms an answer to a call that was made in era `era`, after what it says was taken in: either that
    /// is told with the rest, or the answer is relied on no more.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`]: what was seen has been told meanwhile.
    pub(crate) fn confirm(&self, era: u64) -> Result<(), StoreError> {
        // Under the lock, so that whoever tells after this sees what was taken in before.
        let _seen = self.lock();
        if self.era() == era { Ok(()) } else { Err(superseded()) }
    }

    /// What was seen, to be told in `round`; `None`: that was done. An answer that is still under way must not be
    /// relied on after this, because what it says is not told: so another era begins.
    pub(crate) fn testify(&self, round: &str) -> Option<Recollection> {
        let mut seen = self.lock();
        if seen.told.as_deref() == Some(round) {
            return None;
        }
        seen.told = Some(round.to_owned());
        self.era.fetch_add(1, Ordering::AcqRel);
        let stamp = seen.stamp.clone().unwrap_or_default();
        let (served, seats, places) = (seen.served, seen.seats.clone(), seen.places.clone());
        let (calls, alarm) = (seen.calls.clone(), seen.alarm);
        Some(Recollection { stamp, served, seats, places, calls, alarm, left_out: Vec::new() })
    }

    /// Takes back that it was told in a round, because it did not arrive.
    pub(crate) fn has_not_testified(&self) {
        self.lock().told = None;
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl Seen ===

impl Seen {
    fn take(&mut self, stamp: &Stamp, now_ms: u64) {
        if self.stamp.as_ref().is_some_and(|seen| seen.age() > stamp.age()) {
            return;
        }
        self.seats.forget_expired(now_ms / 1000);
        self.stamp = Some(stamp.clone());
        self.time = Some((now_ms, Instant::now()));
    }

    fn about_ms(&self) -> Option<u64> {
        self.time.map(|(ms, at)| ms + elapsed_ms(at))
    }

    fn serve(&mut self, serving_counter: i64, stamp: &Stamp) {
        if self.served.is_none_or(|(_, age)| age <= stamp.age()) {
            self.served = Some((serving_counter, stamp.age()));
        }
    }
}

fn superseded() -> StoreError {
    StoreError::Unavailable("what it answered is of a state that is over".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(nonce: &str, seq: u64) -> RoomSnapshot {
        let json = format!(
            r#"{{"room":"r","settings":{{}},"reset_epoch":7,"generation":1,"nonce":"{nonce}","seq":{seq},
            "now_ms":5,"queue_counter":9,"serving_counter":2,"admitted":0,"active":0,"unconfirmed":0,
            "expired":0,"skipped":0,"tokens_until":0,"expired_position":0,"admitted_last_minute":0,"figures":{{}}}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn a_snapshot_of_a_release_without_stamps_says_nothing_of_the_states() {
        let memory = RoomMemory::default();
        memory.take_snapshot(&snapshot("", 0));
        assert_eq!((memory.reset_epoch(), memory.watermarks().get().queue_counter), (None, 9));
        memory.take_snapshot(&snapshot("a", 40));
        assert_eq!(memory.reset_epoch(), Some(7));
    }
}
