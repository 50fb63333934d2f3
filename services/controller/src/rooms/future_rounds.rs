//! Whether the round of a beacon that an event names is still to come: an operator could choose among rounds that are
//! known. The beacons are asked for operators, so only a few at a time: an address of their choice is connected to.

use futures_util::{StreamExt, stream};
use tokio::sync::Semaphore;
use vestibule_domain::schedule::{Beacon, Event};
use vestibule_runtime::Problem;

use crate::{
    api_types::invalid_event,
    beacon::{BeaconClient, BeaconFailure, BeaconReply},
};

/// So many beacons are asked at a time, for all operators together.
const AT_A_TIME: usize = 8;
/// So many rounds may be new in one document: of beacons that say nothing, each takes some seconds.
pub(crate) const MOST_NEW_ROUNDS: usize = 32;

/// Asks beacons for operators.
#[derive(Debug)]
pub(crate) struct FutureRounds {
    client: BeaconClient,
    places: Semaphore,
}

/// The beacon of `event`, if `before`, the same event, does not name this round of it.
pub(crate) fn new_round<'a>(event: &'a Event, before: Option<&Event>) -> Option<&'a Beacon> {
    let bound = before.and_then(|before| before.beacon.as_ref());
    event.beacon.as_ref().filter(|beacon| Some(*beacon) != bound)
}

// === impl FutureRounds ===

impl FutureRounds {
    /// Asks by this client.
    pub(super) fn new(client: BeaconClient) -> Self {
        Self { client, places: Semaphore::new(AT_A_TIME) }
    }

    /// Refuses a round that the beacon has already published, and a beacon that is not asked. If it cannot be reached, the
    /// round is accepted; the draw then falls back to the committed seed alone.
    ///
    /// # Errors
    /// A 400 that names the field.
    pub(crate) async fn require(&self, beacon: &Beacon) -> Result<(), Problem> {
        // It is never closed.
        let _place = self.places.acquire().await;
        match self.client.ask(beacon).await {
            BeaconReply::Verified(_) => Err(invalid_event().field(
                "beacon.round",
                "is known already; name one that is published after the start",
            )),
            BeaconReply::NotYet => Ok(()),
            BeaconReply::Wrong(BeaconFailure::Address(reason)) => {
                Err(invalid_event().field("beacon.url", reason))
            }
            BeaconReply::Wrong(reason) => {
                tracing::warn!(%reason, url = %beacon.url, "the beacon of an event did not answer");
                Ok(())
            }
        }
    }

    /// What is wrong with each of these, in their order.
    pub(crate) async fn require_all(&self, beacons: &[&Beacon]) -> Vec<Result<(), Problem>> {
        let asked: Vec<_> = beacons.iter().map(|beacon| self.require(beacon)).collect();
        stream::iter(asked).buffered(AT_A_TIME).collect().await
    }
}
