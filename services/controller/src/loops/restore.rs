//! Keeping the keyspace whole: the leader migrates it, and restores what Redis has lost.
//!
//! The order matters. The schema stamp is lost with the keyspace and is written last: while it is
//! missing, every service keeps its rooms in memory. A room that a stamped keyspace does not list was
//! deleted and is not restored.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use tokio::time::sleep;
use vestibule_domain::{RoomId, RoomSnapshot, restoration::Restoration, schedule::RoomConfig};
use vestibule_issuance::KeyError;
use vestibule_store::{StoreError, StoredConfig};

use crate::{leadership::Role, state::Controller};

/// How often the leader checks whether the keyspace is whole.
const CHECK_EVERY: Duration = Duration::from_millis(500);
/// How long all services get to report their watermarks; they do so every 500 ms.
const REPORTING: Duration = Duration::from_millis(1_500);
const RETRY: Duration = Duration::from_millis(500);

/// Keeps the keyspace whole for as long as this instance leads. Ends by itself, which stops the
/// process, only if this release can never lead, such as on the keyspace of a newer release.
pub(super) async fn run(controller: Arc<Controller>) {
    let mut role = controller.leadership.watch();
    loop {
        let now = role.see();
        let done = match now {
            Role::Following => {
                role.changed().await;
                Ok(())
            }
            Role::Settling(epoch) => settle(&controller, epoch).await,
            Role::Leading(epoch) => {
                tokio::select! {
                    biased;
                    () = role.changed() => Ok(()),
                    checked = check(&controller, epoch) => checked,
                }
            }
        };
        match done {
            Ok(()) => {}
            Err(error) if error.is_hopeless() => {
                tracing::error!(%error, "this controller cannot lead on this keyspace");
                return;
            }
            Err(error) => {
                tracing::warn!(%error, "the keyspace could not be checked or restored");
                sleep(RETRY).await;
            }
        }
    }
}

/// Makes the keyspace whole; then this instance leads.
async fn settle(controller: &Controller, epoch: u64) -> Result<(), KeyError> {
    // If the stamp is there, at most single rooms are lost. Their ticks notice that.
    if controller.store.check_schema().await? == 0 {
        restore_lost(controller, epoch, false).await?;
    }
    let now = controller.store.now_ms().await? / 1000;
    controller.keys.ensure(now).await?;
    if controller.leadership.role().term() != Some(epoch) {
        return Ok(());
    }
    controller.store.migrate().await?;
    controller.leadership.settled(epoch);
    Ok(())
}

/// After [`CHECK_EVERY`], checks once that the stamp and all rooms are still there.
async fn check(controller: &Controller, epoch: u64) -> Result<(), KeyError> {
    sleep(CHECK_EVERY).await;
    if controller.store.check_schema().await? == 0 {
        tracing::warn!("redis has lost the keyspace");
        controller.leadership.unsettled(epoch);
    } else if controller.leadership.take_missing() {
        restore_lost(controller, epoch, true).await?;
    }
    Ok(())
}

/// Brings back every room that this instance remembers and Redis has lost.
async fn restore_lost(
    controller: &Controller,
    epoch: u64,
    stamped: bool,
) -> Result<(), StoreError> {
    if lost(controller, stamped).await?.is_empty() {
        return Ok(());
    }
    sleep(REPORTING).await;
    for last in lost(controller, stamped).await? {
        restore(controller, epoch, &last).await?;
    }
    Ok(())
}

async fn lost(
    controller: &Controller,
    stamped: bool,
) -> Result<Vec<Arc<RoomSnapshot>>, StoreError> {
    let listed: BTreeSet<RoomId> = controller.store.rooms().await?.into_iter().collect();
    let mut lost = Vec::new();
    for last in controller.feed.rooms().iter().map(|known| known.snapshot()) {
        let deleted = stamped && !listed.contains(&last.room);
        if !deleted && controller.store.read_snapshot(&last.room).await?.is_none() {
            lost.push(last);
        }
    }
    Ok(lost)
}

async fn restore(
    controller: &Controller,
    epoch: u64,
    last: &RoomSnapshot,
) -> Result<(), StoreError> {
    let reports = controller.store.watermark_reports(&last.room).await?;
    let stored = stored_config(controller, last);
    let to = Restoration::new(last, &reports, &stored.config);
    if controller.store.restore(last, epoch, &to, &stored.config).await? {
        controller.store.restore_draws(&last.room, &stored.draws).await?;
        controller.metrics.restorations.inc();
        let (queue_counter, reports) = (to.queue_counter, reports.len());
        tracing::warn!(room = %last.room, queue_counter, reports, "restored a lost room");
    }
    Ok(())
}

/// The room's config and draws. If this instance has not read them yet: a config of the settings in
/// the last snapshot, without events.
fn stored_config(controller: &Controller, last: &RoomSnapshot) -> StoredConfig {
    let known = controller.feed.room(last.room.as_str()).and_then(|known| known.stored_config());
    known.map_or_else(
        || {
            let (version, settings) = (last.config_version, last.settings.clone());
            let config = RoomConfig { version, settings, ..RoomConfig::default() };
            StoredConfig { config, draws: BTreeMap::new() }
        },
        |stored| StoredConfig::clone(&stored),
    )
}
