//! The lease: asks for it, renews it, hears who serves which rooms, and steps down in time when nothing is heard.
//!
//! Fencing refuses the writes of who acts in a term that is over; stepping down in time prevents such writes.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;
use vestibule_domain::Share;
use vestibule_store::{self as store, Asking, Standing, StoreError};

use crate::{leadership::Term, state::Controller};

/// How long a lease lasts, on Redis's clock. A member that has not asked for so long is one no more.
const LEASE: Duration = Duration::from_secs(2);
/// How often it is renewed or asked for. When a leader is killed, another one leads after at most
/// [`LEASE`] and this: 2.3 s.
const RENEW: Duration = Duration::from_millis(300);
/// How often it is said that it cannot be asked for.
const SAY: Duration = Duration::from_mins(1);

#[derive(Debug, Default)]
struct Candidate {
    /// The highest epoch seen, in case Redis loses its own.
    known_epoch: u64,
    /// Until when what it was told surely holds.
    held_until: Option<Instant>,
    /// When it was last said that the lease cannot be asked for.
    said_at: Option<Instant>,
}

/// Campaigns until `stop`; then gives up lease and rooms, so that others take them at once.
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
        let next = candidate.held_until.map_or(next, |until| next.min(until));
        tokio::select! {
            biased;
            () = sleep_until(next) => {}
            () = controller.leadership.should_ask() => {}
        }
    }
}

// === impl Candidate ===

impl Candidate {
    /// Asks for the lease, or for its renewal.
    async fn ask(&mut self, controller: &Controller, asked_at: Instant) {
        if self.held_until.is_some_and(|until| until <= asked_at) {
            self.step_down(controller);
        }
        let patience = self.held_until.unwrap_or(asked_at + LEASE);
        let leadership = &controller.leadership;
        let asking = Asking {
            instance: &controller.instance,
            length: LEASE,
            known_epoch: self.known_epoch.max(leadership.overtaken_by()),
            settled: leadership.last_settled(),
        };
        match timeout_at(patience, controller.store.lead(&asking)).await {
            Ok(Ok(standing)) => self.take(controller, standing, asked_at + LEASE),
            Ok(Err(error)) => self.refused(controller, &error, asked_at).await,
            Err(_) => tracing::debug!("the lease was not answered in time"),
        }
    }

    /// Says why nobody may be leading, and mends what can be mended from here.
    async fn refused(&mut self, controller: &Controller, error: &StoreError, at: Instant) {
        if self.said_at.is_none_or(|said_at| said_at + SAY <= at) {
            tracing::warn!(%error, "the lease could not be asked for");
            self.said_at = Some(at);
        }
        if error.is_of_another_type()
            && let Err(error) = controller.store.remove_foreign_lease().await
        {
            tracing::debug!(%error, "what the lease consists of could not be looked at");
        }
    }

    fn take(&mut self, controller: &Controller, standing: Standing, until: Instant) {
        match standing {
            Standing::Leads { term, settled } => self.lead(controller, &term, settled, until),
            Standing::Serves(term) => self.serve(controller, &term, until),
            Standing::Follows => self.step_down(controller),
        }
    }

    fn lead(&mut self, controller: &Controller, term: &store::Term, settled: bool, until: Instant) {
        let own = self.note(controller, term, until);
        controller.metrics.leading.set(1);
        if controller.leadership.holds(own, settled) {
            tracing::info!(epoch = own.epoch, members = ?term.members, "leading");
        }
    }

    fn serve(&mut self, controller: &Controller, term: &store::Term, until: Instant) {
        let own = self.note(controller, term, until);
        controller.metrics.leading.set(0);
        if controller.leadership.role().holding().is_some() {
            tracing::info!(epoch = own.epoch, "no longer leading");
        }
        controller.leadership.serves(own);
    }

    /// The own part of the term.
    fn note(&mut self, controller: &Controller, term: &store::Term, until: Instant) -> Term {
        self.known_epoch = self.known_epoch.max(term.epoch);
        self.held_until = Some(until);
        let share = Share::of(&controller.instance, &term.members);
        Term { epoch: term.epoch, before: term.before, share }
    }

    fn step_down(&mut self, controller: &Controller) {
        self.held_until = None;
        controller.metrics.leading.set(0);
        if controller.leadership.lost() {
            tracing::info!(epoch = self.known_epoch, "neither leading nor serving");
        }
    }
}
