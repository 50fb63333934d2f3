//! Making faults happen.

use std::{collections::BTreeSet, time::Duration};

use tokio::time::sleep;
use vestibule_history::ServersAre;

use super::{Fault, FaultKind};
use crate::{
    Chance, Seed,
    deployment::{Deployment, Which},
    invariants::room_of,
    network::{Node, Servers, Weather},
};

/// The longest that a restart of Redis takes, ms.
const RESTART_MS: u64 = 800;
/// What Redis refuses writes with.
const REFUSALS: [&str; 4] = [
    "READONLY You can't write against a read only replica.",
    "OOM command not allowed when used memory > 'maxmemory'.",
    "LOADING Redis is loading the dataset in memory",
    "NOREPLICAS Not enough good replicas to write.",
];

// === impl Fault ===

impl Fault {
    /// What must be done before: remembering the state that Redis will go back to.
    pub(crate) async fn prepare(&self, deployment: &Deployment) {
        if self.kind.goes_back() {
            let then_ms = self.at_ms.saturating_sub(self.back_ms);
            sleep(Duration::from_millis(then_ms)).await;
            deployment.network().servers(Servers::remember);
            if self.kind == FaultKind::Split {
                deployment.history().servers(ServersAre::Lagging);
            }
        }
    }

    /// Waits for its time and makes it happen.
    pub(crate) async fn happen(&self, deployment: &Deployment, seed: Seed) {
        sleep(Duration::from_millis(self.at_ms)).await;
        let network = deployment.network();
        deployment.observer().note(network.now_ms(), "FAULT", self);
        let mut chance = seed.chance("fault happens", self.number);
        let all = deployment.all();
        let which = *chance.one_of(&all);
        match self.kind {
            FaultKind::Kill => self.kill(deployment, which).await,
            FaultKind::Freeze => self.freeze(deployment, which),
            FaultKind::PauseInTick => network.freeze_in_tick(self.lasts_ms),
            FaultKind::Upgrade => self.upgrade(deployment, &all).await,
            FaultKind::Cut => with_node(deployment, which, |node| network.break_connections(node)),
            FaultKind::Weather | FaultKind::Deaf => {
                self.change_weather(deployment, which, &mut chance).await;
            }
            FaultKind::Refuse => {
                let error = chance.one_of(&REFUSALS);
                network.servers(|servers, _| servers.refuse_writes(Some(error)));
                sleep(self.lasts()).await;
                network.servers(|servers, _| servers.refuse_writes(None));
            }
            FaultKind::Clock => {
                let (sign, ms) = (chance.happens(0.5), self.jump_ms());
                let by_ms = i64::try_from(ms).unwrap_or(0) * if sign { 1 } else { -1 };
                network.servers(|servers, _| servers.step_clock(by_ms));
            }
            _ => self.change_data(deployment, &mut chance).await,
        }
    }

    async fn change_data(&self, deployment: &Deployment, chance: &mut Chance) {
        let network = deployment.network();
        let then_ms = self.at_ms.saturating_sub(self.back_ms);
        let takes_ms = chance.within(0..RESTART_MS);
        let silently = chance.happens(0.5);
        let behind = some_of(deployment, chance);
        let lost = chance.unit();
        let was_split = network.servers(|servers, _| !servers.apart().is_empty());
        let mut key = None;
        network.servers(|servers, now_ms| match self.kind {
            FaultKind::Away => servers.go_away(now_ms + self.lasts_ms, silently),
            FaultKind::Restart => servers.restart(now_ms + takes_ms),
            FaultKind::Wipe if silently => servers.wipe(),
            FaultKind::Wipe => servers.restart_with(None, now_ms + takes_ms),
            FaultKind::Rewind => servers.restart_with(Some(then_ms), now_ms + takes_ms),
            FaultKind::Promote => servers.promote(then_ms, BTreeSet::new()),
            FaultKind::Split => servers.promote(then_ms, behind),
            FaultKind::LoseKey => key = servers.lose_some_key(lost),
            _ => {}
        });
        if let Some(room) = key.as_deref().and_then(room_of) {
            deployment.history().key_lost(room);
        }
        if matches!(self.kind, FaultKind::Promote | FaultKind::Split) {
            self.tell_who_is_apart(deployment, was_split);
        }
        if self.kind.loses_data() {
            deployment.observer().forget();
            deployment.note_loss();
        }
        if self.kind != FaultKind::LoseKey && self.kind != FaultKind::Wipe {
            network.break_all_connections();
        }
        if self.kind == FaultKind::Split {
            sleep(self.lasts()).await;
            let was_split = network.servers(|servers, _| {
                let was_split = !servers.apart().is_empty();
                servers.heal();
                was_split
            });
            self.tell_who_is_apart(deployment, was_split);
            network.break_all_connections();
        }
    }

    /// Tells the judge, who needs to know what nobody else can.
    fn tell_who_is_apart(&self, deployment: &Deployment, was_split: bool) {
        let (network, history) = (deployment.network(), deployment.history());
        let apart = network.servers(|servers, _| servers.apart().clone());
        let begun_ms = network.true_ms() - network.now_ms();
        if !apart.is_empty() {
            let since_ms = begun_ms + self.at_ms.saturating_sub(self.back_ms);
            let apart = apart.into_iter().map(|node| network.name(node)).collect();
            history.servers(ServersAre::Split { since_ms, apart });
        } else if was_split {
            history.servers(ServersAre::Healed);
        }
    }

    async fn kill(&self, deployment: &Deployment, which: Which) {
        if !deployment.may_end(which) {
            return;
        }
        deployment.kill(which);
        sleep(self.lasts()).await;
        deployment.start(which);
    }

    fn freeze(&self, deployment: &Deployment, which: Which) {
        let network = deployment.network();
        let until_ms = network.now_ms() + self.lasts_ms;
        with_node(deployment, which, |node| network.freeze(node, until_ms));
    }

    /// Every other process, one after the other.
    async fn upgrade(&self, deployment: &Deployment, all: &[Which]) {
        for which in all.iter().step_by(2) {
            if !deployment.may_end(*which) {
                continue;
            }
            deployment.stop(*which).await;
            sleep(Duration::from_millis(self.lasts_ms / 8)).await;
            deployment.start(*which);
            sleep(Duration::from_millis(500)).await;
        }
    }

    async fn change_weather(&self, deployment: &Deployment, which: Which, chance: &mut Chance) {
        let bad = match self.kind {
            FaultKind::Deaf => Weather { deaf: true, ..Weather::default() },
            _ => Weather {
                slowest_ms: *chance.one_of(&[5, 50, 400, 1_500]),
                lost_requests: *chance.one_of(&[0.0, 0.02, 0.2]),
                lost_answers: *chance.one_of(&[0.0, 0.02, 0.2]),
                lost_messages: *chance.one_of(&[0.0, 0.05]),
                deaf: false,
            },
        };
        let Some(node) = deployment.node(which) else { return };
        deployment.network().set_weather(node, bad);
        sleep(self.lasts()).await;
        deployment.network().set_weather(node, Weather::default());
    }

    fn lasts(&self) -> Duration {
        Duration::from_millis(self.lasts_ms)
    }
}

fn with_node(deployment: &Deployment, which: Which, act: impl FnOnce(Node)) {
    if let Some(node) = deployment.node(which) {
        act(node);
    }
}

/// Some of the processes, but not all.
fn some_of(deployment: &Deployment, chance: &mut Chance) -> BTreeSet<Node> {
    let nodes: Vec<_> =
        deployment.all().into_iter().filter_map(|which| deployment.node(which)).collect();
    let some: BTreeSet<_> = nodes.iter().copied().filter(|_| chance.happens(0.4)).collect();
    if some.len() == nodes.len() { some.into_iter().skip(1).collect() } else { some }
}
