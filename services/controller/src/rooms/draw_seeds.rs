//! The seed of an event's draw: fixed when the event is created, unchanged when the event is changed,
//! and never mixed with a beacon's round that is already public.

use std::sync::Arc;

use vestibule_domain::{
    RoomId, draw,
    schedule::{Beacon, Event},
};
use vestibule_runtime::{Problem, Random};
use vestibule_token::DeploymentSecret;

use crate::{
    api_types::invalid_event,
    beacon::{BeaconClient, BeaconReply},
};

/// Gives draws their seeds.
#[derive(Debug, Clone)]
pub(crate) struct DrawSeeds {
    secret: Arc<DeploymentSecret>,
    random: Random,
}

// === impl DrawSeeds ===

impl DrawSeeds {
    /// Seeds made of the deployment's secret and of random ids.
    pub(crate) fn new(secret: Arc<DeploymentSecret>, random: Random) -> Self {
        Self { secret, random }
    }

    /// Gives an event with a draw its id and its commitment. If `before`, the same event before the
    /// change, had a draw, they stay as they are.
    pub(super) fn settle(&self, room: &RoomId, event: &mut Event, before: Option<&Event>) {
        if !event.draw {
            return;
        }
        if let Some(before) = before.filter(|before| before.draw) {
            event.draw_id.clone_from(&before.draw_id);
            event.commitment.clone_from(&before.commitment);
            return;
        }
        event.draw_id = format!("{:016x}{:016x}", self.random.number(), self.random.number());
        let seed = self.secret.draw_seed(room, &event.draw_id, None);
        event.commitment = Some(draw::commitment(&seed));
    }
}

/// Refuses a round that the beacon has already published. If the beacon cannot be reached, the event
/// is accepted; the draw then falls back to the committed seed alone.
pub(super) async fn require_future_round(beacon: &Beacon) -> Result<(), Problem> {
    match BeaconClient::default().ask(beacon).await {
        BeaconReply::Verified(_) => Err(invalid_event()
            .field("beacon.round", "is known already; name one that is published after the start")),
        BeaconReply::NotYet => Ok(()),
        BeaconReply::Wrong(reason) => {
            tracing::warn!(%reason, url = %beacon.url, "the beacon of an event did not answer");
            Ok(())
        }
    }
}
