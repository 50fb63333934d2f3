//! The files of TLS: what is in them, and the configuration that they make.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    RootCertStore, ServerConfig,
    crypto::aws_lc_rs::default_provider,
    pki_types::{CertificateDer, PrivateKeyDer, pem, pem::PemObject},
    server::{VerifierBuilderError, WebPkiClientVerifier},
};
use secrecy::{ExposeSecret, SecretSlice};

const CERT: &str = "VESTIBULE_TLS_CERT";
const KEY: &str = "VESTIBULE_TLS_KEY";
const CLIENT_CA: &str = "VESTIBULE_TLS_CLIENT_CA";

/// Where they are.
#[derive(Debug, Clone)]
pub(super) struct TlsFiles {
    /// The certificate, and those above it.
    pub(super) cert: PathBuf,
    /// Its private key.
    pub(super) key: PathBuf,
    /// The authorities of clients.
    pub(super) client_ca: Option<PathBuf>,
}

/// What is in them.
#[derive(Debug)]
pub(super) struct Contents {
    cert: Vec<u8>,
    key: SecretSlice<u8>,
    client_ca: Option<Vec<u8>>,
}

/// The files cannot be used. Messages name the variable and the file, never what is in it.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A certificate without a key, or a key without a certificate.
    #[error("{CERT} and {KEY} are given together, or not at all")]
    Half,
    /// Certificates are asked for and none is shown.
    #[error("{CLIENT_CA} needs {CERT} and {KEY}: clients show certificates with TLS only")]
    NothingToShow,
    /// A file cannot be read.
    #[error("{variable}: cannot read {}", path.display())]
    Unreadable {
        /// The variable.
        variable: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file has not what it must have.
    #[error("{variable}: {} has no usable {what} in PEM", path.display())]
    Malformed {
        /// The variable.
        variable: &'static str,
        /// The file.
        path: PathBuf,
        /// What it must have.
        what: &'static str,
        /// What is wrong.
        source: pem::Error,
    },
    /// Certificate and key cannot be used, or not with each other.
    #[error("{CERT} and {KEY}: {} cannot be used with {}", cert.display(), key.display())]
    Pair {
        /// The certificate.
        cert: PathBuf,
        /// The key.
        key: PathBuf,
        /// Why.
        source: rustls::Error,
    },
    /// An authority's certificate cannot be used.
    #[error("{CLIENT_CA}: {} has a certificate that cannot be used", path.display())]
    Authority {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rustls::Error,
    },
    /// The authorities cannot be used.
    #[error("{CLIENT_CA}: {} cannot be used", path.display())]
    Authorities {
        /// The file.
        path: PathBuf,
        /// Why.
        source: VerifierBuilderError,
    },
}

// === impl TlsFiles ===

impl TlsFiles {
    /// What is in them now. Blocks for as long as the disk does.
    ///
    /// # Errors
    /// If one cannot be read.
    pub(super) fn read(&self) -> Result<Contents, TlsError> {
        Ok(Contents {
            cert: read(CERT, &self.cert)?,
            key: read(KEY, &self.key)?.into(),
            client_ca: self.client_ca.as_deref().map(|file| read(CLIENT_CA, file)).transpose()?,
        })
    }

    /// The configuration that they make.
    ///
    /// # Errors
    /// If they cannot be used.
    pub(super) fn config(&self, contents: &Contents) -> Result<ServerConfig, TlsError> {
        let provider = Arc::new(default_provider());
        let chain = certificates(CERT, &self.cert, &contents.cert)?;
        let key = PrivateKeyDer::from_pem_slice(contents.key.expose_secret());
        let key = key.map_err(|source| TlsError::Malformed {
            variable: KEY,
            path: self.key.clone(),
            what: "private key",
            source,
        })?;
        let pair =
            |source| TlsError::Pair { cert: self.cert.clone(), key: self.key.clone(), source };
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_safe_default_protocol_versions().map_err(pair)?;
        let builder = match (&self.client_ca, &contents.client_ca) {
            (Some(file), Some(pem)) => {
                let roots = Arc::new(roots(file, pem)?);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider).build();
                let path = file.clone();
                let verifier = verifier.map_err(|source| TlsError::Authorities { path, source })?;
                builder.with_client_cert_verifier(verifier)
            }
            _ => builder.with_no_client_auth(),
        };
        let mut config = builder.with_single_cert(chain, key).map_err(pair)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

// === impl Contents ===

impl Contents {
    /// When the first certificate ends, unix seconds; `None`: none of them tells.
    pub(super) fn ends_at(&self) -> Option<i64> {
        let certificates = CertificateDer::pem_slice_iter(&self.cert).filter_map(Result::ok);
        let end = |certificate: CertificateDer<'_>| {
            let (_, certificate) = x509_parser::parse_x509_certificate(&certificate).ok()?;
            Some(certificate.validity().not_after.timestamp())
        };
        certificates.filter_map(end).min()
    }
}

impl PartialEq for Contents {
    fn eq(&self, other: &Self) -> bool {
        let same_key = self.key.expose_secret() == other.key.expose_secret();
        same_key && self.cert == other.cert && self.client_ca == other.client_ca
    }
}

fn read(variable: &'static str, file: &Path) -> Result<Vec<u8>, TlsError> {
    let read = fs::read(file);
    read.map_err(|source| TlsError::Unreadable { variable, path: file.to_owned(), source })
}

/// All certificates of a file, of which there must be one.
fn certificates(
    variable: &'static str,
    file: &Path,
    pem: &[u8],
) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let malformed = |source| TlsError::Malformed {
        variable,
        path: file.to_owned(),
        what: "certificate",
        source,
    };
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let read = read.map_err(malformed)?;
    if read.is_empty() { Err(malformed(pem::Error::NoItemsFound)) } else { Ok(read) }
}

fn roots(file: &Path, pem: &[u8]) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(CLIENT_CA, file, pem)? {
        let added = roots.add(certificate);
        added.map_err(|source| TlsError::Authority { path: file.to_owned(), source })?;
    }
    Ok(roots)
}
