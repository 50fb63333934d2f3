//! The world of a run: the network, the servers and the services, and all of a scenario that happens in
//! it. [`crate::run()`] plays a whole scenario in one; whoever brings visitors of its own starts one from
//! a scenario without a cast, and sends them through its [`Door`].

use std::{cell::RefCell, sync::Arc, time::Duration};

use tokio::{task::JoinHandle, time::sleep};
use vestibule_domain::{RoomId, RoomSnapshot};
use vestibule_history::Bounds;
use vestibule_redis_model::Engine;

use crate::{
    Outcome, Scenario,
    deployment::{Deployment, Which},
    door::Door,
    history::History,
    invariants,
    network::{Network, Servers},
    observer::Observer,
    operator::Operator,
    visitors::Stage,
};

thread_local! {
    /// Compiling the scripts takes longer than a short run.
    static ENGINE: RefCell<Option<Engine>> = const { RefCell::new(None) };
}

/// How often it is looked for processes that have ended by themselves, ms.
const CHECK_MS: u64 = 1_000;

/// The world of a run, inside of [`crate::in_virtual_time()`].
#[derive(Debug)]
pub struct World {
    deployment: Deployment,
    history: History,
    delivering: JoinHandle<()>,
}

// === impl World ===

impl World {
    /// Starts the services of `scenario`, and all that happens in it. What services and visitors learn is
    /// judged within `bounds`; without them, only what the servers hold is looked at. `traced`: the last
    /// moments are kept.
    #[must_use]
    pub fn start(scenario: &Scenario, bounds: Option<&Bounds>, traced: bool) -> Self {
        let seed = scenario.seed;
        let observer = Observer::new(traced);
        let servers = Servers::new(engine(scenario.defect.as_ref()));
        let network = Network::new(servers, observer.clone(), seed.chance("network", 0));
        let history = History::new(network.clone(), observer, bounds.cloned().unwrap_or_default());
        if bounds.is_none() {
            history.close();
        }
        let deployment = Deployment::new(
            network.clone(),
            history.clone(),
            seed,
            scenario.services,
            scenario.regions.clone(),
        );
        let delivering = tokio::spawn(async move { network.run().await });
        for which in deployment.all() {
            deployment.start(which);
        }
        let world = Self { deployment, history, delivering };
        world.begin(scenario);
        world
    }

    /// The way in.
    #[must_use]
    pub fn door(&self) -> Door {
        Door::new(self.deployment.clone())
    }

    /// The processes.
    #[must_use]
    pub fn deployment(&self) -> &Deployment {
        &self.deployment
    }

    /// The network, and time.
    #[must_use]
    pub fn network(&self) -> &Network {
        self.deployment.network()
    }

    /// Whether every process is ready, and every admission knows the room.
    #[must_use]
    pub fn is_ready(&self, room: &RoomId) -> bool {
        let admissions = self.deployment.ready_admissions();
        let controllers = self.deployment.ready_controllers();
        admissions.len() + controllers.len() == self.deployment.all().len()
            && admissions.iter().all(|process| process.instance.room(room.as_str()).is_some())
    }

    /// The room as the controller last heard of it that serves it.
    #[must_use]
    pub fn snapshot(&self, room: &RoomId) -> Option<Arc<RoomSnapshot>> {
        let controllers = self.deployment.ready_controllers();
        let serves = controllers.iter().find(|process| process.instance.serves(room).is_some());
        Some(serves?.instance.room(room.as_str())?.snapshot())
    }

    /// How many seats of the room are taken, by what Redis holds.
    #[must_use]
    pub fn seats_taken(&self, room: &RoomId) -> u64 {
        self.network().servers(|servers, now_ms| {
            let clock_ms = servers.clock_ms(now_ms);
            invariants::seats(servers.keyspace(), room.as_str(), clock_ms).0
        })
    }

    /// How many sessions Redis keeps, those that are over and not forgotten yet included.
    #[must_use]
    pub fn sessions_kept(&self, room: &RoomId) -> usize {
        self.network()
            .servers(|servers, _| invariants::sessions_kept(servers.keyspace(), room.as_str()))
    }

    /// How long ago the room was ticked, by what Redis holds, ms; `None`: never.
    #[must_use]
    pub fn ticked_ago_ms(&self, room: &RoomId) -> Option<u64> {
        self.network().servers(|servers, now_ms| {
            let ticked_ms = invariants::ticked_ms(servers.keyspace(), room.as_str())?;
            Some(servers.clock_ms(now_ms).saturating_sub(ticked_ms))
        })
    }

    /// Kills a process, which stays dead.
    pub fn kill(&self, which: Which) {
        self.deployment.kill(which);
    }

    /// Lets so much time pass. Processes that have ended by themselves are started again.
    pub async fn last(&self, ms: u64) {
        for _ in 0..ms / CHECK_MS {
            sleep(Duration::from_millis(CHECK_MS)).await;
            self.restart_failed();
            self.look_for_empty_seats();
        }
    }

    /// Starts processes again that have ended by themselves.
    pub fn restart_failed(&self) {
        self.deployment.restart_failed();
    }

    /// While somebody leads, people can be let in.
    fn look_for_empty_seats(&self) {
        let controllers = self.deployment.ready_controllers();
        let leads = controllers.iter().any(|process| process.instance.leads().is_some());
        let serves = !self.deployment.ready_admissions().is_empty();
        self.history.look_for_empty_seats(|room| {
            let free = self.network().servers(|servers, now_ms| {
                let clock_ms = servers.clock_ms(now_ms);
                invariants::free_seats(servers.keyspace(), room.as_str(), clock_ms)
            });
            free.filter(|_| leads && serves)
        });
    }

    /// Ends everything. Of calls that are under way nobody will know the outcome: the judge hears that first.
    pub async fn end(self) -> Outcome {
        for which in self.deployment.all() {
            self.deployment.kill(which);
        }
        self.delivering.abort();
        // It passes only when everybody knows that its calls are broken.
        sleep(Duration::from_millis(1)).await;
        let figures = self.history.close();
        let observer = self.deployment.observer();
        Outcome {
            broken: observer.broken(),
            figures,
            digest: observer.digest(),
            commands: observer.commands(),
            trace: observer.trace(),
        }
    }

    /// Starts all that happens in the scenario.
    fn begin(&self, scenario: &Scenario) {
        let (seed, door) = (scenario.seed, self.door());
        for fault in &scenario.faults {
            let (preparing, deployment) = (fault.clone(), self.deployment.clone());
            tokio::spawn(async move { preparing.prepare(&deployment).await });
            let (fault, deployment) = (fault.clone(), self.deployment.clone());
            tokio::spawn(async move { fault.happen(&deployment, seed).await });
        }
        let operator = |part, number| {
            Operator::new(door.clone(), self.history.clone(), seed.chance(part, number))
        };
        for (at, room) in (0..).zip(scenario.rooms.clone()) {
            let mut operator = operator("operator", at);
            tokio::spawn(async move { operator.create(&room.name, &room.settings).await });
        }
        for operation in scenario.operations.clone() {
            let mut operator = operator("operation happens", operation.number);
            let room = scenario.rooms[operation.room].name.clone();
            tokio::spawn(async move {
                sleep(Duration::from_millis(operation.at_ms)).await;
                operator.operate(&room, &operation.what).await;
            });
        }
        let stages = self.stages(scenario);
        for part in &scenario.cast.0 {
            if let Some(stage) = stages.get(part.room) {
                tokio::spawn(part.clone().play(stage.clone(), seed));
            }
        }
    }

    fn stages(&self, scenario: &Scenario) -> Vec<Stage> {
        let rooms = scenario.rooms.iter();
        let rooms = rooms.filter_map(|room| RoomId::new(room.name.as_str()).ok());
        let stage = |room| Stage {
            door: self.door(),
            network: self.network().clone(),
            history: self.history.clone(),
            room,
        };
        rooms.map(stage).collect()
    }
}

fn engine(defect: Option<&(String, String)>) -> Engine {
    if let Some((instead_of, does)) = defect {
        return Engine::with_defect(instead_of, does);
    }
    ENGINE.with_borrow_mut(|engine| engine.get_or_insert_with(Engine::default).clone())
}
