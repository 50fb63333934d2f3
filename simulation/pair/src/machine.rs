//! The machine that the services run on in a simulation: chance under the seed, and keys that were made
//! once and for all. Tokens carry no signature, since nobody here verifies one.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use futures_util::future::{BoxFuture, ready};
use rustc_hash::FxHashMap;
use vestibule_issuance::{KeyError, KeyWork, Machine, Signer};
use vestibule_token::{
    Claims, DeploymentSecret, KeyAlgorithm, KeyRecord, KeyRing, SigningKey, SigningKeyError,
};

use crate::Chance;

static SECRET: LazyLock<Arc<DeploymentSecret>> = LazyLock::new(|| {
    Arc::new(
        DeploymentSecret::new(&[b's'; 32]).unwrap_or_else(|_| unreachable!("it is long enough")),
    )
});
/// Made once, sealed under that secret: the run must be the same every time, down to the names of keys.
static RECORDS: LazyLock<Vec<KeyRecord>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("keys.json"))
        .unwrap_or_else(|_| unreachable!("they are keys"))
});
static RINGS: Mutex<Option<FxHashMap<String, Arc<KeyRing>>>> = Mutex::new(None);

/// Keys of this process, made when they are first needed.
#[derive(Debug, Default)]
struct MadeBefore {
    /// How many this deployment has made.
    made: Mutex<usize>,
}

/// The secret of every simulated deployment.
pub(crate) fn secret() -> Arc<DeploymentSecret> {
    Arc::clone(&SECRET)
}

/// The machines of one deployment: they share its keys.
#[derive(Debug, Clone, Default)]
pub(crate) struct Machines(Arc<MadeBefore>);

// === impl Machines ===

impl Machines {
    /// The machine of one process.
    pub(crate) fn machine(&self, chance: Chance) -> Machine {
        let keys: Arc<dyn KeyWork> = Arc::clone(&self.0) as _;
        Machine { random: chance.into_random(), keys, signer: Signer::at_once(unsigned) }
    }
}

// === impl MadeBefore ===

impl KeyWork for MadeBefore {
    fn make(
        &self,
        _secret: &Arc<DeploymentSecret>,
        _algorithm: KeyAlgorithm,
        now: u64,
    ) -> BoxFuture<'static, Result<KeyRecord, KeyError>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let record = RECORDS[*made % RECORDS.len()].clone();
        *made += 1;
        Box::pin(ready(Ok(KeyRecord { created_at: now, ..record })))
    }

    fn open(
        &self,
        secret: &Arc<DeploymentSecret>,
        records: &[KeyRecord],
    ) -> BoxFuture<'static, Result<Arc<KeyRing>, KeyError>> {
        Box::pin(ready(ring(secret, records)))
    }
}

/// The ring of these records, opened once in this process.
fn ring(secret: &Arc<DeploymentSecret>, records: &[KeyRecord]) -> Result<Arc<KeyRing>, KeyError> {
    let name = serde_json::to_string(records)?;
    let mut rings = RINGS.lock().unwrap_or_else(PoisonError::into_inner);
    let rings = rings.get_or_insert_default();
    if let Some(ring) = rings.get(&name) {
        return Ok(Arc::clone(ring));
    }
    let ring = Arc::new(KeyRing::open(secret, records)?);
    rings.insert(name, Arc::clone(&ring));
    Ok(ring)
}

/// The token of these claims, with nothing in the place of the signature.
fn unsigned(key: &SigningKey, claims: &Claims) -> Result<String, SigningKeyError> {
    let claims = serde_json::to_string(claims).map_err(|_| SigningKeyError::Signing)?;
    Ok(format!("{}.{claims}.", key.kid()))
}
