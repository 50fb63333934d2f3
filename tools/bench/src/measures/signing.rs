//! The rate at which this machine signs, by RS256 and by ES256: the upper bound for claims.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow};
use aws_lc_rs::{
    rand::SystemRandom,
    rsa::KeySize,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair},
};

use crate::machine;

/// A message as long as the header and the claims of a token.
const MESSAGE: [u8; 420] = [b'x'; 420];

/// A key like the service's, parsed once.
#[derive(Debug, Clone)]
pub(super) struct RawSigner(Arc<Key>);

#[derive(Debug)]
enum Key {
    Rs256(RsaKeyPair),
    Es256(EcdsaKeyPair),
}

/// The result of signing alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signed {
    /// Signatures per second.
    pub(super) rate: f64,
    /// Processor time per signature, in microseconds.
    pub(super) micros: Option<f64>,
}

// === impl RawSigner ===

impl RawSigner {
    /// A new key for RS256.
    pub(super) fn rs256() -> Result<Self> {
        let pair = RsaKeyPair::generate(KeySize::Rsa2048).map_err(|_| anyhow!("no RSA key"))?;
        Ok(Self(Arc::new(Key::Rs256(pair))))
    }

    /// A new key for ES256.
    pub(super) fn es256() -> Result<Self> {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING);
        Ok(Self(Arc::new(Key::Es256(pair.map_err(|_| anyhow!("no key on a curve"))?))))
    }

    /// Signs on as many threads as there are processors, over `duration`.
    pub(super) async fn run(&self, duration: Duration) -> Result<Signed> {
        let signer = self.clone();
        let run = tokio::task::spawn_blocking(move || signer.run_blocking(duration));
        run.await.context("signing panicked")?
    }

    fn run_blocking(&self, duration: Duration) -> Result<Signed> {
        let used = || machine::processor_time(std::process::id());
        let (start, used_before) = (Instant::now(), used());
        let signed = thread::scope(|scope| {
            let sign = || self.sign_until(start + duration);
            let threads: Vec<_> = (0..machine::cores()).map(|_| scope.spawn(sign)).collect();
            let counts = threads
                .into_iter()
                .map(|thread| thread.join().map_err(|_| anyhow!("signing panicked")).flatten());
            counts.sum::<Result<f64>>()
        });
        let signed = signed?;
        let used = used().zip(used_before).map(|(after, before)| after.saturating_sub(before));
        Ok(Signed {
            rate: signed / start.elapsed().as_secs_f64(),
            micros: used.map(|used| used.as_secs_f64() * 1e6 / signed),
        })
    }

    fn sign_until(&self, deadline: Instant) -> Result<f64> {
        let random = SystemRandom::new();
        let mut signature = [0; 256];
        let mut signed = 0.0;
        while Instant::now() < deadline {
            let done = match &*self.0 {
                Key::Rs256(key) => key.sign(&RSA_PKCS1_SHA256, &random, &MESSAGE, &mut signature),
                Key::Es256(key) => key.sign(&random, &MESSAGE).map(drop),
            };
            done.map_err(|_| anyhow!("no signature"))?;
            signed += 1.0;
        }
        Ok(signed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_signs_more_than_once_a_second() {
        for signer in [RawSigner::rs256().unwrap(), RawSigner::es256().unwrap()] {
            assert!(signer.run(Duration::from_millis(100)).await.unwrap().rate > 1.0);
        }
    }
}
