//! The leader's lease: acquires it, renews it, and steps down in time when it cannot.
//!
//! Fencing refuses the writes of a stale leader; stepping down in time prevents such writes.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::state::Controller;

/// How long a lease lasts, on Redis's clock.
const LEASE: Duration = Duration::from_secs(2);
/// How often it is renewed or asked for. When a leader is killed, another one leads after at most
/// [`LEASE`] and this: 2.3 s.
const RENEW: Duration = Duration::from_millis(300);

#[derive(Debug, Default)]
struct Candidate {
    /// The highest epoch seen, in case Redis loses its own.
    known_epoch: u64,
    /// Until when the lease is surely held.
    held_until: Option<Instant>,
}

/// Campaigns until `stop`; then gives the lease up, so that another leads at once.
pub(super) async fn run(controller: Arc<Controller>, stop: CancellationToken) {
    let mut candidate = Candidate::default();
    tokio::select! {
        biased;
        () = stop.cancelled() => {}
        () = campaign(&controller, &mut candidate) => {}
    }
    candidate.step_down(&controller);
    if let Err(error) = controller.store.release_lease(&controller.instance).await {
        tracing::debug!(%error, "the lease could not be released");
    }
}

async fn campaign(controller: &Controller, candidate: &mut Candidate) {
    loop {
        let asked_at = Instant::now();
        candidate.ask(controller, asked_at).await;
        let next = asked_at + RENEW;
        sleep_until(candidate.held_until.map_or(next, |until| next.min(until))).await;
    }
}

// === impl Candidate ===

impl Candidate {
    /// Asks for the lease, or for its renewal.
    async fn ask(&mut self, controller: &Controller, asked_at: Instant) {
        if self.held_until.is_some_and(|until| until <= asked_at) {
            self.step_down(controller);
        }
        self.end_overtaken_term(controller).await;
        let patience = self.held_until.unwrap_or(asked_at + LEASE);
        let asking = controller.store.lease(&controller.instance, LEASE, self.known_epoch);
        match timeout_at(patience, asking).await {
            Ok(Ok(Some(epoch))) => self.lead(controller, epoch, asked_at + LEASE),
            Ok(Ok(None)) => self.step_down(controller),
            Ok(Err(error)) => tracing::debug!(%error, "the lease could not be asked for"),
            Err(_) => tracing::debug!("the lease was not answered in time"),
        }
    }

    fn lead(&mut self, controller: &Controller, epoch: u64, until: Instant) {
        self.known_epoch = self.known_epoch.max(epoch);
        self.held_until = Some(until);
        if controller.leadership.holds(epoch) {
            controller.metrics.leading.set(1);
            tracing::info!(epoch, "leading");
        }
    }

    fn step_down(&mut self, controller: &Controller) {
        self.held_until = None;
        controller.metrics.leading.set(0);
        if controller.leadership.lost() {
            tracing::info!(epoch = self.known_epoch, "no longer leading");
        }
    }

    /// Ends a term that a room refuses because it has seen a later one. The next term is later than
    /// both.
    async fn end_overtaken_term(&mut self, controller: &Controller) {
        let held = self.held_until.is_some();
        if !held || controller.leadership.role().term().is_some() {
            return;
        }
        self.known_epoch = self.known_epoch.max(controller.leadership.overtaken_by());
        self.step_down(controller);
        if let Err(error) = controller.store.release_lease(&controller.instance).await {
            tracing::debug!(%error, "the lease could not be released");
        }
    }
}
