//! The visitors' way into the simulated services, on which is watched what none of them could see.
//! Hostile company goes in by a plain [`Doorway`], and is not counted here.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering};

use rand::rngs::SmallRng;
use vestibule_simulation::{self as simulation, Carried, Newcomers, Status};

use super::doorway::Doorway;
use crate::{
    crowd::Call,
    record::{Ending, Phase},
    visits::{Recorder, Reply, Way},
};

/// The visitors' way in.
#[derive(Debug)]
pub(super) struct WatchedDoorway {
    /// The way in.
    pub(super) doorway: Doorway,
    /// Where the crowd is.
    pub(super) recorder: Arc<Recorder>,
    /// What no visitor could see.
    pub(super) newcomers: Mutex<Newcomers>,
}

// === impl WatchedDoorway ===

impl WatchedDoorway {
    /// What was seen so far.
    pub(super) fn newcomers(&self) -> MutexGuard<'_, Newcomers> {
        self.newcomers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self, visitor: usize, call: Call, answer: Option<&simulation::Answer>) {
        let (region, _) = self.doorway.visitors[visitor];
        let now_ms = self.doorway.network.now_ms();
        let line = self.recorder.tally().0.count(Phase::Waiting);
        let status = answer.map(|answer| answer.status.status);
        let mut newcomers = self.newcomers();
        if matches!(call, Call::Join | Call::Claim) {
            newcomers.answered();
        }
        if line > 0 {
            newcomers.waits(now_ms);
        }
        if let (Call::Join, Some(status)) = (call, status) {
            newcomers.joined(region.into(), status, now_ms);
        }
        if status == Some(Status::Admitted) {
            newcomers.entered(now_ms);
        }
    }
}

impl Way for WatchedDoorway {
    type Ticket = Carried;

    async fn call(
        &self,
        visitor: usize,
        call: Call,
        ticket: Option<Carried>,
        _: &mut SmallRng,
    ) -> Reply<Carried> {
        let sent = self.doorway.now();
        if matches!(call, Call::Join | Call::Claim) {
            self.newcomers().asks();
        }
        let answer = self.doorway.ask(visitor, call, ticket).await;
        self.watch(visitor, call, answer.as_ref().ok());
        self.doorway.reply((visitor, call), &answer, sent)
    }

    async fn take_number(&self, rng: &mut SmallRng) -> Result<(), String> {
        self.doorway.take_number(rng).await
    }

    fn over(&self, ending: Ending) {
        self.doorway.moments.fetch_add(1, Ordering::Relaxed);
        if matches!(ending, Ending::Left | Ending::RanOut) {
            self.newcomers().left(self.doorway.network.now_ms());
        }
    }
}
