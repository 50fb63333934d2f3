//! Where Chromium, its driver and axe-core are.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};

use crate::programs::{fetched, on_path};

const HINT: &str = "run `make test`, which gets it (scripts/test-tools.sh); \
                    VESTIBULE_TEST_SKIP_BROWSER=1 leaves these tests out";

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
