//! A room's program: its settings and its events. Creating a room is putting its first program.

use redis::ScriptInvocation;
use vestibule_domain::{
    RoomId,
    schedule::{InForce, Phase, Program},
};

use super::{keys, optional};
use crate::{
    Store, StoreError,
    keys::{self as spelling, Part, RoomKeys},
    scripts,
};

/// How many values a phase sets: as `SETTINGS` in `lib/room.lua`.
const PHASE_VALUES: usize = 14;

/// What became of a put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// The room is new.
    Created,
    /// The room was there; its program is the new one, its line is as it was.
    Changed,
    /// Someone else changed it since the caller read it: nothing has changed.
    Conflict,
}

impl Store {
    /// The settings and events of a room; `None` when Redis does not hold it.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn read_program(&self, room: &RoomId) -> Result<Option<Program>, StoreError> {
        let key = RoomKeys(room).of(Part::Settings);
        let mut read = redis::cmd("HMGET");
        let (program, version): (Option<String>, Option<u64>) =
            self.query(read.arg(key).arg("program").arg("version")).await?;
        let Some(program) = program else { return Ok(None) };
        let program: Program = serde_json::from_str(&program).map_err(StoreError::unexpected)?;
        Ok(Some(Program { version: version.unwrap_or(0), ..program }))
    }

    /// Creates a room or changes its program, if its version is still `program.version`; 0: whatever
    /// it is. Takes effect at once.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn put_program(&self, room: &RoomId, program: &Program) -> Result<Put, StoreError> {
        let phases = Phases::of(program, self.now_ms().await?);
        // First the list: a room that is listed and not there yet does no harm.
        self.query::<()>(redis::cmd("SADD").arg(spelling::ROOMS).arg(room.as_str())).await?;
        let mut call = self.timed(&scripts::PUT_PROGRAM, &keys(room, PARTS));
        call.arg(room.as_str()).arg(program.version).arg(json(program)?);
        phases.arguments(&mut call)?;
        let (put, _version): (u8, u64) = self.run(&call).await?;
        Ok(match put {
            2 => Put::Created,
            1 => Put::Changed,
            _ => Put::Conflict,
        })
    }

    /// Turns the page: another phase of `program` is under way at `now_ms`. Says whether the
    /// program was still this one; refused for a stale leader.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], [`StoreError::Fenced`], or as for every call to Redis.
    pub async fn turn(
        &self,
        room: &RoomId,
        epoch: u64,
        program: &Program,
        now_ms: u64,
    ) -> Result<bool, StoreError> {
        let mut call = self.timed(&scripts::TURN, &keys(room, PARTS));
        call.arg(room.as_str()).arg(epoch).arg(program.version);
        Phases::of(program, now_ms).arguments(&mut call)?;
        self.run(&call).await
    }
}

const PARTS: [Part; 4] = [Part::Line, Part::Settings, Part::Sessions, Part::Rate];

/// The phase under way and the one that follows, as the scripts go by them.
pub(super) struct Phases<'a> {
    program: &'a Program,
    now: Phase,
    next: Option<Phase>,
}

// === impl Phases ===

impl<'a> Phases<'a> {
    /// Those of `program` at `now_ms`.
    pub(super) fn of(program: &'a Program, now_ms: u64) -> Self {
        let now = program.phase_at(now_ms);
        let next = now.until_ms.map(|until_ms| program.phase_at(until_ms));
        Self { program, now, next }
    }

    /// As `write_phases` in `lib/program.lua` takes them.
    pub(super) fn arguments(&self, call: &mut ScriptInvocation<'_>) -> Result<(), StoreError> {
        call.arg(optional(self.now.until_ms));
        for value in self.values(&self.now.in_force)? {
            call.arg(value);
        }
        match &self.next {
            Some(next) => {
                for value in self.values(&next.in_force)? {
                    call.arg(value);
                }
            }
            None => {
                for _ in 0..PHASE_VALUES {
                    call.arg("");
                }
            }
        }
        Ok(())
    }

    fn values(&self, in_force: &InForce) -> Result<[String; PHASE_VALUES], StoreError> {
        let settings = &in_force.settings;
        let rules = settings.queueing_method.rules();
        let prequeueing = in_force.event.as_ref().is_some_and(|event| event.prequeueing);
        let flag = |is: bool| u8::from(is).to_string();
        Ok([
            json(settings)?,
            json(&in_force.event)?,
            optional(settings.total_active_users),
            optional(settings.new_users_per_minute),
            settings.session_duration_seconds.to_string(),
            settings.token_validity_seconds.to_string(),
            optional(settings.position_expiry_seconds),
            flag(settings.advance_on_position_expiry),
            flag(settings.queue_all || prequeueing),
            flag(settings.suspended),
            flag(rules.is_open()),
            flag(rules.rejects()),
            flag(!settings.disable_session_renewal),
            self.draw_id(in_force),
        ])
    }

    /// The draw that newcomers wait for, or nothing.
    fn draw_id(&self, in_force: &InForce) -> String {
        let collecting = in_force.event.as_ref().filter(|event| event.prequeueing && event.draw);
        let event = collecting.and_then(|event| self.program.event(event.name.as_str()));
        event.map(|event| event.draw_id.clone()).unwrap_or_default()
    }
}

pub(super) fn json<T: serde::Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(StoreError::unexpected)
}
