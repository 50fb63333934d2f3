//! Whether the round of a beacon that an event names comes only when the pre-queue is over: an operator could choose among
//! rounds that are known, and whoever knows a round in the pre-queue knows which numbers will be first. The beacons are asked
//! for operators, so only a few at a time: an address of their choice is connected to.

use std::borrow::Cow;

use futures_util::{StreamExt, stream};
use tokio::sync::Semaphore;
use vestibule_domain::schedule::{Beacon, Event, RoundClock, moment};
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

/// The beacon of `event`, unless `before`, the same event, names this round of it for the same start.
pub(crate) fn new_round<'a>(event: &'a Event, before: Option<&Event>) -> Option<&'a Beacon> {
    let bound = before.filter(|before| before.start == event.start);
    let bound = bound.and_then(|before| before.beacon.as_ref());
    event.beacon.as_ref().filter(|beacon| Some(*beacon) != bound)
}

// === impl FutureRounds ===

impl FutureRounds {
    /// Asks by this client.
    pub(super) fn new(client: BeaconClient) -> Self {
        Self { client, places: Semaphore::new(AT_A_TIME) }
    }

    /// Refuses a round that the beacon has already published, or publishes before `start` (unix seconds), and a beacon that is
    /// not asked. If it cannot be reached, the round is accepted; the draw then falls back to the committed seed alone. So it
    /// is if nobody knows when its rounds are published.
    ///
    /// # Errors
    /// A 400 that names the field.
    pub(crate) async fn require(&self, beacon: &Beacon, start: u64) -> Result<(), Problem> {
        // It is never closed.
        let _place = self.places.acquire().await;
        let clock = match self.client.ask(beacon).await {
            BeaconReply::Verified(_) => {
                return Err(wrong_round(
                    "is known already; name one that is published after the start",
                ));
            }
            BeaconReply::NotYet => self.clock(beacon).await,
            BeaconReply::Wrong(BeaconFailure::Address(reason)) => {
                return Err(invalid_event().field("beacon.url", reason));
            }
            BeaconReply::Wrong(reason) => {
                tracing::warn!(%reason, url = %beacon.url, "the beacon of an event did not answer");
                RoundClock::of_key(&beacon.public_key)
            }
        };
        match clock {
            Some(clock) if clock.time_of(beacon.round) < start => {
                Err(too_early(clock, beacon, start))
            }
            _ => Ok(()),
        }
    }

    /// What is wrong with each of these for its start, in their order.
    pub(crate) async fn require_all(&self, beacons: &[(&Beacon, u64)]) -> Vec<Result<(), Problem>> {
        let asked = beacons.iter().map(|(beacon, start)| self.require(beacon, *start));
        stream::iter(asked.collect::<Vec<_>>()).buffered(AT_A_TIME).collect().await
    }

    async fn clock(&self, beacon: &Beacon) -> Option<RoundClock> {
        let clock = self.client.round_clock(beacon).await;
        let clock = clock.inspect_err(|reason| {
            tracing::warn!(%reason, url = %beacon.url, "the beacon of an event does not tell when its rounds are");
        });
        clock.ok()
    }
}

fn too_early(clock: RoundClock, beacon: &Beacon, start: u64) -> Problem {
    let published = moment::write(clock.time_of(beacon.round)).unwrap_or_default();
    wrong_round(format!(
        "is published at {published}, before event_start_time: whoever has seen it would know the places of those who come \
         then; the first round after that is {}",
        clock.first_from(start)
    ))
}

fn wrong_round(reason: impl Into<Cow<'static, str>>) -> Problem {
    invalid_event().field("beacon.round", reason)
}
