//! The seed of an event's draw: fixed when the event is created, and unchanged when the event is changed; but with another
//! beacon comes another seed. Else whoever knows the seed could try rounds one after the other under one commitment.

use std::{collections::BTreeMap, sync::Arc};

use vestibule_domain::{
    RoomId,
    draw::{self, DrawRecord},
    schedule::Event,
};
use vestibule_runtime::Random;
use vestibule_token::DeploymentSecret;

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
    /// change, had a draw with the same beacon, they stay as they are.
    pub(super) fn settle(&self, room: &RoomId, event: &mut Event, before: Option<&Event>) {
        if !event.draw {
            return;
        }
        if let Some(before) = before.filter(|before| before.draw && before.beacon == event.beacon) {
            *event = event.clone().with_draw_of(before);
            return;
        }
        event.draw_id = format!("{:016x}{:016x}", self.random.number(), self.random.number());
        let seed = self.secret.new_draw_seed(room, &event.draw_id);
        event.sealed_seed = None;
        event.commitment = Some(draw::commitment(&seed));
    }

    /// Seals the seeds that were announced under a secret that is being replaced, so that it can be forgotten; returns
    /// whether there are any. `drawn`: the records of draws that are over, by draw id.
    pub(super) fn keep(
        &self,
        room: &RoomId,
        events: &mut [Event],
        drawn: &BTreeMap<String, DrawRecord>,
    ) -> bool {
        let mut any = false;
        for event in events.iter_mut().filter(|event| !drawn.contains_key(&event.draw_id)) {
            if let Some(sealed) = self.secret.keep_seed(room, event) {
                (event.sealed_seed, any) = (Some(sealed), true);
            }
        }
        any
    }
}
