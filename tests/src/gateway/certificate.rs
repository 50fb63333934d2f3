//! A certificate that nobody has signed but its owner, as a gateway reads one.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;

use super::SITE_HOST;

/// Writes the certificate of the site and its key into one file in `dir`.
pub(super) fn write(dir: &Path) -> Result<PathBuf> {
    let made = rcgen::generate_simple_self_signed([SITE_HOST.to_owned()])?;
    let path = dir.join("site.pem");
    fs::write(&path, [made.cert.pem(), made.signing_key.serialize_pem()].concat())?;
    Ok(path)
}
