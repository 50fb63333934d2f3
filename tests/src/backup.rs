//! The commands `backup` and `restore` of the controller, run as an operator runs them.

use std::{
    ffi::OsStr,
    path::Path,
    process::{Command, Output},
};

use anyhow::{Context, Result};

use crate::programs;

/// Backs the Redis at `url` up to `file`; `further`: more options.
pub fn backup(url: &str, file: &Path, further: &[&str]) -> Result<Output> {
    let options = further.iter().map(OsStr::new);
    run(url, ["backup".as_ref(), "--to".as_ref(), file.as_os_str()].into_iter().chain(options))
}

/// Restores `file` into the Redis at `url`; `further`: more options.
pub fn restore(url: &str, file: &Path, further: &[&str]) -> Result<Output> {
    let options = further.iter().map(OsStr::new);
    run(url, ["restore".as_ref(), "--from".as_ref(), file.as_os_str()].into_iter().chain(options))
}

fn run<'a>(url: &str, arguments: impl Iterator<Item = &'a OsStr>) -> Result<Output> {
    let mut command = Command::new(programs::ours("vestibule-controller")?);
    // No secret: what is sealed stays so.
    command.env_clear().env("VESTIBULE_REDIS_URL", url).env("VESTIBULE_REDIS_TIMEOUT_MS", "5000");
    command.args(arguments).output().context("cannot run vestibule-controller")
}
