//! The history of a run, judged while it is made: what services and visitors learn goes to the judge
//! event by event.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;
use vestibule_admission::in_process::Status;
use vestibule_domain::RoomId;
use vestibule_history::{Act, Bounds, Event, Figures, Judge, Recorder, ServersAre, What};

use crate::{broken::Broken, census::Census, invariants, network::Network, observer::Observer};

/// The history of a run. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct History(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    network: Network,
    observer: Observer,
    judge: Mutex<Option<Judge>>,
    censuses: Mutex<BTreeMap<RoomId, Census>>,
}

// === impl History ===

impl History {
    /// A history that is judged within these bounds.
    pub(crate) fn new(network: Network, observer: Observer, bounds: Bounds) -> Self {
        let judge = Mutex::new(Some(Judge::new(bounds)));
        let censuses = Mutex::default();
        Self(Arc::new(Shared { network, observer, judge, censuses }))
    }

    /// True time, ms since 1970.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        self.0.network.true_ms()
    }

    /// A visitor did, or was told, something; `began_ms`: when it asked.
    pub(crate) fn act(&self, by: &Arc<str>, room: &RoomId, began_ms: u64, act: Act) {
        let what = What::Visitor(act);
        let (by, room) = (Arc::clone(by), Some(room.clone()));
        self.record(Event { at_ms: self.now_ms(), began_ms, by, room, what });
    }

    /// Something became of the servers, which no service knows.
    pub(crate) fn servers(&self, are: ServersAre) {
        let (at_ms, by) = (self.now_ms(), Arc::from("servers"));
        self.record(Event { at_ms, began_ms: at_ms, by, room: None, what: What::Servers(are) });
    }

    /// A key of `room` was lost, which no service knows.
    pub(crate) fn key_lost(&self, room: &str) {
        let (at_ms, by, room) = (self.now_ms(), Arc::from("servers"), RoomId::new(room).ok());
        self.record(Event { at_ms, began_ms: at_ms, by, room, what: What::KeyLost });
    }

    /// Who honestly waits in `room`.
    pub(crate) fn census(&self, room: &RoomId) -> Census {
        let mut censuses = self.0.censuses.lock().unwrap_or_else(PoisonError::into_inner);
        censuses.entry(room.clone()).or_default().clone()
    }

    /// The room begins anew: its positions are other people's.
    pub(crate) fn begins_anew(&self, room: &str) {
        if let Ok(room) = RoomId::new(room) {
            self.census(&room).forget();
        }
    }

    /// Whether seats stand empty that `free_seats` tells of each room.
    pub(crate) fn look_for_empty_seats(&self, free_seats: impl Fn(&RoomId) -> Option<u64>) {
        let censuses = self.0.censuses.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (room, census) in censuses {
            if let Some(broken) = census.look(self.0.network.now_ms(), free_seats(&room)) {
                let what = format!("{room}: {}", broken.what);
                self.0.observer.report(Broken { what, ..broken });
            }
        }
    }

    /// An honest visitor was told where it stands in `room`.
    pub(crate) fn counts(&self, room: &RoomId, status: Status, position: u64, next_ms: u64) {
        let (census, now_ms) = (self.census(room), self.0.network.now_ms());
        match status {
            Status::Waiting | Status::YourTurn => census.waits(now_ms, position, next_ms),
            Status::Expired | Status::Closed => census.gone(position),
            Status::Admitted => {
                let in_order = self.0.network.servers(|servers, _| {
                    invariants::is_in_order(servers.keyspace(), room.as_str())
                });
                if let Some(broken) = census.enters(now_ms, position, in_order) {
                    let what = format!("{room}: {}", broken.what);
                    self.0.observer.report(Broken { what, ..broken });
                }
            }
        }
    }

    /// What watches the run.
    pub(crate) fn observer(&self) -> &Observer {
        &self.0.observer
    }

    /// A service answered that it has made a mistake.
    pub(crate) fn mistake(&self, by: &str, what: &str) {
        let (at_ms, what) = (self.0.network.now_ms(), format!("{by}: {what}"));
        self.0.observer.report(Broken { at_ms, invariant: "no internal errors", what });
    }

    /// An operator called, and was answered with this status; 0: not at all.
    pub(crate) fn operated(&self, method: &str, path: &str, body: &Value, status: u16) {
        let now_ms = self.0.network.now_ms();
        self.0.observer.note(now_ms, "operator", format!("{method} {path} {body} < {status}"));
    }

    /// Ends it: the figures, and what only the end shows.
    pub(crate) fn close(&self) -> Figures {
        let Some(judge) = self.lock().take() else { return Figures::default() };
        let verdict = judge.finish();
        for violation in verdict.violations {
            self.report(&violation);
        }
        verdict.figures
    }

    fn report(&self, violation: &vestibule_history::Violation) {
        let invariant = violation.invariant.code();
        let at_ms = self.0.network.now_ms();
        self.0.observer.report(Broken { at_ms, invariant, what: violation.to_string() });
    }

    fn lock(&self) -> MutexGuard<'_, Option<Judge>> {
        self.0.judge.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recorder for History {
    fn record(&self, event: Event) {
        let found = match self.lock().as_mut() {
            Some(judge) => judge.observe(&event),
            None => return,
        };
        for violation in found {
            self.report(&violation);
        }
    }

    fn true_ms(&self) -> Option<u64> {
        Some(self.now_ms())
    }
}
