//! Where the measured services are: where the options say, or built now and beside this program.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::cli::Options;

/// The workspace this program was built from.
const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");

/// The directory with both services: from the options, or else built now.
pub(crate) fn services(options: &Options) -> Result<PathBuf> {
    if let Some(directory) = &options.programs {
        return Ok(directory.clone());
    }
    ensure!(!cfg!(debug_assertions), "only an optimised build says anything: run `make bench`");
    let directory = env::current_exe()?.parent().context("no directory")?.to_owned();
    let target = directory.parent().context("not in a target directory; give --programs")?;
    build(target)?;
    Ok(directory)
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
    fn the_workspace_is_where_it_was() {
        assert!(Path::new(WORKSPACE).is_file());
    }
}
