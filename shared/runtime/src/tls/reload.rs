//! The configuration in use, and how it follows its files. Files are looked at now and then instead of being watched:
//! certificates in containers are replaced by renaming links to folders, which watching misses.

use std::sync::{Arc, PoisonError, RwLock};

use prometheus_client::metrics::counter::Counter;
use rustls::ServerConfig;
use tokio::{
    task::spawn_blocking,
    time::{Duration, sleep},
};
use tokio_rustls::TlsAcceptor;

use super::files::{Contents, TlsError, TlsFiles};
use crate::error_chain::ErrorChain;

/// How often the files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The TLS of a listener. Cloning is cheap, and all clones have the same certificate at a time.
#[derive(Debug, Clone)]
pub struct Tls(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    files: TlsFiles,
    current: RwLock<Current>,
}

#[derive(Debug)]
struct Current {
    contents: Arc<Contents>,
    config: Arc<ServerConfig>,
}

/// What a look at the files has found.
#[derive(Debug)]
enum Look {
    Same,
    Changed,
    /// They cannot be used. What was read of them, if anything was.
    Wrong(TlsError, Option<Contents>),
}

// === impl Tls ===

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// If they cannot be used.
    pub(super) fn load(files: TlsFiles) -> Result<Self, TlsError> {
        let contents = Arc::new(files.read()?);
        let config = Arc::new(files.config(&contents)?);
        let current = RwLock::new(Current { contents, config });
        Ok(Self(Arc::new(Inner { files, current })))
    }

    /// Takes the next connection, with the certificate of this moment.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        let current = self.0.current.read().unwrap_or_else(PoisonError::into_inner);
        TlsAcceptor::from(Arc::clone(&current.config))
    }

    /// When the first certificate ends of those that are shown, unix seconds; `None`: they do not tell.
    pub(super) fn ends_at(&self) -> Option<i64> {
        let current = self.0.current.read().unwrap_or_else(PoisonError::into_inner);
        current.contents.ends_at()
    }

    /// Follows the files until it is dropped; `failed` counts what could not be used. Connections that are open stay
    /// as they are, and what cannot be used changes nothing.
    pub(crate) async fn follow(self, failed: Counter) {
        let mut wrong = Wrong::default();
        loop {
            sleep(LOOK_EVERY).await;
            let tls = self.clone();
            let Ok(look) = spawn_blocking(move || tls.look()).await else { continue };
            match look {
                Look::Same => wrong = Wrong::default(),
                Look::Changed => {
                    wrong = Wrong::default();
                    tracing::info!("the certificate files have changed: they are used from now on");
                }
                Look::Wrong(error, contents) => {
                    if wrong.is_to_be_said(contents) {
                        let error = ErrorChain(&error);
                        tracing::error!(%error, "the certificate files have changed, and cannot be used");
                        failed.inc();
                    }
                }
            }
        }
    }

    fn look(&self) -> Look {
        let files = &self.0.files;
        let contents = match files.read() {
            Ok(contents) => contents,
            Err(error) => return Look::Wrong(error, None),
        };
        let known = self.0.current.read().unwrap_or_else(PoisonError::into_inner);
        if *known.contents == contents {
            return Look::Same;
        }
        drop(known);
        match files.config(&contents) {
            Ok(config) => {
                let current = Current { contents: Arc::new(contents), config: Arc::new(config) };
                *self.0.current.write().unwrap_or_else(PoisonError::into_inner) = current;
                Look::Changed
            }
            Err(error) => Look::Wrong(error, Some(contents)),
        }
    }
}

/// Files that could not be used at the last look. Whoever replaces them writes one after the other, so what is wrong
/// is said when it was still so at the next look, and once.
#[derive(Debug, Default)]
struct Wrong {
    looks: u32,
    contents: Option<Contents>,
}

// === impl Wrong ===

impl Wrong {
    fn is_to_be_said(&mut self, contents: Option<Contents>) -> bool {
        self.looks = if self.looks > 0 && self.contents == contents { self.looks + 1 } else { 1 };
        self.contents = contents;
        self.looks == 2
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    fn write(dir: &TempDir) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        fs::write(dir.path().join("cert.pem"), made.cert.pem()).unwrap();
        fs::write(dir.path().join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    }

    #[test]
    fn what_has_changed_is_used_and_what_is_wrong_is_said_at_the_second_look() {
        let dir = tempfile::tempdir().unwrap();
        write(&dir);
        let (cert, key) = (dir.path().join("cert.pem"), dir.path().join("key.pem"));
        let tls = Tls::load(TlsFiles { cert: cert.clone(), key, client_ca: None }).unwrap();
        let config = || Arc::as_ptr(&tls.0.current.read().unwrap().config);
        let first = config();
        assert!(matches!(tls.look(), Look::Same));
        write(&dir);
        assert!(matches!(tls.look(), Look::Changed));
        let second = config();
        assert_ne!(first, second);
        let mut wrong = Wrong::default();
        let mut said = Vec::new();
        for text in ["no certificate", "no certificate", "no certificate", "another one"] {
            fs::write(&cert, text).unwrap();
            let Look::Wrong(error, contents) = tls.look() else { panic!("it was taken in") };
            assert!(error.to_string().contains("cert.pem"), "{error}");
            said.push(wrong.is_to_be_said(contents));
        }
        assert_eq!(said, [false, true, false, false]);
        fs::remove_file(&cert).unwrap();
        assert!(matches!(tls.look(), Look::Wrong(TlsError::Unreadable { .. }, None)));
        assert_eq!(config(), second);
    }
}
