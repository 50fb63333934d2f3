//! Which controller is asked, and what is shown to it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use hyper::Uri;
use hyper_rustls::ConfigBuilderExt;
use rustls::{
    ClientConfig, RootCertStore,
    crypto::aws_lc_rs::default_provider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use secrecy::SecretString;
use vestibule_runtime::secret::{SecretError, SecretSource};

/// Which controller is asked.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "The controller that is asked")]
pub struct ConnectOptions {
    /// Where a controller answers operators.
    #[arg(
        long,
        visible_alias = "controller",
        env = "VESTIBULE_CONTROLLER_URL",
        value_name = "URL",
        default_value = "http://127.0.0.1:8081"
    )]
    pub controller_url: String,

    /// The token that is shown to it. Give it in the environment or as a file rather than as an argument, which others
    /// can see.
    #[arg(long, env = "VESTIBULE_API_TOKEN", hide_env_values = true, value_name = "TEXT")]
    pub api_token: Option<SecretString>,

    /// File that holds the token; a final newline does not count.
    #[arg(long, env = "VESTIBULE_API_TOKEN_FILE", value_name = "FILE")]
    pub api_token_file: Option<PathBuf>,

    /// File with the certificates of authorities, in PEM, that vouch for an https controller. They take the place of the
    /// public ones.
    #[arg(long, env = "VESTIBULE_CONTROLLER_CA", value_name = "FILE")]
    pub controller_ca: Option<PathBuf>,

    /// File with the certificate that is shown to a controller that asks for one, in PEM, and those above it.
    #[arg(
        long,
        env = "VESTIBULE_CONTROLLER_CERT",
        value_name = "FILE",
        requires = "controller_key"
    )]
    pub controller_cert: Option<PathBuf>,

    /// File with its private key, in PEM.
    #[arg(
        long,
        env = "VESTIBULE_CONTROLLER_KEY",
        value_name = "FILE",
        requires = "controller_cert"
    )]
    pub controller_key: Option<PathBuf>,
}

/// The options cannot be used. Messages name the variable, and never a secret.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    /// The token is missing, given twice or unreadable.
    #[error(transparent)]
    Token(#[from] SecretError),
    /// The address is none.
    #[error(
        "VESTIBULE_CONTROLLER_URL must be an address such as https://controller.internal:8081, and is {0:?}"
    )]
    Address(String),
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
    },
    /// Certificate and key cannot be used.
    #[error("VESTIBULE_CONTROLLER_CERT and VESTIBULE_CONTROLLER_KEY cannot be used")]
    Tls(#[from] rustls::Error),
}

const CA: &str = "VESTIBULE_CONTROLLER_CA";
const CERT: &str = "VESTIBULE_CONTROLLER_CERT";
const KEY: &str = "VESTIBULE_CONTROLLER_KEY";

// === impl ConnectOptions ===

impl ConnectOptions {
    /// The address, without a slash at its end.
    ///
    /// # Errors
    /// If it is none, or has more than a scheme, a host, a port and a path.
    pub(super) fn base(&self) -> Result<String, ConnectError> {
        let base = self.controller_url.trim_end_matches('/');
        let wrong = || ConnectError::Address(self.controller_url.clone());
        let uri: Uri = base.parse().map_err(|_| wrong())?;
        let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
        let authority = uri.authority().ok_or_else(wrong)?;
        let is_plain = !authority.as_str().contains('@') && uri.query().is_none();
        (is_http && is_plain).then(|| base.to_owned()).ok_or_else(wrong)
    }

    /// The token.
    ///
    /// # Errors
    /// If it is missing, given twice or unreadable.
    pub(super) fn token(&self) -> Result<SecretString, ConnectError> {
        let source = SecretSource {
            variable: "VESTIBULE_API_TOKEN",
            value: self.api_token.as_ref(),
            file: self.api_token_file.as_deref(),
            min_bytes: 1,
        };
        Ok(source.read()?)
    }

    /// Whom an https controller must be vouched for by, and what is shown to it.
    ///
    /// # Errors
    /// If a file cannot be used.
    pub(super) fn tls(&self) -> Result<ClientConfig, ConnectError> {
        let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
        let builder = builder.with_safe_default_protocol_versions()?;
        let builder = match given(self.controller_ca.as_ref()) {
            None => builder.with_webpki_roots(),
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates(CA, path)? {
                    roots.add(certificate).map_err(|_| malformed(CA, path, "certificate"))?;
                }
                builder.with_root_certificates(roots)
            }
        };
        match (given(self.controller_cert.as_ref()), given(self.controller_key.as_ref())) {
            (Some(cert), Some(key)) => {
                let key_text = read(KEY, key)?;
                let private = PrivateKeyDer::from_pem_slice(&key_text);
                let private = private.map_err(|_| malformed(KEY, key, "private key"))?;
                Ok(builder.with_client_auth_cert(certificates(CERT, cert)?, private)?)
            }
            _ => Ok(builder.with_no_client_auth()),
        }
    }
}

/// An empty name counts as none.
fn given(path: Option<&PathBuf>) -> Option<&Path> {
    path.map(PathBuf::as_path).filter(|path| !path.as_os_str().is_empty())
}

fn read(variable: &'static str, path: &Path) -> Result<Vec<u8>, ConnectError> {
    let read = fs::read(path);
    read.map_err(|source| ConnectError::Unreadable { variable, path: path.to_owned(), source })
}

fn malformed(variable: &'static str, path: &Path, what: &'static str) -> ConnectError {
    ConnectError::Malformed { variable, path: path.to_owned(), what }
}

fn certificates(
    variable: &'static str,
    path: &Path,
) -> Result<Vec<CertificateDer<'static>>, ConnectError> {
    let text = read(variable, path)?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let read = read.unwrap_or_default();
    if read.is_empty() { Err(malformed(variable, path, "certificate")) } else { Ok(read) }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        connect: ConnectOptions,
    }

    fn connect(arguments: &[&str]) -> ConnectOptions {
        Cli::parse_from([&["test"], arguments].concat()).connect
    }

    #[test]
    fn an_address_has_a_scheme_and_a_host_and_no_password() {
        for (given, base) in [
            ("http://127.0.0.1:8081", Some("http://127.0.0.1:8081")),
            ("https://vestibule.example/controller/", Some("https://vestibule.example/controller")),
            ("127.0.0.1:8081", None),
            ("redis://127.0.0.1", None),
            ("http://user:password@host", None),
            ("", None),
        ] {
            assert_eq!(connect(&["--controller", given]).base().ok().as_deref(), base, "{given}");
        }
    }

    #[test]
    fn files_that_cannot_be_used_are_named() {
        let error = connect(&["--controller-ca", "/nowhere/ca.pem"]).tls().unwrap_err().to_string();
        assert_eq!(error, "VESTIBULE_CONTROLLER_CA: cannot read /nowhere/ca.pem");
        let empty = tempfile::NamedTempFile::new().unwrap();
        let path = empty.path().to_str().unwrap();
        let error = connect(&["--controller-ca", path]).tls().unwrap_err().to_string();
        assert!(error.ends_with("has no usable certificate in PEM"), "{error}");
        assert!(Cli::try_parse_from(["test", "--controller-cert", path]).is_err());
    }
}
