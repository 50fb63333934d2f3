//! A deployment: several instances of both services over one Redis, from the programs that users
//! run, and a way to stop each of them.

use std::{env, path::PathBuf, time::Duration};

use anyhow::{Result, bail, ensure};
use reqwest::{Client, redirect::Policy};
use tempfile::TempDir;

use crate::{
    Authority, Aws, Carries, Flavor, Fleet, Operator, Process, Redis, Reply, Service, SiteVisitor,
    Terminal, Verifier, Visitor, eventually,
    instance::{Instance, START, Settings, start_all},
};

const PREVIOUS_SECRET: &str = "VESTIBULE_SECRET_PREVIOUS";
const CALL: Duration = Duration::from_secs(15);

/// What a deployment shall be.
#[derive(Debug, Clone)]
pub struct Builder {
    flavor: Flavor,
    redis_url: Option<String>,
    admissions_redis_url: Option<String>,
    admissions: usize,
    controllers: usize,
    grace_seconds: u32,
    log: String,
    regions: Vec<String>,
    environment: Vec<(String, String)>,
    programs: Option<PathBuf>,
    descriptors: Option<u32>,
    secrets: Option<[String; 2]>,
    http: Option<Client>,
}

/// A running deployment. Everything ends with it.
#[derive(Debug)]
pub struct Deployment {
    redis: Option<Redis>,
    settings: Settings,
    admissions: Vec<Instance>,
    controllers: Vec<Instance>,
    admission_fleet: Fleet,
    controller_fleet: Fleet,
    /// What instances have printed that were replaced.
    earlier_logs: String,
    _dir: TempDir,
}

// === impl Builder ===

impl Builder {
    /// So many instances of admission; 1 unless said.
    #[must_use]
    pub fn admissions(mut self, count: usize) -> Self {
        self.admissions = count;
        self
    }

    /// One instance of admission in each of these regions.
    #[must_use]
    pub fn regions(mut self, names: &[&str]) -> Self {
        self.regions = names.iter().map(|name| (*name).to_owned()).collect();
        self.admissions = names.len();
        self
    }

    /// So many controllers; 1 unless said. The first one leads.
    #[must_use]
    pub fn controllers(mut self, count: usize) -> Self {
        self.controllers = count;
        self
    }

    /// Which Redis; Redis 7 unless said.
    #[must_use]
    pub fn flavor(mut self, flavor: Flavor) -> Self {
        self.flavor = flavor;
        self
    }

    /// Over servers of the test's own, at this address, instead of a Redis that goes with it.
    #[must_use]
    pub fn over(mut self, url: &str) -> Self {
        self.redis_url = Some(url.to_owned());
        self
    }

    /// Another address for the admissions than for the controllers.
    #[must_use]
    pub fn admissions_over(mut self, url: &str) -> Self {
        self.admissions_redis_url = Some(url.to_owned());
        self
    }

    /// How long a stop may take, in seconds.
    #[must_use]
    pub fn grace_seconds(mut self, seconds: u32) -> Self {
        self.grace_seconds = seconds;
        self
    }

    /// What is logged, as `VESTIBULE_LOG` has it.
    #[must_use]
    pub fn log(mut self, filter: &str) -> Self {
        filter.clone_into(&mut self.log);
        self
    }

    /// One more option of every instance, as an environment variable.
    #[must_use]
    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The folder with both services, if it is not the one that the tests were built into.
    #[must_use]
    pub fn programs(mut self, folder: PathBuf) -> Self {
        self.programs = Some(folder);
        self
    }

    /// Each instance may have so many files and connections open, as if the system allowed no more.
    #[must_use]
    pub fn descriptors(mut self, count: u32) -> Self {
        self.descriptors = Some(count);
        self
    }

    /// With the secret and the API token of another one, to take its place.
    #[must_use]
    pub fn in_place_of(mut self, other: &Deployment) -> Self {
        self.secrets = Some(other.secrets().map(str::to_owned));
        self
    }

    /// Both services show the certificate of `authority`, and are asked by `http`, which trusts it.
    #[must_use]
    pub fn tls(mut self, authority: &Authority, http: Client) -> Self {
        let (cert, key) = authority.server();
        self.http = Some(http);
        self.environment("VESTIBULE_TLS_CERT", &cert.to_string_lossy())
            .environment("VESTIBULE_TLS_KEY", &key.to_string_lossy())
    }

    /// Starts it, and waits until every instance is ready.
    pub async fn start(self) -> Result<Deployment> {
        let (redis, redis_url) = if let Some(url) = self.redis_url {
            (None, url)
        } else {
            let redis = Redis::start(self.flavor).await?;
            let url = redis.url();
            (Some(redis), url)
        };
        let dir = place_for_logs()?;
        let [secret, api_token] =
            self.secrets.unwrap_or_else(|| [random_text(48), random_text(32)]);
        let settings = Settings {
            admissions_redis_url: self.admissions_redis_url.unwrap_or_else(|| redis_url.clone()),
            redis_url,
            secret,
            api_token,
            grace_seconds: self.grace_seconds,
            log: self.log,
            regions: self.regions,
            environment: self.environment,
            programs: self.programs,
            descriptors: self.descriptors,
            dir: dir.path().to_owned(),
            scheme: if self.http.is_some() { "https" } else { "http" },
            http: match self.http {
                Some(http) => http,
                None => Client::builder().timeout(CALL).redirect(Policy::none()).build()?,
            },
        };
        let first = 1.min(self.controllers);
        let mut controllers = start_all(&settings, Service::Controller, first, 0).await?;
        let followers = self.controllers.saturating_sub(1);
        let (followers, admissions) = tokio::try_join!(
            start_all(&settings, Service::Controller, followers, 1),
            start_all(&settings, Service::Admission, self.admissions, 0),
        )?;
        controllers.extend(followers);
        let fleet = |instances: &[Instance]| {
            Fleet::new(settings.http.clone(), instances.iter().map(|i| i.base.clone()))
        };
        let (admission_fleet, controller_fleet) = (fleet(&admissions), fleet(&controllers));
        Ok(Deployment {
            redis,
            settings,
            admissions,
            controllers,
            admission_fleet,
            controller_fleet,
            earlier_logs: String::new(),
            _dir: dir,
        })
    }
}

// === impl Deployment ===

impl Deployment {
    /// One instance of each service over Redis 7, unless more is asked for.
    #[must_use]
    pub fn builder() -> Builder {
        Builder {
            flavor: Flavor::Redis7,
            redis_url: None,
            admissions_redis_url: None,
            admissions: 1,
            controllers: 1,
            grace_seconds: 10,
            log: "info".to_owned(),
            regions: Vec::new(),
            environment: Vec::new(),
            programs: None,
            descriptors: None,
            secrets: None,
            http: None,
        }
    }

    /// The Redis under it.
    ///
    /// # Panics
    /// If it was started with [`Builder::over`].
    #[must_use]
    pub fn redis(&self) -> &Redis {
        self.redis.as_ref().expect("its servers are the test's own")
    }

    /// The Redis under it, to be killed.
    ///
    /// # Panics
    /// If it was started with [`Builder::over`].
    pub fn redis_mut(&mut self) -> &mut Redis {
        self.redis.as_mut().expect("its servers are the test's own")
    }

    /// All admissions.
    #[must_use]
    pub fn admissions(&self) -> &Fleet {
        &self.admission_fleet
    }

    /// All controllers.
    #[must_use]
    pub fn controllers(&self) -> &Fleet {
        &self.controller_fleet
    }

    /// An operator who may do everything.
    #[must_use]
    pub fn operator(&self) -> Operator {
        Operator::new(self.controller_fleet.clone(), &self.settings.api_token)
    }

    /// The same at one controller alone.
    #[must_use]
    pub fn operator_at(&self, index: usize) -> Operator {
        Operator::new(self.controller_fleet.only(index), &self.settings.api_token)
    }

    /// An operator at a terminal, who may do everything.
    #[must_use]
    pub fn terminal(&self) -> Terminal {
        Terminal::new(&self.controllers[0].base, &self.settings.api_token)
    }

    /// An AWS-style client of `event`.
    #[must_use]
    pub fn aws(&self, event: &str) -> Aws {
        let (admissions, controllers) = (&self.admission_fleet, &self.controller_fleet);
        Aws::new(admissions.clone(), controllers.clone(), &self.settings.api_token, event)
    }

    /// A new visitor of `room`.
    #[must_use]
    pub fn visitor(&self, room: &str) -> Visitor {
        Visitor::new(self.admission_fleet.clone(), room, Carries::Header)
    }

    /// A new visitor of a site at `host`, whose gateway asks the authorizer.
    #[must_use]
    pub fn site_visitor(&self, host: &str) -> SiteVisitor {
        SiteVisitor::new(self.admission_fleet.clone(), host)
    }

    /// A gateway that has fetched the keys.
    pub async fn verifier(&self) -> Result<Verifier> {
        Verifier::fetch(&self.admission_fleet).await
    }

    /// Creates a room, which answers AWS-style calls unless `settings` say otherwise, and waits until every admission
    /// instance knows its settings.
    pub async fn create_room(&self, room: &str, settings: &serde_json::Value) -> Result<()> {
        let mut with_aws = settings.clone();
        if let Some(settings) = with_aws.as_object_mut() {
            settings.entry("aws_style_api").or_insert(true.into());
        }
        let mut reply = self.operator().put_room(room, &with_aws).await?;
        // A release that does not know the setting answers them in every room.
        if reply.status == 400 && reply.text.contains("aws_style_api") {
            reply = self.operator().put_room(room, settings).await?;
        }
        ensure!(matches!(reply.status, 200 | 201), "PUT {room}: {} {}", reply.status, reply.text);
        for index in 0..self.admissions.len() {
            let aws =
                Aws::new(self.admission_fleet.only(index), self.controller_fleet.clone(), "", room);
            // `room-not-found` while it is not known there.
            eventually(START, "the room at every admission", || async {
                let reply = aws.event_get("/serving_num").await?;
                ensure!(
                    reply.status == 200 || reply.text.contains("aws-style-api-off"),
                    "{}",
                    reply.text
                );
                Ok(())
            })
            .await?;
        }
        Ok(())
    }

    /// What must never be seen outside: the secret and the API token.
    #[must_use]
    pub fn secrets(&self) -> [&str; 2] {
        [&self.settings.secret, &self.settings.api_token]
    }

    /// Gives instances that are started from now on this secret, and `previous` as the one that they know besides.
    pub fn set_secrets(&mut self, secret: &str, previous: &str) {
        secret.clone_into(&mut self.settings.secret);
        self.set_environment(PREVIOUS_SECRET, previous);
    }

    /// Gives instances that are started from now on this option, as an environment variable.
    pub fn set_environment(&mut self, name: &str, value: &str) {
        let environment = &mut self.settings.environment;
        environment.retain(|(other, _)| other != name);
        environment.push((name.to_owned(), value.to_owned()));
    }

    /// Everything that all instances have printed.
    #[must_use]
    pub fn logs(&self) -> String {
        let instances = self.admissions.iter().chain(&self.controllers);
        let running = instances.map(|instance| instance.process.log());
        std::iter::once(self.earlier_logs.clone()).chain(running).collect()
    }

    /// Kills an instance with SIGKILL. Its peers learn nothing.
    pub fn kill(&mut self, service: Service, index: usize) -> Result<()> {
        self.fleet(service).set_up(index, false);
        self.process_mut(service, index).kill()
    }

    /// Starts an instance again that has ended, at its addresses.
    pub async fn restart(&mut self, service: Service, index: usize) -> Result<()> {
        let instance = match service {
            Service::Admission => &mut self.admissions[index],
            Service::Controller => &mut self.controllers[index],
        };
        instance.restart(&self.settings, service).await?;
        self.fleet(service).set_up(index, true);
        Ok(())
    }

    /// Replaces an instance as a roll-out does: stops it in order, and starts the program of the folder `programs` at its
    /// addresses; `None`: the one that the tests were built with. If it led, another controller leads first.
    pub async fn replace(
        &mut self,
        service: Service,
        index: usize,
        programs: Option<PathBuf>,
    ) -> Result<()> {
        self.fleet(service).set_up(index, false);
        let settings = Settings { programs, ..self.settings.clone() };
        let log = self.instance_mut(service, index).stop().await?;
        self.earlier_logs += &log;
        if service == Service::Controller && self.controllers.len() > 1 {
            eventually(START, "another leader", || self.expect_leader_but(index)).await?;
        }
        self.instance_mut(service, index).restart(&settings, service).await?;
        self.fleet(service).set_up(index, true);
        Ok(())
    }

    async fn expect_leader_but(&self, index: usize) -> Result<()> {
        for other in (0..self.controllers.len()).filter(|other| *other != index) {
            if self.leads(other).await? {
                return Ok(());
            }
        }
        bail!("nobody leads")
    }

    /// The process of an instance, to be asked about.
    #[must_use]
    pub fn process(&self, service: Service, index: usize) -> &Process {
        &self.instance(service, index).process
    }

    /// The process of an instance, to be stopped.
    pub fn process_mut(&mut self, service: Service, index: usize) -> &mut Process {
        &mut self.instance_mut(service, index).process
    }

    /// `GET` at the admin listener of an instance: `/readyz`, `/livez`, `/metrics`.
    pub async fn admin(&self, service: Service, index: usize, path: &str) -> Result<Reply> {
        let url = format!("{}{path}", self.instance(service, index).admin);
        Reply::of(self.settings.http.get(url)).await
    }

    /// Whether a controller takes itself for the leader.
    pub async fn leads(&self, index: usize) -> Result<bool> {
        let metrics = self.admin(Service::Controller, index, "/metrics").await?.expect(200)?;
        Ok(metrics.text.contains("vestibule_leading 1\n"))
    }

    /// Which controller leads, once one does: the first to start, unless it was held up.
    pub async fn leading(&self) -> Result<usize> {
        eventually(START, "a leader", || async {
            for index in 0..self.controllers.len() {
                if self.leads(index).await? {
                    return Ok(index);
                }
            }
            bail!("nobody leads")
        })
        .await
    }

    /// The address at which an instance listens, as `host:port`.
    #[must_use]
    pub fn address(&self, service: Service, index: usize) -> &str {
        let base = &self.instance(service, index).base;
        base.split_once("://").map_or(base, |(_, address)| address)
    }

    /// The address of its admin listener, as `host:port`.
    #[must_use]
    pub fn admin_address(&self, service: Service, index: usize) -> &str {
        let base = &self.instance(service, index).admin;
        base.split_once("://").map_or(base, |(_, address)| address)
    }

    fn instance_mut(&mut self, service: Service, index: usize) -> &mut Instance {
        match service {
            Service::Admission => &mut self.admissions[index],
            Service::Controller => &mut self.controllers[index],
        }
    }

    fn instance(&self, service: Service, index: usize) -> &Instance {
        match service {
            Service::Admission => &self.admissions[index],
            Service::Controller => &self.controllers[index],
        }
    }

    fn fleet(&self, service: Service) -> &Fleet {
        match service {
            Service::Admission => &self.admission_fleet,
            Service::Controller => &self.controller_fleet,
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "secrets of this deployment")]
fn random_text(length: usize) -> String {
    let letter = || char::from(rand::random_range(b'a'..=b'z'));
    std::iter::repeat_with(letter).take(length).collect()
}

/// A folder in the one that `VESTIBULE_TEST_LOGS` names, where it stays; or one that goes with the
/// deployment.
fn place_for_logs() -> Result<TempDir> {
    let mut folder = tempfile::Builder::new();
    Ok(match env::var_os("VESTIBULE_TEST_LOGS") {
        Some(parent) => folder.disable_cleanup(true).tempdir_in(parent)?,
        None => folder.tempdir()?,
    })
}
