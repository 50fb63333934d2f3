//! Where Chromium, its driver and axe-core are.

use std::{
    env, fs,
    io::{Write, stderr},
    path::PathBuf,
};

use anyhow::{Context, Result};

use crate::programs::{fetched, on_path};

const HINT: &str = "run `make test`, which gets it (scripts/test-tools.sh); \
                    VESTIBULE_TEST_SKIP_BROWSER=1 leaves these tests out";

/// Whether the operator of the tests chose to leave the browser out, which is said loudly.
#[must_use]
pub fn is_left_out() -> bool {
    let left_out = env::var_os("VESTIBULE_TEST_SKIP_BROWSER").is_some_and(|value| value == "1");
    if left_out {
        // Not `eprintln`, which the test runner swallows.
        let warning = "WARNING: VESTIBULE_TEST_SKIP_BROWSER=1: NOT tested in a real browser\n";
        let _ = stderr().write_all(warning.as_bytes());
    }
    left_out
}

/// Chromium.
pub(super) fn chromium() -> Result<PathBuf> {
    on_path("chromium").with_context(|| format!("no chromium on the PATH: {HINT}"))
}

/// Its driver.
pub(super) fn driver() -> Result<PathBuf> {
    on_path("chromedriver").with_context(|| format!("no chromedriver on the PATH: {HINT}"))
}

/// The script that finds what keeps people from using a page.
pub(super) fn axe() -> Result<String> {
    let path = fetched().context("no directory for tools")?;
    let path = path.join("axe-core/node_modules/axe-core/axe.min.js");
    fs::read_to_string(&path).with_context(|| format!("no {}: {HINT}", path.display()))
}
