//! A Docker engine to test with: the one that answers, if it has the base images or can fetch them, or else one of our
//! own with stand-ins for them (`scripts/private-engine.sh`, `scripts/stand-in-images.sh`).
//!
//! Nobody else's engine gets stand-ins: they have the names of the real images.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
};

use anyhow::{Context, Result, ensure};

use crate::say;

const SKIP: &str = "VESTIBULE_TEST_SKIP_COMPOSE";

/// An engine; one of our own ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Engine(Option<Private>);

/// `None` of the pipe is its end.
#[derive(Debug)]
struct Private {
    script: Child,
    until: Option<ChildStdin>,
    folder: tempfile::TempDir,
}

// === impl Engine ===

impl Engine {
    /// An engine, or `None` and a loud word on why there is none.
    pub(crate) fn find() -> Result<Option<Self>> {
        if env::var_os(SKIP).is_some_and(|value| value == "1") {
            return Ok(left_out(&format!("{SKIP}=1")));
        }
        if !succeeds(Command::new("docker").arg("--version")) || !has_compose() {
            return Ok(left_out(
                "there is no docker with Compose (`make test` gets it where it may)",
            ));
        }
        if has_images() {
            return Ok(Some(Self(None)));
        }
        if !is_root() || !has_program("dockerd") {
            return Ok(left_out(
                "no engine answers that has or gets the base images, and an own one needs root and dockerd",
            ));
        }
        Ok(Some(Self(Some(Private::start()?))))
    }

    /// Whether it is our own.
    pub(crate) fn is_private(&self) -> bool {
        self.0.is_some()
    }

    /// A command that speaks to it, in the root of the repository.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(root()).stdin(Stdio::null());
        // The classic builder: Debian's engine has no other.
        if let Some(private) = &self.0 {
            command.env("DOCKER_HOST", private.host()).env("DOCKER_BUILDKIT", "0");
        }
        command
    }
}

// === impl Private ===

impl Private {
    fn start() -> Result<Self> {
        say("no engine answers that has the base images: starting one with stand-ins");
        let folder = tempfile::Builder::new().prefix("vestibule-engine").tempdir()?;
        let mut script = Command::new(root().join("scripts/private-engine.sh"))
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start scripts/private-engine.sh")?;
        let until = script.stdin.take();
        let mut answer = String::new();
        if let Some(output) = script.stdout.take() {
            BufReader::new(output).read_line(&mut answer)?;
        }
        let private = Self { script, until, folder };
        ensure!(answer == "ready\n", "the private engine did not start: {answer}");
        let mut stand_ins = Command::new(root().join("scripts/stand-in-images.sh"));
        run(stand_ins.env("DOCKER_HOST", private.host()))?;
        Ok(private)
    }

    fn host(&self) -> String {
        format!("unix://{}/docker.sock", self.folder.path().display())
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        drop(self.until.take());
        // It takes away what it has made; the folder goes after it.
        let _ = self.script.wait();
    }
}

/// Runs a command to its end, and gives what it printed; fails with all of that.
pub(crate) fn run(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    let (told, failed) = (text(&output.stdout), text(&output.stderr));
    ensure!(output.status.success(), "{command:?} ended with {}:\n{told}{failed}", output.status);
    Ok(told)
}

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// `docker compose`, or else `docker-compose`.
pub(crate) fn compose() -> &'static [&'static str] {
    let has_plugin = succeeds(Command::new("docker").args(["compose", "version"]));
    if has_plugin { &["docker", "compose"] } else { &["docker-compose"] }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn left_out<T>(why: &str) -> Option<T> {
    say(&format!("WARNING: {why}: the images and docker-compose.yml are NOT tested"));
    None
}

fn has_compose() -> bool {
    let [program, arguments @ ..] = compose() else { return false };
    succeeds(Command::new(program).args(arguments).arg("version"))
}

/// Whether an engine answers that has every image that ours are made of and started beside, or gets it.
fn has_images() -> bool {
    let docker = |arguments: &[&str]| succeeds(Command::new("docker").args(arguments));
    let has = |image: &String| {
        docker(&["image", "inspect", image]) || docker(&["pull", "--quiet", image])
    };
    docker(&["version"]) && base_images().is_ok_and(|images| images.iter().all(has))
}

fn base_images() -> Result<Vec<String>> {
    let (recipe, compose) = (read("Dockerfile")?, read("docker-compose.yml")?);
    let argument = |name: &str| {
        let line = recipe.lines().find_map(|line| line.strip_prefix(&format!("ARG {name}=")));
        line.with_context(|| format!("the Dockerfile has no ARG {name}"))
    };
    let beside = compose.lines().filter_map(|line| line.trim().strip_prefix("image: "));
    let tested = ["nginx:", "valkey/", "prom/"];
    let beside = beside.filter(|image| tested.iter().any(|name| image.starts_with(name)));
    let mut images: Vec<_> = beside.map(str::to_owned).collect();
    images.push(argument("BASE")?.to_owned());
    images.push(format!("rust:{}-slim-bookworm", argument("RUST")?));
    images.sort();
    images.dedup();
    Ok(images)
}

fn read(name: &str) -> Result<String> {
    fs::read_to_string(root().join(name)).with_context(|| format!("cannot read {name}"))
}

fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

fn is_root() -> bool {
    run(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

fn has_program(name: &str) -> bool {
    let folders = env::var_os("PATH").unwrap_or_default();
    let mut folders = env::split_paths(&folders).chain([PathBuf::from("/usr/sbin")]);
    folders.any(|folder| folder.join(name).is_file())
}

#[test]
fn the_images_are_built_by_the_compiler_that_is_pinned() -> Result<()> {
    let toolchain = read("rust-toolchain.toml")?;
    let pinned = toolchain.lines().find_map(|line| line.strip_prefix("channel = "));
    let pinned = pinned.context("no channel in rust-toolchain.toml")?.trim_matches('"');
    let images = base_images()?;
    assert!(images.contains(&format!("rust:{pinned}-slim-bookworm")), "{pinned}: {images:?}");
    assert_eq!(images.len(), 5, "{images:?}");
    Ok(())
}
