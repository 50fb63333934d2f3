//! The deployment: admissions and controllers, as processes that are started, killed, stopped for a
//! while and started again, each with a link of its own to Redis.

mod process;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;
use vestibule_admission::in_process as admission;
use vestibule_controller::in_process as controller;
use vestibule_store::{Clock, Store};

pub use self::process::Process;
use self::process::{Service, boxed, failed};
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
        let (machines, places) = (Machines::default(), Mutex::new(places));
        Self(Arc::new(Shared { network, history, seed, machines, regions, places }))
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
        let name = match which {
            Which::Admission(at) => {
                let process = self.start_admission(at, number);
                let name = Arc::clone(&process.name);
                self.lock().admissions[at] = Some(process);
                name
            }
            Which::Controller(at) => {
                let process = self.start_controller(at, number);
                let name = Arc::clone(&process.name);
                self.lock().controllers[at] = Some(process);
                name
            }
        };
        self.note(&name, "starts");
    }

    /// Kills the process at this place: nothing of it happens any more, but what it has sent may arrive.
    pub(crate) fn kill(&self, which: Which) {
        if let Some(process) = self.take(which) {
            self.end(&process);
            process.instance.crash();
        }
    }

    /// Stops the process at this place in order, as for an upgrade.
    pub(crate) async fn stop(&self, which: Which) {
        if let Some(process) = self.take(which) {
            self.note(&process.name, "stops");
            process.instance.stop().await;
            self.end(&process);
        }
    }

    fn take(&self, which: Which) -> Option<Process<Box<dyn Service>>> {
        let mut places = self.lock();
        match which {
            Which::Admission(at) => places.admissions[at].take().map(boxed),
            Which::Controller(at) => places.controllers[at].take().map(boxed),
        }
    }

    /// The place at the network of the process at this place, if one runs.
    #[must_use]
    pub fn node(&self, which: Which) -> Option<Node> {
        let places = self.lock();
        match which {
            Which::Admission(at) => places.admissions[at].as_ref().map(|process| process.node),
            Which::Controller(at) => places.controllers[at].as_ref().map(|process| process.node),
        }
    }

    /// The running admissions that a load balancer would send visitors to.
    #[must_use]
    pub fn ready_admissions(&self) -> Vec<Process<admission::Instance>> {
        let places = self.lock();
        let running = places.admissions.iter().flatten();
        running.filter(|process| process.instance.is_ready()).cloned().collect()
    }

    /// Those of them that stand in this region, by its place in the scenario.
    #[must_use]
    pub fn ready_admissions_of(&self, region: usize) -> Vec<Process<admission::Instance>> {
        let places = self.lock();
        let of_region = places.admissions.iter().skip(region).step_by(self.0.regions.len());
        let running = of_region.flatten();
        running.filter(|process| process.instance.is_ready()).cloned().collect()
    }

    /// The running controllers that a load balancer would send operators to.
    #[must_use]
    pub fn ready_controllers(&self) -> Vec<Process<controller::Instance>> {
        let places = self.lock();
        let running = places.controllers.iter().flatten();
        running.filter(|process| process.instance.is_ready()).cloned().collect()
    }

    /// Starts processes again that ended by themselves, as an orchestrator does. That they did is an
    /// invariant that does not hold.
    pub(crate) fn restart_failed(&self) {
        for which in self.all() {
            let Some(name) = self.failed(which) else { continue };
            let what = format!("{name} has ended by itself");
            let (at_ms, invariant) = (self.0.network.now_ms(), "processes stay up");
            self.observer().report(Broken { at_ms, invariant, what });
            self.kill(which);
            self.start(which);
        }
    }

    /// The name of the process at this place, if it has ended by itself.
    fn failed(&self, which: Which) -> Option<Arc<str>> {
        let places = self.lock();
        match which {
            Which::Admission(at) => places.admissions[at].as_ref().and_then(failed),
            Which::Controller(at) => places.controllers[at].as_ref().and_then(failed),
        }
    }

    fn start_admission(&self, at: usize, number: u64) -> Process<admission::Instance> {
        let name: Arc<str> = format!("admission-{at}#{number}").into();
        let (node, store) = self.connect(&name);
        let instance = admission::Instance::start(admission::Options {
            store,
            secret: secret(),
            region: self.0.regions[at % self.0.regions.len()].clone(),
            public_url: PUBLIC_URL.to_owned(),
            machine: self.0.machines.machine(self.0.seed.chance("process", number)),
        });
        Process { name, node, killed: CancellationToken::new(), instance }
    }

    fn start_controller(&self, at: usize, number: u64) -> Process<controller::Instance> {
        let name: Arc<str> = format!("controller-{at}#{number}").into();
        let (node, store) = self.connect(&name);
        let instance = controller::Instance::start(controller::Options {
            store,
            secret: secret(),
            region: self.0.regions[at % self.0.regions.len()].clone(),
            public_url: PUBLIC_URL.to_owned(),
            machine: self.0.machines.machine(self.0.seed.chance("process", number)),
        });
        Process { name, node, killed: CancellationToken::new(), instance }
    }

    fn connect(&self, name: &str) -> (Node, Store) {
        let node = self.0.network.connect(name);
        let link = SimulatedLink::new(self.0.network.clone(), node);
        let store = Store::over(Arc::new(link), Clock::Server);
        (node, store.recorded(name, Arc::new(self.0.history.clone())))
    }

    fn end<I>(&self, process: &Process<I>) {
        self.note(&process.name, "ends");
        self.0.network.cut_off(process.node);
        process.killed.cancel();
    }

    fn note(&self, name: &str, what: &str) {
        self.0.history.observer().note(self.0.network.now_ms(), name, what);
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.0.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
