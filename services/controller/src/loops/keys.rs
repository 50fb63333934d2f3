//! Key succession: once a new key has been published for as long as its operator chose, the leader
//! makes it the key that signs. And when the deployment's secret is replaced, the leader seals the keys anew.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;
use vestibule_domain::{RoomSnapshot, settings::MAX_SECONDS};
use vestibule_issuance::KeyError;

use crate::state::Controller;

/// How often the leader checks whether a key is due.
const CHECK_EVERY: Duration = Duration::from_millis(500);
/// For how many seconds services may still sign with the old key after the new one took over.
const SETTLES: u64 = 60;

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
        sleep(CHECK_EVERY).await;
    }
}

async fn succeed(controller: &Controller) -> Result<(), KeyError> {
    let Some(signs_from) = controller.keys.succession() else { return Ok(()) };
    let now = controller.store.now_ms().await? / 1000;
    if now < signs_from {
        return Ok(());
    }
    let rooms = controller.feed.rooms();
    let longest = rooms.iter().map(|room| longest_validity(&room.snapshot(), now)).max();
    let longest = longest.unwrap_or(0).min(MAX_SECONDS) + SETTLES;
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

/// How long a token of this room may still be valid: as its settings say, or as its longest-lived
/// AWS-style token does, whose validity its caller chose.
fn longest_validity(room: &RoomSnapshot, now: u64) -> u64 {
    room.settings.longest_validity_seconds().max(room.tokens_until.saturating_sub(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_with_a_validity_of_its_own_keeps_its_key_published() {
        let room: RoomSnapshot = serde_json::from_str(
            r#"{"room":"r","settings":{"token_validity_seconds":100,"session_duration_seconds":50},
            "reset_epoch":7,"generation":1,"now_ms":1,"queue_counter":0,"serving_counter":0,
            "admitted":0,"active":0,"unconfirmed":0,"expired":0,"skipped":0,"expired_position":0,
            "admitted_last_minute":0,"tokens_until":5000,"figures":{}}"#,
        )
        .unwrap();
        assert_eq!(longest_validity(&room, 1_000), 4_000);
        assert_eq!(longest_validity(&room, 4_950), 100);
        assert_eq!(longest_validity(&room, 9_000), 100);
    }
}
