//! Key succession: once a new key has been published for as long as its operator chose, the leader
//! makes it the key that signs. And when the deployment's secret is replaced, the leader seals the keys anew, and the
//! seeds of draws that were announced.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;
use vestibule_issuance::KeyError;

use crate::{key_time::key_time, state::Controller};

/// How often the leader checks whether a key is due.
const CHECK_EVERY: Duration = Duration::from_millis(500);

/// Lets keys sign for as long as this instance leads.
pub(super) async fn run(controller: Arc<Controller>) {
    let mut role = controller.leadership.watch();
    loop {
        if role.see().leading().is_none() {
            role.changed().await;
            continue;
        }
        if let Err(error) = succeed(&controller).await {
            tracing::warn!(%error, "the new signing key cannot sign yet");
        }
        if let Err(error) = reseal(&controller).await {
            tracing::warn!(%error, "the signing keys cannot be sealed under the current secret yet");
        }
        keep_seeds(&controller).await;
        sleep(CHECK_EVERY).await;
    }
}

async fn succeed(controller: &Controller) -> Result<(), KeyError> {
    let Some(signs_from) = controller.keys.succession() else { return Ok(()) };
    let now = key_time(controller).await?;
    if now < signs_from {
        return Ok(());
    }
    let longest = controller.validities.note(&controller.feed, now);
    if controller.keys.succeed(now, longest).await? {
        tracing::info!("a new key signs from now on");
    }
    Ok(())
}

async fn reseal(controller: &Controller) -> Result<(), KeyError> {
    if controller.secret.is_being_replaced() && controller.keys.reseal().await? {
        tracing::info!("the signing keys are sealed under the current secret from now on");
    }
    Ok(())
}

/// Seals the seeds of draws that were announced under a secret that goes.
async fn keep_seeds(controller: &Controller) {
    if !controller.secret.is_being_replaced() {
        return;
    }
    for known in controller.feed.rooms() {
        let room = &known.snapshot().room;
        match controller.configs.keep_seeds(&known).await {
            Ok(true) => {
                tracing::info!(%room, "the seeds of the room's draws are sealed under the current secret from now on");
            }
            Ok(false) => {}
            Err(problem) => {
                tracing::warn!(%room, error = problem.kind().title(), "the seeds of the room's draws cannot be sealed under the current secret yet");
            }
        }
    }
}
