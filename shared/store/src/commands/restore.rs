//! Restoring a room that Redis has lost. The domain decides to which counters.

use serde::{Deserialize, Serialize};
use vestibule_domain::{RoomId, RoomSnapshot, restoration::Restoration, schedule::RoomConfig};
use vestibule_history::{Call, What};

use super::phases::Phases;
use crate::{Store, StoreError, document, keys::ROOMS, scripts};

#[derive(Serialize)]
struct Arguments<'a> {
    room: &'a RoomId,
    leader_epoch: u64,
    reset_epoch: u64,
    generation: u32,
    queue_counter: u64,
    serving_counter: i64,
    admitted: u64,
    expired: u64,
    left: u64,
    skipped: u64,
    expired_position: u64,
    cumulative_hazard: u64,
    unconfirmed: u64,
    seats_held_seconds: u64,
    presence_seconds: u64,
    admitted_last_minute: u64,
    tokens_until: u64,
    had_unattended: bool,
    draws: String,
    draw_count: usize,
    pool_first: u64,
    pool_last: u64,
    pool_id: &'a str,
    version: u64,
    config: String,
    phases: Phases,
}

#[derive(Deserialize)]
struct Reply {
    restored: bool,
}

impl Store {
    /// Restores a lost room with its `config`; returns `false` if its line exists. Then nothing is
    /// changed, unless the settings are lost: those come back. A stale leader is not refused, because it
    /// cannot change an existing room.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub async fn restore(
        &self,
        last: &RoomSnapshot,
        epoch: u64,
        to: &Restoration,
        config: &RoomConfig,
    ) -> Result<bool, StoreError> {
        let room = &last.room;
        self.query::<()>(redis::cmd("SADD").arg(ROOMS).arg(room.as_str())).await?;
        let arguments = Arguments {
            room,
            leader_epoch: epoch,
            reset_epoch: last.reset_epoch,
            generation: last.generation + 1,
            queue_counter: to.queue_counter,
            serving_counter: to.serving_counter,
            admitted: to.admitted,
            expired: last.expired,
            left: last.left,
            skipped: last.skipped,
            expired_position: last.expired_position,
            cumulative_hazard: last.cumulative_hazard,
            unconfirmed: to.active,
            seats_held_seconds: to.seats_held_seconds,
            presence_seconds: to.presence_seconds,
            admitted_last_minute: to.admitted_last_minute,
            tokens_until: last.tokens_until,
            had_unattended: last.figures.unattended > 0,
            draws: document::text(&last.draws)?,
            draw_count: last.draws.len(),
            pool_first: last.pool_first,
            pool_last: last.pool_last,
            pool_id: &to.pool_id,
            version: config.version,
            config: document::text(config)?,
            phases: Phases::new(config, self.now_ms().await?)?,
        };
        let (reset_epoch, generation) = (arguments.reset_epoch, arguments.generation);
        let call = || vec![Call::Restore { reset_epoch, generation }];
        let noting = self.noting(Some(room), call).await;
        let reply: Result<Reply, _> = self.call(&scripts::RESTORE, room, &arguments).await;
        if let Some(noting) = noting {
            noting.answer(&reply, |reply| What::Restored { restored: reply.restored });
        }
        Ok(reply?.restored)
    }
}
