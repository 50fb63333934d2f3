//! Making and opening signing keys, which takes long: a good part of a second and some milliseconds.
//! The services do it on threads; a simulation brings keys along that were made before.

use std::{fmt, sync::Arc};

use futures_util::future::BoxFuture;
use vestibule_token::{DeploymentSecret, KeyAlgorithm, KeyRecord, KeyRing, SigningKey};

use crate::KeyError;

/// Makes and opens signing keys.
pub trait KeyWork: fmt::Debug + Send + Sync {
    /// A new key for `algorithm`, made at `now` (unix seconds) and sealed under `secret`.
    fn make(
        &self,
        secret: &Arc<DeploymentSecret>,
        algorithm: KeyAlgorithm,
        now: u64,
    ) -> BoxFuture<'static, Result<KeyRecord, KeyError>>;

    /// The ring of `records`, opened with `secret`.
    fn open(
        &self,
        secret: &Arc<DeploymentSecret>,
        records: &[KeyRecord],
    ) -> BoxFuture<'static, Result<Arc<KeyRing>, KeyError>>;
}

/// Real keys, on blocking threads.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OnThreads;

// === impl OnThreads ===

impl KeyWork for OnThreads {
    fn make(
        &self,
        secret: &Arc<DeploymentSecret>,
        algorithm: KeyAlgorithm,
        now: u64,
    ) -> BoxFuture<'static, Result<KeyRecord, KeyError>> {
        let secret = Arc::clone(secret);
        Box::pin(on_a_thread(move || {
            Ok(KeyRecord::seal(&secret, &SigningKey::generate(algorithm)?, now)?)
        }))
    }

    fn open(
        &self,
        secret: &Arc<DeploymentSecret>,
        records: &[KeyRecord],
    ) -> BoxFuture<'static, Result<Arc<KeyRing>, KeyError>> {
        let (secret, records) = (Arc::clone(secret), records.to_vec());
        Box::pin(on_a_thread(move || Ok(Arc::new(KeyRing::open(&secret, &records)?))))
    }
}

pub(crate) async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, KeyError> + Send + 'static,
) -> Result<T, KeyError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| KeyError::Interrupted)?
}
