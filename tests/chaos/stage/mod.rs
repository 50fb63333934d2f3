//! What a run is played on: hosts, Redis, the services, and the links between them.

mod ground;
mod group;
mod instance;
mod link;
pub(crate) mod namespaces;
mod redis;
mod server;
mod servers;
mod turns;
mod witnesses;

use std::{net::IpAddr, path::Path, time::Duration};

use anyhow::{Result, ensure};
use futures_util::future::try_join_all;
use reqwest::{Client, redirect::Policy};
use tokio::sync::{Mutex, MutexGuard};
use vestibule_tests::{Fleet, Operator, Reply, Service, eventually};

use self::{
    ground::{Ground, Host},
    instance::Told,
    witnesses::Witnesses,
};
pub(crate) use self::{
    group::Group,
    instance::Instance,
    link::{Link, Weather},
    redis::{Redis, Topology},
    server::Server,
    servers::{Servers, State},
    turns::Turns,
};
use crate::chance::Chance;

const ADMISSIONS: usize = 3;
const CONTROLLERS: usize = 2;
/// How long everything may take to be ready.
const START: Duration = Duration::from_mins(1);
/// After how long a visitor gives a call up and tries elsewhere.
const CALL: Duration = Duration::from_secs(4);

/// All that a run is played on. Everything ends with it.
#[derive(Debug)]
pub(crate) struct Stage {
    /// The admissions first, then the controllers.
    instances: Vec<Instance>,
    /// Held by a fault of Redis for as long as it lasts.
    redis: Mutex<Redis>,
    /// The hosts of Redis that instances find by themselves.
    redis_hosts: Vec<Host>,
    turns: Turns,
    witnesses: Witnesses,
    admissions: Fleet,
    operator: Operator,
    /// Last, so that the hosts outlive what runs on them.
    ground: Ground,
}

// === impl Stage ===

impl Stage {
    /// Builds it, and waits until every instance is ready. Logs, histories and data go into `folder`.
    pub(crate) async fn build(
        folder: &Path,
        chance: &mut Chance,
        topology: Topology,
        clocks: bool,
    ) -> Result<Self> {
        let ground = Ground::here()?;
        // Servers tell each other's addresses there, so only the kernel can cut them off.
        let can = topology == Topology::Pair || ground.has_hosts();
        ensure!(can, "`{}` needs network namespaces", topology.name());
        let redis = Redis::start(topology, &ground, folder, clocks).await?;
        let told = Told::draw(folder, chance)?;
        let mut instances = Vec::new();
        for (service, count) in
            [(Service::Admission, ADMISSIONS), (Service::Controller, CONTROLLERS)]
        {
            for number in 1..=count {
                let name = format!("{service:?}-{number}").to_lowercase();
                let way = redis.way(&ground).await?;
                instances.push(Instance::new(service, name, ground.host()?, way, told.clone()));
            }
        }
        let http = Client::builder().timeout(CALL).redirect(Policy::none()).build()?;
        let fleet = |service| {
            let of_service = instances.iter().filter(|instance| instance.service == service);
            Fleet::new(http.clone(), of_service.map(Instance::base))
        };
        let admissions = fleet(Service::Admission);
        let operator = Operator::new(fleet(Service::Controller), &told.api_token);
        let redis_hosts = redis.hosts();
        let redis = Mutex::new(redis);
        let turns = Turns::default();
        let witnesses = Witnesses::default();
        let stage =
            Self { instances, redis, redis_hosts, turns, witnesses, admissions, operator, ground };
        for instance in &stage.instances {
            instance.start(&mut *instance.running().await)?;
        }
        stage.is_ready().await?;
        Ok(stage)
    }

    /// Every instance.
    pub(crate) fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// Redis, for this caller alone.
    pub(crate) async fn redis(&self) -> MutexGuard<'_, Redis> {
        self.redis.lock().await
    }

    /// What becomes of the servers.
    pub(crate) fn turns(&self) -> &Turns {
        &self.turns
    }

    /// Who remembers what Redis has lost.
    pub(crate) fn witnesses(&self) -> &Witnesses {
        &self.witnesses
    }

    /// Redis loses something now; `apart`: who goes on with the old primary, if it is a split.
    pub(crate) fn note_loss(&self, apart: Option<&[&Instance]>) {
        let names = |instances: &[&Instance]| instances.iter().map(|it| it.name.clone()).collect();
        let all = self.instances.iter().map(|instance| instance.name.as_str());
        self.witnesses.note_loss(all, apart.map(names));
    }

    /// The admissions, as visitors see them.
    pub(crate) fn admissions(&self) -> &Fleet {
        &self.admissions
    }

    /// An operator who may do everything.
    pub(crate) fn operator(&self) -> &Operator {
        &self.operator
    }

    /// Waits until every instance says that it is ready.
    pub(crate) async fn is_ready(&self) -> Result<()> {
        let http = self.admissions.http();
        try_join_all(self.instances.iter().map(|instance| async {
            eventually(START, &format!("readiness of {}", instance.name), || async {
                Reply::of(http.get(instance.readiness())).await?.expect(200)
            })
            .await
        }))
        .await?;
        Ok(())
    }

    /// What cuts off and lets through.
    pub(crate) fn ground(&self) -> &Ground {
        &self.ground
    }

    /// Breaks the connections of `instance` to Redis.
    pub(crate) fn cut(&self, instance: &Instance) -> Result<()> {
        match &instance.link {
            Some(link) => link.cut(),
            None => instance.host.break_connections(&self.redis_addresses())?,
        }
        Ok(())
    }

    /// Redis closes the connections of `instance`, which does not hear of it.
    pub(crate) fn forget_at_redis(&self, instance: &Instance) -> Result<()> {
        if let Some(link) = &instance.link {
            link.forget_at_server();
            return Ok(());
        }
        for host in &self.redis_hosts {
            self.ground.block(host.address, instance.host.address)?;
            host.break_connections(&[instance.host.address])?;
            self.ground.unblock(host.address, instance.host.address)?;
        }
        Ok(())
    }

    /// Stops what `instance` and Redis send to each other, or one of the two. Where the kernel does it,
    /// `and_people`: visitors and operators, too.
    pub(crate) fn part(&self, instance: &Instance, ways: Ways, and_people: bool) -> Result<()> {
        for (from, to) in self.parted(instance, ways, and_people) {
            if !self.ground.block(from, to)?
                && let Some(link) = &instance.link
            {
                link.change(|weather| {
                    weather.holds_requests = ways.requests;
                    weather.holds_answers = ways.answers;
                });
            }
        }
        Ok(())
    }

    /// Lets it go on.
    pub(crate) fn join(&self, instance: &Instance, ways: Ways, and_people: bool) -> Result<()> {
        if let Some(link) = &instance.link {
            link.change(|weather| *weather = Weather::default());
        }
        for (from, to) in self.parted(instance, ways, and_people) {
            self.ground.unblock(from, to)?;
        }
        Ok(())
    }

    /// Who does not reach whom.
    fn parted(&self, instance: &Instance, ways: Ways, and_people: bool) -> Vec<(IpAddr, IpAddr)> {
        let host = instance.host.address;
        let mut others = match &instance.link {
            Some(link) => vec![link.address().ip()],
            None => self.redis_addresses(),
        };
        others.extend(and_people.then(namespaces::people));
        let both = others.into_iter().flat_map(|other| {
            [ways.requests.then_some((host, other)), ways.answers.then_some((other, host))]
        });
        both.flatten().collect()
    }

    fn redis_addresses(&self) -> Vec<IpAddr> {
        self.redis_hosts.iter().map(|host| host.address).collect()
    }

    /// Ends the services in order, the controllers last. Returns who did not manage.
    pub(crate) async fn close(&self) -> Vec<String> {
        let mut failed = Vec::new();
        for instance in &self.instances {
            let mut running = instance.running().await;
            if let Err(error) = instance.stop(&mut running).await {
                failed.push(format!("{error:#}"));
            }
        }
        failed
    }
}

/// In which directions nothing passes between a process and Redis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ways {
    /// From the process.
    pub(crate) requests: bool,
    /// To the process.
    pub(crate) answers: bool,
}

/// Fails unless every program that a run needs is here; `clocks`: also what sets clocks.
pub(crate) fn check_programs(clocks: bool) -> Result<()> {
    let redis = std::process::Command::new("redis-server").arg("--version").output();
    ensure!(redis.is_ok(), "no redis-server on the PATH: install it, or run `make test`");
    ensure!(
        !clocks || Server::can_set_clocks(),
        "the fault `clock` needs libfaketime: install it (Debian: apt-get install faketime), or \
         leave `clock` out of VESTIBULE_CHAOS_FAULTS"
    );
    Ok(())
}
