//! The two phases of a room's config that scripts read: the current one and the next one. The domain
//! decides which they are ([`RoomConfig::phase_at`]).

use serde::Serialize;
use vestibule_domain::schedule::{InForce, RoomConfig};

use crate::{StoreError, document};

/// The argument of `write_phases` in `scripts/lib/phases.lua`.
#[derive(Serialize)]
pub(super) struct Phases {
    until_ms: Option<u64>,
    now: StoredPhase,
    next: Option<StoredPhase>,
}

/// One phase: the settings that scripts read, and the settings and the event for the snapshot. All JSON.
#[derive(Serialize)]
struct StoredPhase {
    phase: String,
    settings: String,
    event: String,
}

/// The settings that scripts read in a phase: `PHASE` in `scripts/lib/room.lua`.
#[derive(Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings")]
struct PhaseSettings<'a> {
    total_active_users: Option<u64>,
    new_users_per_minute: Option<u64>,
    session_duration_seconds: u64,
    token_validity_seconds: u64,
    position_expiry_seconds: Option<u64>,
    advance_on_position_expiry: bool,
    held: bool,
    suspended: bool,
    open: bool,
    rejects: bool,
    renews_sessions: bool,
    turn_hold_seconds: Option<u64>,
    draw_id: Option<&'a str>,
}

// === impl Phases ===

impl Phases {
    /// The phases of `config` at `now_ms`.
    pub(super) fn new(config: &RoomConfig, now_ms: u64) -> Result<Self, StoreError> {
        let now = config.phase_at(now_ms);
        let next = now.until_ms.map(|until_ms| config.phase_at(until_ms).in_force);
        Ok(Self {
            until_ms: now.until_ms,
            now: StoredPhase::new(config, &now.in_force)?,
            next: next.map(|in_force| StoredPhase::new(config, &in_force)).transpose()?,
        })
    }
}

// === impl StoredPhase ===

impl StoredPhase {
    fn new(config: &RoomConfig, in_force: &InForce) -> Result<Self, StoreError> {
        Ok(Self {
            phase: document::encode(&PhaseSettings::new(config, in_force))?,
            settings: document::text(&in_force.settings)?,
            event: document::text(&in_force.event)?,
        })
    }
}

// === impl PhaseSettings ===

impl<'a> PhaseSettings<'a> {
    fn new(config: &'a RoomConfig, in_force: &InForce) -> Self {
        let settings = &in_force.settings;
        let rules = settings.queueing_method.rules();
        let prequeue = in_force.event.as_ref().filter(|event| event.prequeueing);
        let collecting = prequeue.filter(|event| event.draw);
        let drawn = collecting.and_then(|event| config.event(event.name.as_str()));
        let draw_id = drawn.map(|event| event.draw_id.as_str());
        Self {
            total_active_users: settings.total_active_users,
            new_users_per_minute: settings.new_users_per_minute,
            session_duration_seconds: settings.session_duration_seconds,
            token_validity_seconds: settings.token_validity_seconds,
            position_expiry_seconds: settings.position_expiry_seconds,
            advance_on_position_expiry: settings.advance_on_position_expiry,
            held: settings.queue_all || prequeue.is_some(),
            suspended: settings.suspended,
            open: rules.is_open(),
            rejects: rules.rejects(),
            renews_sessions: !settings.disable_session_renewal,
            turn_hold_seconds: settings.turn_hold_seconds,
            draw_id: draw_id.filter(|id| !id.is_empty()),
        }
    }
}
