//! Finds the programs, and free ports for them.

use std::{
    env,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::cli::Options;

/// The workspace this program was built from.
const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
/// Names of Redis-compatible servers, in the order of preference.
const REDIS: [&str; 2] = ["redis-server", "valkey-server"];
/// Ports below the range that systems use for outgoing connections.
const PORTS: std::ops::Range<u16> = 12_000..30_000;

/// The directory with both services: from the options, or else built now.
pub(super) fn services(options: &Options) -> Result<PathBuf> {
    if let Some(directory) = &options.programs {
        return Ok(directory.clone());
    }
    ensure!(!cfg!(debug_assertions), "only an optimised build says anything: run `make bench`");
    let directory = env::current_exe()?.parent().context("no directory")?.to_owned();
    let target = directory.parent().context("not in a target directory; give --programs")?;
    build(target)?;
    Ok(directory)
}

/// The first Redis or Valkey on the `PATH`.
pub(super) fn redis_server() -> Result<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let directories: Vec<_> = env::split_paths(&path).collect();
    let all = REDIS.iter().flat_map(|name| directories.iter().map(move |dir| dir.join(name)));
    all.into_iter().find(|path| path.is_file()).context(
        "no redis-server or valkey-server on the PATH (Debian: apt-get install redis-server)",
    )
}

/// A local address on which nobody listens now.
#[expect(clippy::disallowed_methods, reason = "any port will do")]
pub(super) fn free_address() -> Result<SocketAddr> {
    for _ in 0..1_000 {
        let port = rand::random_range(PORTS);
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        }
    }
    anyhow::bail!("no free port")
}

fn build(target: &Path) -> Result<()> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--quiet", "--bins", "--manifest-path", WORKSPACE]);
    cargo.args(["-p", "vestibule-admission", "-p", "vestibule-controller", "--target-dir"]);
    let status = cargo.arg(target).status().context("cannot run cargo")?;
    ensure!(status.success(), "the services cannot be built");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_address_can_be_listened_on() {
        let address = free_address().unwrap();
        assert!(PORTS.contains(&address.port()) && address.port() != 6379);
        assert!(TcpListener::bind(address).is_ok());
    }

    #[test]
    fn the_workspace_is_where_it_was() {
        assert!(Path::new(WORKSPACE).is_file());
    }
}
