//! The deployment: admissions and controllers, as processes that are started, killed, stopped for a
//! while and started again, each with a link of its own to Redis.

mod process;
mod witnesses;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;
use vestibule_admission::in_process as admission;
use vestibule_controller::in_process as controller;
use vestibule_issuance::Surroundings;
use vestibule_runtime::Lifecycle;
use vestibule_store::{Clock, Store};

pub use self::process::Process;
pub(crate) use self::process::Running;
use self::witnesses::Witnesses;
use crate::{
    Seed,
    broken::Broken,
    history::History,
    machine::{Machines, secret},
    network::{Network, Node, SimulatedLink},
    observer::Observer,
};

/// Where visitors think they are.
const PUBLIC_URL: &str = "https://wait.example";

/// All processes. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Deployment(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    network: Network,
    history: History,
    seed: Seed,
    machines: Machines,
    regions: Vec<String>,
    places: Mutex<Places>,
    witnesses: Mutex<Witnesses>,
}

#[derive(Debug)]
struct Places {
    admissions: Vec<Option<Process<admission::Instance>>>,
    controllers: Vec<Option<Process<controller::Instance>>>,
    /// How many processes were started so far.
    started: u64,
}

/// Which process of which service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Which {
    /// The admission at this place.
    Admission(usize),
    /// The controller at this place.
    Controller(usize),
}

// === impl Deployment ===

impl Deployment {
    /// So many of each, not started yet. The admissions stand in these regions in turn.
    pub(crate) fn new(
        network: Network,
        history: History,
        seed: Seed,
        (admissions, controllers): (usize, usize),
        regions: Vec<String>,
    ) -> Self {
        let places = Places {
            admissions: vec![None; admissions],
            controllers: vec![None; controllers],
            started: 0,
        };
        let (machines, places, witnesses) =
            (Machines::default(), Mutex::new(places), Mutex::default());
        Self(Arc::new(Shared { network, history, seed, machines, regions, places, witnesses }))
    }

    /// The network between them and Redis.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.0.network
    }

    /// What watches.
    #[must_use]
    pub fn observer(&self) -> &Observer {
        self.0.history.observer()
    }

    /// What everybody learns.
    pub(crate) fn history(&self) -> &History {
        &self.0.history
    }

    /// Every place.
    #[must_use]
    pub fn all(&self) -> Vec<Which> {
        let places = self.lock();
        let admissions = (0..places.admissions.len()).map(Which::Admission);
        admissions.chain((0..places.controllers.len()).map(Which::Controller)).collect()
    }

    /// Starts what is not running at this place.
    pub(crate) fn start(&self, which: Which) {
        if self.node(which).is_some() {
            return;
        }
        let number = {
            let mut places = self.lock();
            places.started += 1;
            places.started
        };
        let name: Arc<str> = match which {
            Which::Admission(at) => format!("admission-{at}#{number}").into(),
            Which::Controller(at) => format!("controller-{at}#{number}").into(),
        };
        let node = self.0.network.connect(&name);
        let surroundings = self.surroundings(which, number, &name, node);
        let running = |lifecycle: &Lifecycle| Running {
            name: Arc::clone(&name),
            node,
            killed: CancellationToken::new(),
            lifecycle: lifecycle.clone(),
        };
        match which {
            Which::Admission(at) => {
                let instance = admission::Instance::start(surroundings);
                let running = running(instance.lifecycle());
                self.lock().admissions[at] = Some(Process { running, instance });
            }
            Which::Controller(at) => {
                let instance = controller::Instance::start(surroundings);
                let running = running(instance.lifecycle());
                self.lock().controllers[at] = Some(Process { running, instance });
            }
        }
        self.note(&name, "starts");
    }

    /// Kills the process at this place: nothing of it happens any more, but what it has sent may arrive.
    pub(crate) fn kill(&self, which: Which) {
        if let Some(running) = self.take(which) {
            self.end(&running);
            running.lifecycle.abort();
        }
    }

    /// Stops the process at this place in order, as for an upgrade.
    pub(crate) async fn stop(&self, which: Which) {
        if let Some(running) = self.take(which) {
            self.note(&running.name, "stops");
            running.stop().await;
            self.end(&running);
        }
    }

    fn take(&self, which: Which) -> Option<Running> {
        let mut places = self.lock();
        match which {
            Which::Admission(at) => places.admissions[at].take().map(|process| process.running),
            Which::Controller(at) => places.controllers[at].take().map(|process| process.running),
        }
    }

    fn running(&self, which: Which) -> Option<Running> {
        let places = self.lock();
        match which {
            Which::Admission(at) => Some(places.admissions[at].as_ref()?.running.clone()),
            Which::Controller(at) => Some(places.controllers[at].as_ref()?.running.clone()),
        }
    }

    /// The place at the network of the process at this place, if one runs.
    #[must_use]
    pub fn node(&self, which: Which) -> Option<Node> {
        self.running(which).map(|running| running.node)
    }

    /// The running admissions that a load balancer would send visitors to.
    #[must_use]
    pub fn ready_admissions(&self) -> Vec<Process<admission::Instance>> {
        let places = self.lock();
        let running = places.admissions.iter().flatten();
        running.filter(|process| process.is_ready()).cloned().collect()
    }

    /// Those of them that stand in this region, by its place in the scenario.
    #[must_use]
    pub fn ready_admissions_of(&self, region: usize) -> Vec<Process<admission::Instance>> {
        let places = self.lock();
        let of_region = places.admissions.iter().skip(region).step_by(self.0.regions.len());
        let running = of_region.flatten();
        running.filter(|process| process.is_ready()).cloned().collect()
    }

    /// The running controllers that a load balancer would send operators to.
    #[must_use]
    pub fn ready_controllers(&self) -> Vec<Process<controller::Instance>> {
        let places = self.lock();
        let running = places.controllers.iter().flatten();
        running.filter(|process| process.is_ready()).cloned().collect()
    }

    /// Starts processes again that ended by themselves, as an orchestrator does. That they did is an
    /// invariant that does not hold.
    pub(crate) fn restart_failed(&self) {
        for which in self.all() {
            let Some(running) = self.running(which).filter(Running::has_failed) else { continue };
            let what = format!("{} has ended by itself", running.name);
            let (at_ms, invariant) = (self.0.network.now_ms(), "processes stay up");
            self.observer().report(Broken { at_ms, invariant, what });
            self.kill(which);
            self.start(which);
        }
    }

    fn surroundings(&self, which: Which, number: u64, name: &str, node: Node) -> Surroundings {
        let link = SimulatedLink::new(self.0.network.clone(), node);
        let store = Store::over(Arc::new(link), Clock::Server);
        let (Which::Admission(at) | Which::Controller(at)) = which;
        Surroundings {
            store: store.recorded(name, Arc::new(self.0.history.clone())),
            secret: secret(),
            region: self.0.regions[at % self.0.regions.len()].clone(),
            public_url: PUBLIC_URL.to_owned(),
            machine: self.0.machines.machine(self.0.seed.chance("process", number)),
        }
    }

    fn end(&self, running: &Running) {
        self.note(&running.name, "ends");
        self.0.network.cut_off(running.node);
        running.killed.cancel();
    }

    fn note(&self, name: &str, what: &str) {
        self.0.history.observer().note(self.0.network.now_ms(), name, what);
    }

    fn witnesses(&self) -> MutexGuard<'_, Witnesses> {
        self.0.witnesses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.0.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
