//! The background tasks. Every controller keeps its memory fresh, remembers the last day and who has entered, and
//! asks for the lease. The one that leads keeps the keyspace whole and lets new keys sign. All that serve in its term
//! share out the rooms: each advances the lines of its own, lets people in by their
//! periodic inlets, draws, and closes minutes.
//!
//! A loop that goes from room to room asks about several at a time, and a shard that was found away only once in each round
//! (`crate::away`). When Redis fails, a loop tries again. A loop that ends by itself stops the process.

mod deletions;
mod draw;
mod foreign;
mod half_restored;
mod history;
mod inlet;
mod keys;
mod keyspace;
mod lease;
mod patience;
mod places;
mod reconcile;
mod remember;
mod roll_up;
mod room_ticker;
mod silence;
mod startup;
mod suspects;
mod tick;
mod tickers;
mod validities;
pub(crate) mod webhooks;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use vestibule_runtime::Lifecycle;

use self::startup::Startup;
use crate::state::Controller;

/// So many rooms are asked about at a time by a loop that goes from room to room: one shard that is away holds up none of
/// the others'.
const ROOMS_AT_ONCE: usize = 16;

/// Starts the startup task, which starts the other loops once Redis was reached.
pub(crate) fn spawn(controller: &Arc<Controller>, lifecycle: &Lifecycle) {
    let startup = Startup::new(lifecycle.readiness());
    lifecycle.spawn("startup", startup.run(Arc::clone(controller), lifecycle.clone()));
}

/// Starts the other loops. Feed and keys end after the last request was answered, because requests need
/// them; the rest ends with the soft stop.
fn spawn_all(controller: &Arc<Controller>, lifecycle: &Lifecycle) {
    let (soft, drained) = (lifecycle.soft(), lifecycle.drained());
    let own = || Arc::clone(controller);
    lifecycle.spawn("feed", feed(own(), drained.clone()));
    lifecycle.spawn("keys", keys_until(own(), drained.clone()));
    lifecycle.spawn("tokens", tokens_until(own(), drained.clone()));
    lifecycle.spawn("leader", lease::run(own(), soft.clone()));
    lifecycle.spawn("keyspace", until(soft.clone(), keyspace::run(own())));
    lifecycle.spawn("new keys", until(soft.clone(), keys::run(own())));
    lifecycle.spawn("draw", until(soft.clone(), draw::run(own())));
    lifecycle.spawn("tick", until(soft.clone(), tick::run(own())));
    lifecycle.spawn("inlet", until(soft.clone(), inlet::run(own())));
    lifecycle.spawn("roll up", until(soft.clone(), roll_up::run(own())));
    lifecycle.spawn("validities", until(soft.clone(), validities::run(own())));
    lifecycle.spawn("remember", until(soft.clone(), remember::run(own())));
}

/// Keeps the memory fresh until the stop, and then says goodbye: nobody need wait for what this instance has seen.
async fn feed(controller: Arc<Controller>, stop: CancellationToken) {
    until(stop, Box::pin(controller.feed.clone().run())).await;
    controller.feed.say_goodbye().await;
}

/// Keeps the key ring fresh until the stop.
async fn keys_until(controller: Arc<Controller>, stop: CancellationToken) {
    until(stop, controller.keys.clone().run()).await;
    controller.keys.look().await;
}

/// Keeps the tokens of callers fresh until the stop.
async fn tokens_until(controller: Arc<Controller>, stop: CancellationToken) {
    until(stop, controller.tokens.run()).await;
}

async fn until(stop: CancellationToken, task: impl Future<Output = ()>) {
    tokio::select! {
        biased;
        () = stop.cancelled() => {}
        () = task => {}
    }
}
