//! How rooms and the rest look to the leader, for the conditions of alarms: by what is in its memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use vestibule_domain::{
    RoomId, RoomSnapshot,
    alarm::{Mean, SeenDeployment, SeenRoom},
};
use vestibule_store::{KnownRoom, ServerCheck};

use crate::{figures::slots_free, state::Controller, wait_checks::WaitChecks};

/// What of a window counts, ms: as in the rules for Prometheus.
const FREE_WINDOW_MS: u64 = 120_000;
const WAITS_WINDOW_MS: u64 = 600_000;

/// What is remembered for that. Of a room that another controller serves, too: told waits are held against true ones by
/// its snapshots.
#[derive(Debug, Default)]
pub(super) struct Sight {
    means: BTreeMap<RoomId, Means>,
    waits: WaitChecks,
}

#[derive(Debug, Default)]
struct Means {
    free: Mean,
    told: Mean,
    waited: Mean,
}

// === impl Sight ===

impl Sight {
    /// Takes in which rooms there are.
    pub(super) fn see(&mut self, rooms: &[Arc<RoomSnapshot>]) {
        self.waits.see(rooms.iter().map(|room| &**room));
        let known: BTreeSet<_> = rooms.iter().map(|room| &room.room).collect();
        self.means.retain(|room, _| known.contains(room));
    }

    /// A room at `now_ms`.
    pub(super) fn room<'a>(&mut self, room: &'a RoomSnapshot, now_ms: u64) -> SeenRoom<'a> {
        let means = self.means.entry(room.room.clone()).or_default();
        #[expect(clippy::cast_precision_loss, reason = "a count of people")]
        let free = slots_free(room).map(|free| free as f64);
        let outcome = self.waits.last(room);
        let told = outcome.map(|outcome| outcome.told_seconds);
        let waited = outcome.map(|outcome| outcome.true_seconds);
        let free = means.free.see(now_ms, free, FREE_WINDOW_MS);
        let told = means.told.see(now_ms, told, WAITS_WINDOW_MS);
        let waited = means.waited.see(now_ms, waited, WAITS_WINDOW_MS);
        SeenRoom { room, free, waits: told.zip(waited) }
    }
}

/// The rest, at `now_ms`.
pub(super) fn deployment(
    controller: &Controller,
    check: &ServerCheck,
    rooms: &[Arc<KnownRoom>],
    now_ms: u64,
) -> SeenDeployment {
    let findings = check.findings();
    let unheard = rooms.iter().map(|room| u64::try_from(room.age().as_millis()));
    SeenDeployment {
        now_ms,
        restored_at_ms: controller.restored_at(),
        not_persistent: findings.contains(&"not_persistent"),
        evicts: findings.contains(&"evicts"),
        unheard_ms: unheard.map(|age| age.unwrap_or(u64::MAX)).collect(),
        closed_upto: controller.closed_minutes.upto(),
        keys: controller.keys.signs_since().into_iter().collect(),
        secret_is_being_replaced: controller.secret.is_being_replaced(),
        tokens: controller.tokens.lives(),
    }
}
