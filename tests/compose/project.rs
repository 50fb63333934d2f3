//! `docker-compose.yml`, under a name, ports and networks of the test's own, so that it disturbs nobody's.

use std::{env, fs, path::Path, process::Command};

use anyhow::{Context, Result, ensure};
use tokio::time::Instant;
use vestibule_tests::{eventually, free_port, ours};

use crate::{
    SOON,
    engine::{self, Engine, root, run},
    say,
};

/// What is killed and replaced, as `docker-compose.yml` calls it.
pub(crate) const INSTANCES: [&str; 4] =
    ["controller-1", "controller-2", "admission-1", "admission-2"];

/// The images, each named as the program in it.
const IMAGES: [&str; 2] = ["vestibule-admission", "vestibule-controller"];

/// Where programs are handed to the Dockerfile that are built already.
const PROGRAMS: &str = "target/programs";

/// A deployment, taken down when it is dropped.
#[derive(Debug)]
pub(crate) struct Project<'a> {
    engine: &'a Engine,
    name: String,
    /// Where the shop is.
    pub(crate) site: u16,
    /// Where apps call.
    pub(crate) apps: u16,
    /// Where Prometheus answers, once it is up.
    pub(crate) prometheus: u16,
    /// Where each controller answers operators.
    pub(crate) operators: [u16; 2],
    /// What cargo builds in the engine; none: what the tests are built with is taken.
    profile: Option<String>,
    version: u32,
    /// What Compose reads besides the environment.
    settings: Option<&'static str>,
}

// === impl Project ===

impl<'a> Project<'a> {
    /// One that is not there yet. The images are named by it, too.
    pub(crate) fn new(engine: &'a Engine) -> Result<Self> {
        let name = format!("vestibule-test-{}", std::process::id());
        let operators = [free_port(), free_port()];
        let asked =
            env::var_os("VESTIBULE_COMPOSE_BUILD").and_then(|asked| asked.into_string().ok());
        let profile = if asked.is_some() {
            asked
        } else if engine.is_private() || runs_on_debian_12()? {
            None
        } else {
            say(
                "what is built here does not run on Debian 12: the images are compiled in the engine",
            );
            Some("quick".to_owned())
        };
        Ok(Self {
            engine,
            name,
            site: free_port(),
            apps: free_port(),
            prometheus: free_port(),
            operators,
            profile,
            version: 1,
            settings: None,
        })
    }

    /// With what the profile `sentinel` adds.
    pub(crate) fn with_sentinels(mut self) -> Self {
        self.settings = Some("deploy/compose/sentinel.env");
        self
    }

    /// Builds both images as another version than before.
    pub(crate) fn build(&mut self) -> Result<()> {
        self.version += 1;
        if self.profile.is_none() {
            IMAGES.into_iter().try_for_each(hand_over)?;
        }
        timed("building the images", || self.compose(&["build"]).map(drop))?;
        if self.profile.as_deref() == Some("release") { self.images_are_small() } else { Ok(()) }
    }

    /// What is promised of a release's images, unpacked.
    fn images_are_small(&self) -> Result<()> {
        const MOST_BYTES: u64 = 40_000_000;
        for image in IMAGES {
            let name = format!("{image}:{}", self.name);
            let size = self.docker(&["image", "inspect", "--format", "{{.Size}}", &name])?;
            let size: u64 = size.trim().parse()?;
            say(&format!("compose: {image} has {} MB", size / 1_000_000));
            ensure!(size < MOST_BYTES, "{image} has {size} bytes, not less than {MOST_BYTES}");
        }
        Ok(())
    }

    /// Everything, in the background, until all of it is well.
    pub(crate) async fn up(&self) -> Result<()> {
        let begin = Instant::now();
        self.compose(&["up", "--detach"])?;
        for service in INSTANCES {
            self.is_well(service).await?;
        }
        say(&format!("compose: up took {:.1} s", begin.elapsed().as_secs_f64()));
        Ok(())
    }

    /// Prometheus, as the profile `observe` has it, beside what is up.
    pub(crate) fn add_prometheus(&self) -> Result<()> {
        let arguments = ["--profile", "observe", "up", "--detach", "--no-deps", "prometheus"];
        self.compose(&arguments).map(drop)
    }

    /// Ends a service as a crash does, and starts it again.
    pub(crate) async fn kill(&self, service: &str) -> Result<()> {
        self.end(service)?;
        self.start_again(service).await
    }

    /// Ends a service as a crash does.
    pub(crate) fn end(&self, service: &str) -> Result<()> {
        self.docker(&["kill", "--signal", "KILL", &self.container(service)?]).map(drop)
    }

    /// Starts what has ended, and waits until it is well.
    pub(crate) async fn start_again(&self, service: &str) -> Result<()> {
        self.compose(&["up", "--detach", "--no-deps", "--no-recreate", service])?;
        self.is_well(service).await
    }

    /// Replaces all instances by those of the newest images, as operators do.
    pub(crate) fn upgrade(&self) -> Result<()> {
        timed("the rolling upgrade", || {
            run(self.environment(&mut self.engine.command("deploy/compose/upgrade.sh"))).map(drop)
        })
    }

    /// Waits until Docker takes a service for healthy.
    pub(crate) async fn is_well(&self, service: &str) -> Result<()> {
        let container = self.container(service)?;
        eventually(SOON, &format!("{service} is healthy"), || {
            let state = self.inspect(&container, "{{.State.Health.Status}}");
            async move {
                let state = state?;
                ensure!(state == "healthy", "it is {state}");
                Ok(())
            }
        })
        .await
    }

    /// Something that Docker knows of a container.
    pub(crate) fn inspect(&self, container: &str, format: &str) -> Result<String> {
        let told = self.docker(&["inspect", "--format", format, container])?;
        Ok(told.trim().to_owned())
    }

    /// The id of a service's container.
    pub(crate) fn container(&self, service: &str) -> Result<String> {
        let id = self.compose(&["ps", "--quiet", service])?;
        let id =
            id.lines().next().with_context(|| format!("there is no container of {service}"))?;
        Ok(id.to_owned())
    }

    /// What a command prints in the container of a service.
    pub(crate) fn asked_in(&self, service: &str, command: &[&str]) -> Result<String> {
        self.compose(&[&["exec", "-T", service], command].concat())
    }

    /// One of the secrets, as operators read it.
    pub(crate) fn secret(&self, name: &str) -> Result<String> {
        let file = format!("/run/vestibule/{name}");
        self.compose(&["run", "--rm", "--no-deps", "-T", "secrets", "cat", &file])
    }

    /// What everything has logged.
    pub(crate) fn logs(&self) -> Result<String> {
        self.compose(&["logs", "--no-color"])
    }

    /// Takes everything down, with what it kept.
    fn down(&self) -> Result<()> {
        self.compose(&[
            "--profile",
            "observe",
            "down",
            "--volumes",
            "--remove-orphans",
            "--timeout",
            "5",
        ])
        .map(drop)
    }

    /// Takes everything down after a play, of which nothing may be left, and gives how that went; says what everything has
    /// logged if it went wrong.
    pub(crate) fn ends(self, played: Result<()>) -> Result<()> {
        if played.is_err() {
            say(&self.logs().unwrap_or_default());
        }
        played?;
        self.down()?;
        let left = self.left()?;
        ensure!(left.is_empty(), "after `down` there is still: {left}");
        Ok(())
    }

    /// What is left in the engine under this name.
    fn left(&self) -> Result<String> {
        let of_ours = format!("label=com.docker.compose.project={}", self.name);
        let kinds: [&[&str]; 3] = [&["ps", "--all"], &["volume", "ls"], &["network", "ls"]];
        let each = kinds
            .iter()
            .map(|kind| self.docker(&[kind, &["--quiet", "--filter", &of_ours][..]].concat()));
        each.collect()
    }

    fn docker(&self, arguments: &[&str]) -> Result<String> {
        run(self.engine.command("docker").args(arguments))
    }

    fn compose(&self, arguments: &[&str]) -> Result<String> {
        let [program, first @ ..] = engine::compose() else { return Ok(String::new()) };
        let mut command = self.engine.command(program);
        command.args(first);
        if let Some(settings) = self.settings {
            command.args(["--env-file", settings]);
        }
        run(self.environment(command.args(arguments)))
    }

    fn environment<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let [first, second] = self.operators;
        let programs = if self.profile.is_some() { "" } else { PROGRAMS };
        command
            .env("COMPOSE_PROJECT_NAME", &self.name)
            .env("VESTIBULE_TAG", &self.name)
            .env("VESTIBULE_VERSION", self.version.to_string())
            .env("VESTIBULE_PROGRAMS", programs)
            .env("VESTIBULE_PROFILE", self.profile.as_deref().unwrap_or_default())
            .env("VESTIBULE_SITE_PORT", self.site.to_string())
            .env("VESTIBULE_APPS_PORT", self.apps.to_string())
            .env("VESTIBULE_PROMETHEUS_PORT", self.prometheus.to_string())
            .env("VESTIBULE_OPERATORS_PORT", first.to_string())
            .env("VESTIBULE_OPERATORS_PORT_2", second.to_string())
            .env("VESTIBULE_SUBNET", "172.31.177")
            .env("VESTIBULE_SUBNET_INSIDE", "172.31.178")
    }
}

impl Drop for Project<'_> {
    fn drop(&mut self) {
        let _ = self.down();
        for image in IMAGES {
            let _ = self.docker(&["rmi", &format!("{image}:{}", self.name)]);
        }
    }
}

/// Puts a program of this build where the Dockerfile may take it from, without symbols, which are most of it.
fn hand_over(name: &str) -> Result<()> {
    let into = root().join(PROGRAMS);
    fs::create_dir_all(&into)?;
    let (from, to): (_, &Path) = (ours(name)?, &into.join(name));
    if run(Command::new("strip").arg("-o").arg(to).arg(&from)).is_err() {
        fs::copy(&from, to)?;
    }
    Ok(())
}

/// Whether this machine's C library is not newer than that of the images.
fn runs_on_debian_12() -> Result<bool> {
    let told = run(Command::new("getconf").arg("GNU_LIBC_VERSION"))?;
    let version = told.trim().rsplit_once('.').and_then(|(_, minor)| minor.parse::<u32>().ok());
    Ok(version.is_some_and(|minor| minor <= 36))
}

fn timed(what: &str, act: impl FnOnce() -> Result<()>) -> Result<()> {
    let begin = Instant::now();
    let outcome = act();
    say(&format!("compose: {what} took {:.1} s", begin.elapsed().as_secs_f64()));
    outcome
}
