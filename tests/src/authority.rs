//! A certificate authority of a test's own, and servers that show its certificates.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tempfile::TempDir;

use crate::ports;

/// An authority that nobody knows.
#[derive(Debug)]
pub struct Authority {
    dir: TempDir,
}

// === impl Authority ===

impl Authority {
    /// A new one, with a certificate for this machine.
    pub fn new() -> Result<Self> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "An authority of a test");
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let key = KeyPair::generate()?;
        let names = ["localhost", "127.0.0.1"].map(str::to_owned);
        let certificate = CertificateParams::new(names)?.signed_by(&key, &authority)?;
        let dir = tempfile::tempdir()?;
        fs::write(dir.path().join("authority.pem"), authority.pem())?;
        fs::write(dir.path().join("server.pem"), certificate.pem())?;
        fs::write(dir.path().join("key.pem"), key.serialize_pem())?;
        Ok(Self { dir })
    }

    /// Its certificate, in PEM.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.dir.path().join("authority.pem")
    }

    /// A port, and the lines of a server's configuration with which it listens there with TLS.
    #[must_use]
    pub fn options(&self) -> (u16, Vec<String>) {
        let port = ports::free();
        let at = |name: &str| Path::display(&self.dir.path().join(name)).to_string();
        let lines = vec![
            format!("tls-port {port}"),
            format!("tls-cert-file {}", at("server.pem")),
            format!("tls-key-file {}", at("key.pem")),
            format!("tls-ca-cert-file {}", at("authority.pem")),
            "tls-auth-clients no".to_owned(),
        ];
        (port, lines)
    }
}
