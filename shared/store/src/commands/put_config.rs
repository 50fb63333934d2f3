//! A room's config: its settings and its events. Creating a room is putting its first config.

use redis::ScriptInvocation;
use vestibule_domain::{
    RoomId,
    schedule::{InForce, Phase, RoomConfig},
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
pub enum PutOutcome {
    /// The room is new.
    Created,
    /// The room was there; its config is the new one, its line is as it was.
    Changed,
    /// Someone else changed it since the caller read it: nothing has changed.
    Conflict,
}

impl Store {
    /// The settings and events of a room; `None` when Redis does not hold it.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn read_config(&self, room: &RoomId) -> Result<Option<RoomConfig>, StoreError> {
        let key = RoomKeys(room).key(Part::Settings);
        let mut read = redis::cmd("HMGET");
        let (config, version): (Option<String>, Option<u64>) =
            self.query(read.arg(key).arg("config").arg("version")).await?;
        let Some(config) = config else { return Ok(None) };
        let config: RoomConfig = serde_json::from_str(&config).map_err(StoreError::unexpected)?;
        Ok(Some(RoomConfig { version: version.unwrap_or(0), ..config }))
    }

    /// Creates a room or changes its config, if its version is still `config.version`; 0: whatever
    /// it is. Takes effect at once.
    ///
    /// # Errors
    /// As for every call to Redis.
    pub async fn put_config(
        &self,
        room: &RoomId,
        config: &RoomConfig,
    ) -> Result<PutOutcome, StoreError> {
        let phases = Phases::at(config, self.now_ms().await?);
        // First the list: a room that is listed and not there yet does no harm.
        self.query::<()>(redis::cmd("SADD").arg(spelling::ROOMS).arg(room.as_str())).await?;
        let mut call = self.timed(&scripts::PUT_CONFIG, &keys(room, PARTS));
        call.arg(room.as_str()).arg(config.version).arg(json(config)?);
        phases.arguments(&mut call)?;
        let (put, _version): (u8, u64) = self.run(&call).await?;
        Ok(match put {
            2 => PutOutcome::Created,
            1 => PutOutcome::Changed,
            _ => PutOutcome::Conflict,
        })
    }

    /// Turns the page: another phase of `config` is under way at `now_ms`. Says whether the
    /// config was still this one; refused for a stale leader.
    ///
    /// # Errors
    /// [`StoreError::RoomMissing`], [`StoreError::Fenced`], or as for every call to Redis.
    pub async fn switch_phase(
        &self,
        room: &RoomId,
        epoch: u64,
        config: &RoomConfig,
        now_ms: u64,
    ) -> Result<bool, StoreError> {
        let mut call = self.timed(&scripts::SWITCH_PHASE, &keys(room, PARTS));
        call.arg(room.as_str()).arg(epoch).arg(config.version);
        Phases::at(config, now_ms).arguments(&mut call)?;
        self.run(&call).await
    }
}

const PARTS: [Part; 4] = [Part::Line, Part::Settings, Part::Sessions, Part::Rate];

/// The phase under way and the one that follows, as the scripts go by them.
pub(super) struct Phases<'a> {
    config: &'a RoomConfig,
    now: Phase,
    next: Option<Phase>,
}

// === impl Phases ===

impl<'a> Phases<'a> {
    /// Those of `config` at `now_ms`.
    pub(super) fn at(config: &'a RoomConfig, now_ms: u64) -> Self {
        let now = config.phase_at(now_ms);
        let next = now.until_ms.map(|until_ms| config.phase_at(until_ms));
        Self { config, now, next }
    }

    /// As `write_phases` in `lib/config.lua` takes them.
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
        let event = collecting.and_then(|event| self.config.event(event.name.as_str()));
        event.map(|event| event.draw_id.clone()).unwrap_or_default()
    }
}

pub(super) fn json<T: serde::Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(StoreError::unexpected)
}
