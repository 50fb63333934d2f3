//! A certificate authority of a test's own, with servers and clients that show its certificates.

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
    issuer: CertifiedIssuer<'static, KeyPair>,
}

// === impl Authority ===

impl Authority {
    /// A new one, with a certificate for this machine.
    pub fn new() -> Result<Self> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "An authority of a test");
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let authority = Self { dir: tempfile::tempdir()?, issuer };
        fs::write(authority.file(), authority.issuer.pem())?;
        authority.renew()?;
        Ok(authority)
    }

    /// Writes another certificate for this machine, with another key, in the place of the one before.
    pub fn renew(&self) -> Result<()> {
        let names = ["localhost", "127.0.0.1"].map(str::to_owned);
        let key = KeyPair::generate()?;
        let certificate = CertificateParams::new(names)?.signed_by(&key, &self.issuer)?;
        let (cert_file, key_file) = self.server();
        fs::write(cert_file, certificate.pem())?;
        fs::write(key_file, key.serialize_pem())?;
        Ok(())
    }

    /// A certificate of a client of this name, and its private key, in PEM.
    pub fn client(&self, name: &str) -> Result<String> {
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?;
        Ok(certificate.pem() + key.serialize_pem().as_str())
    }

    /// Its certificate, in PEM.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.dir.path().join("authority.pem")
    }

    /// The files of a server on this machine: its certificate and its key, in PEM.
    #[must_use]
    pub fn server(&self) -> (PathBuf, PathBuf) {
        (self.dir.path().join("server.pem"), self.dir.path().join("key.pem"))
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
