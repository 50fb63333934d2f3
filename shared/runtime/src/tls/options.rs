//! The options of TLS.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{
    files::{TlsError, TlsFiles},
    reload::Tls,
};

/// The options of TLS of both services.
#[derive(Debug, Clone, Default, Args)]
pub struct TlsOptions {
    /// File with the certificate that the public address shows, in PEM, and those above it. With it, that address
    /// speaks TLS and nothing else; the admin address and Envoy's never do.
    ///
    /// Read again when it changes, without a restart.
    #[arg(long, env = "VESTIBULE_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,

    /// File with its private key, in PEM.
    #[arg(long, env = "VESTIBULE_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
}

/// The options of TLS of a service that asks for certificates.
#[derive(Debug, Clone, Default, Args)]
pub struct ClientTlsOptions {
    /// File with certificates of authorities, in PEM: only clients that show a certificate of one of them are spoken
    /// to. They need a token besides. Needs the other two; read again when it changes.
    #[arg(long, env = "VESTIBULE_TLS_CLIENT_CA", value_name = "FILE")]
    pub tls_client_ca: Option<PathBuf>,
}

// === impl TlsOptions ===

impl TlsOptions {
    /// Whether there is to be TLS.
    #[must_use]
    pub fn is_given(&self) -> bool {
        given(self.tls_cert.as_deref()).is_some()
    }

    /// Reads the files; `None`: there is to be no TLS.
    ///
    /// # Errors
    /// If not all are given that are needed, or one cannot be used.
    pub fn load(&self, clients: &ClientTlsOptions) -> Result<Option<Tls>, TlsError> {
        let client_ca = given(clients.tls_client_ca.as_deref());
        match (given(self.tls_cert.as_deref()), given(self.tls_key.as_deref())) {
            (Some(cert), Some(key)) => {
                let (cert, key) = (cert.to_owned(), key.to_owned());
                let client_ca = client_ca.map(Path::to_owned);
                Tls::load(TlsFiles { cert, key, client_ca }).map(Some)
            }
            (None, None) if client_ca.is_none() => Ok(None),
            (None, None) => Err(TlsError::NothingToShow),
            _ => Err(TlsError::Half),
        }
    }
}

/// Empty counts as not given.
fn given(file: Option<&Path>) -> Option<&Path> {
    file.filter(|file| !file.as_os_str().is_empty())
}
