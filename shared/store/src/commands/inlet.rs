//! Inlets: what moves a room's serving counter on without an operator's hand. Each moves it once for all calls of the
//! same name.

use serde::{Deserialize, Serialize};
use vestibule_domain::{
    RoomId,
    inlet::{AlarmState, Period},
};
use vestibule_history::{Call, What};

use super::answered_calls::{KEPT_SECONDS, remember};
use crate::{
    Departure, Store, StoreError,
    keys::{Part, RoomKeys},
    memory::Ending,
    recording::answers,
    scripts,
    store::Sealed,
};

/// A seat whose session has ended counts as no seat of the inlet only if it stays taken for longer than any call takes,
/// ms: else it could be free by then, and would be left out twice.
const KEPT_FOR_MS: u64 = 10_000;
/// So many sessions end in one call: no script keeps Redis from others for long.
const PART: usize = 150;

/// A period of the periodic inlet.
#[derive(Debug, Clone, Copy)]
pub struct LetIn<'a> {
    /// Which period.
    pub period: &'a Period,
    /// The term of the controller that serves the room.
    pub leader_epoch: u64,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeriodDecision {
    reset_epoch: u64,
    /// Where the serving counter stood then.
    pub serving_counter: i64,
    /// By how much it was moved; 0: the inlet was stopped.
    pub by: u64,
    /// Whether that was decided by an earlier call.
    pub again: bool,
}

/// Who has left, and for how many there is room.
#[derive(Debug, Clone, Copy)]
pub struct Replacing<'a> {
    /// The reset epoch that the numbers are of.
    pub reset_epoch: u64,
    /// Whose sessions end.
    pub departures: &'a [Departure],
    /// How many have left; 0: as many as end now.
    pub exited: u64,
    /// How many may be inside, or on their way.
    pub max_size: u64,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replaced {
    reset_epoch: u64,
    /// How many sessions were ended as completed.
    pub completed: u64,
    /// How many as abandoned.
    pub abandoned: u64,
    /// How many sessions live.
    pub active: u64,
    /// How many were served before, and may still enter.
    pub awaited: u64,
    /// By how much the serving counter was moved.
    pub by: u64,
    /// Where it stands.
    pub serving_counter: i64,
    /// Whether all this was done by an earlier call.
    pub again: bool,
    /// Of each departure, whether this call ended it; of an earlier call it is not known.
    #[serde(default, skip_serializing)]
    pub ended: Vec<bool>,
    #[serde(default, skip_serializing)]
    expires_at: Vec<u64>,
}

/// How the alarm of a room's inlet stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InletAlarm {
    /// How it stands.
    pub alarm: AlarmState,
    /// Of which moment that is, unix ms.
    pub at_ms: u64,
}

#[derive(Debug, Serialize)]
struct ToLetIn<'a> {
    room: &'a RoomId,
    leader_epoch: u64,
    period: &'a str,
    kept_seconds: u64,
    by: u64,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct ToReplace<'a> {
    room: &'a RoomId,
    call: &'a str,
    reset_epoch: u64,
    region: &'a str,
    sessions: &'a [Departure],
    /// Which part of the report this is, the last one 0.
    part: usize,
    /// How many sessions the parts before it ended.
    completed: u64,
    abandoned: u64,
    exited: u64,
    max_size: u64,
    kept: u64,
}

#[derive(Debug, Serialize)]
struct ToNote {
    alarm: AlarmState,
    at_ms: Option<u64>,
}

impl Store {
    /// Moves the serving counter on, unless that was decided for this period before, or something stops the inlet.
    ///
    /// # Errors
    /// [`StoreError::Fenced`], [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn let_in(
        &self,
        room: &RoomId,
        let_in: LetIn<'_>,
    ) -> Result<PeriodDecision, StoreError> {
        let LetIn { period, leader_epoch } = let_in;
        let (by, kept_seconds) = (period.increment, period.kept_seconds);
        let arguments = ToLetIn { room, leader_epoch, period: &period.name, kept_seconds, by };
        let noting = self.noting(Some(room), || vec![Call::Increment { by: signed(by) }]).await;
        let sealed = self.call_sealed::<PeriodDecision>(&scripts::LET_IN, room, &arguments).await;
        let reply = sealed.and_then(|Sealed { seal, answer, memory, era }| {
            if !answer.again {
                memory.take_serving(answer.serving_counter, &seal);
            }
            remember(&memory, ("inlet:period", &period.name), kept_seconds, &answer)?;
            memory.confirm(era)?;
            Ok(answer)
        });
        if let Some(noting) = noting {
            let moved = |&PeriodDecision { reset_epoch, serving_counter, by, again }: &_| {
                let done = What::Incremented { reset_epoch, by: signed(by), serving_counter };
                if again { Vec::new() } else { vec![done] }
            };
            noting.settle(&reply, |_| None, moved);
        }
        reply
    }

    /// Ends sessions, and moves the serving counter on as far as there is room; once for all calls of this name, which
    /// consists of letters, digits and `-._`. A long report takes several steps: the counter moves in the last, and a
    /// call that is sent again goes on where it was left.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn replace_gone(
        &self,
        room: &RoomId,
        call: &str,
        replacing: Replacing<'_>,
    ) -> Result<Replaced, StoreError> {
        let Replacing { reset_epoch, departures, exited, max_size } = replacing;
        let region = self.region();
        let last = departures.len().saturating_sub(1) / PART * PART;
        let (first, last) = departures.split_at(last);
        let mut call = ToReplace {
            room,
            call,
            reset_epoch,
            region,
            sessions: last,
            part: 0,
            completed: 0,
            abandoned: 0,
            exited,
            max_size,
            kept: 0,
        };
        let mut ended = Vec::with_capacity(departures.len());
        for (nth, sessions) in first.chunks(PART).enumerate() {
            let done = self.replace_part(&ToReplace { sessions, part: nth + 1, ..call }).await?;
            (call.completed, call.abandoned) = (done.completed, done.abandoned);
            ended.extend(done.ended);
            // Of an earlier call it is not known.
            ended.resize((nth + 1) * PART, false);
        }
        call.kept = self.seats_kept_for(room, KEPT_FOR_MS).await?;
        let done = self.replace_part(&call).await?;
        ended.extend(done.ended);
        Ok(Replaced { ended, ..done })
    }

    /// Once more if nobody knows what came of it. That it was done before may then be known from the first of the two.
    async fn replace_part(&self, call: &ToReplace<'_>) -> Result<Replaced, StoreError> {
        match self.send_replacing(call).await {
            Err(StoreError::Unavailable(_)) => {
                Ok(Replaced { again: false, ..self.send_replacing(call).await? })
            }
            done => done,
        }
    }

    async fn send_replacing(&self, call: &ToReplace<'_>) -> Result<Replaced, StoreError> {
        let &ToReplace { room, reset_epoch, sessions, max_size, .. } = call;
        let calls = || {
            let numbers = sessions.iter().map(|departure| departure.number).collect();
            vec![Call::End { reset_epoch, numbers }, Call::Increment { by: signed(max_size) }]
        };
        let noting = self.noting(Some(room), calls).await;
        let sealed = self.replicated().call_sealed(&scripts::REPLACE_GONE, room, call).await;
        let reply = sealed.and_then(|sealed| replaced(call, sealed));
        if let Some(noting) = noting {
            let whats = |reply: &Replaced| {
                let &Replaced { reset_epoch: epoch, by, serving_counter, .. } = reply;
                let by = signed(by);
                let moved = What::Incremented { reset_epoch: epoch, by, serving_counter };
                let ended = answers::ended(reset_epoch, sessions, &reply.ended);
                if reply.again { Vec::new() } else { vec![ended, moved] }
            };
            noting.settle(&reply, |_| None, whats);
        }
        reply
    }

    /// Notes how the alarm stands that stops a room's periodic inlet; `at_ms`: of which moment that is, unix ms; `None`:
    /// of now. Returns how it stands: as it was before, if that is of a later moment.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`]; otherwise see [`StoreError`].
    pub async fn note_alarm(
        &self,
        room: &RoomId,
        alarm: AlarmState,
        at_ms: Option<u64>,
    ) -> Result<InletAlarm, StoreError> {
        let note = ToNote { alarm, at_ms };
        let sealed = self.replicated().call_sealed(&scripts::NOTE_ALARM, room, &note).await?;
        let Sealed::<InletAlarm> { answer, memory, era, .. } = sealed;
        memory.take_alarm(answer);
        memory.confirm(era)?;
        Ok(answer)
    }

    /// Puts back how that alarm stood, unless Redis knows of a later moment. Only while nobody else can note one: the room
    /// is being brought to its latest state.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn restore_alarm(&self, room: &RoomId, seen: InletAlarm) -> Result<(), StoreError> {
        if self.inlet_alarm(room).await?.is_some_and(|stored| stored.at_ms >= seen.at_ms) {
            return Ok(());
        }
        let mut set = redis::cmd("HSET");
        set.arg(RoomKeys(room).key(Part::Inlet)).arg("alarm").arg(seen.alarm.name());
        self.query(set.arg("at_ms").arg(seen.at_ms)).await
    }

    /// How that alarm stands; `None`: nobody has told.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn inlet_alarm(&self, room: &RoomId) -> Result<Option<InletAlarm>, StoreError> {
        let key = RoomKeys(room).key(Part::Inlet);
        let stored: (Option<String>, Option<u64>) =
            self.query(redis::cmd("HMGET").arg(key).arg("alarm").arg("at_ms")).await?;
        let (Some(alarm), Some(at_ms)) = stored else { return Ok(None) };
        let states = [AlarmState::Ok, AlarmState::Alarm, AlarmState::InsufficientData];
        let alarm = states.into_iter().find(|state| state.name() == alarm).unwrap_or_default();
        let stored = InletAlarm { alarm, at_ms };
        self.memory().room(room).take_alarm(stored);
        Ok(Some(stored))
    }
}

/// The reply, after the store has taken in what it may have to tell one day.
fn replaced(call: &ToReplace<'_>, sealed: Sealed<Replaced>) -> Result<Replaced, StoreError> {
    let &ToReplace { call: name, reset_epoch, sessions, part, .. } = call;
    let Sealed { seal, answer, memory, era } = sealed;
    if !answer.again {
        memory.take_serving(answer.serving_counter, &seal);
    }
    let ended = sessions.iter().zip(&answer.expires_at).filter(|(_, until)| **until > 0);
    let endings = ended.map(|(one, until)| Ending::of_session(one.number, *until));
    memory.take_endings(reset_epoch, endings);
    let name = if part == 0 { name.to_owned() } else { format!("{name}:{part}") };
    remember(&memory, ("inlet", &name), KEPT_SECONDS, &answer)?;
    memory.confirm(era)?;
    Ok(answer)
}

fn signed(by: u64) -> i64 {
    i64::try_from(by).unwrap_or(i64::MAX)
}
