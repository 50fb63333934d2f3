//! What a webhook's events are signed with, as Standard Webhooks 1.0 has it: HMAC-SHA256 by a secret that is written as
//! `whsec_` and base64. Kept sealed under the deployment's secret, so that reading the store is not enough to sign.

use std::fmt;

use aws_lc_rs::hmac::{self, HMAC_SHA256};
use base64::{Engine, engine::general_purpose::STANDARD};
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::{DeploymentSecret, sealed::SealingKeys};

/// What every secret begins with.
const PREFIX: &str = "whsec_";

/// A secret that events are signed with.
#[derive(Clone)]
pub struct WebhookSecret(SecretSlice<u8>);

/// Why a text is no secret, or a sealed one cannot be opened. Never says the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum WebhookSecretError {
    /// It is not as the standard has it.
    #[error("a secret is `whsec_` and the base64 of {least} to {most} random bytes",
        least = WebhookSecret::LEAST_BYTES, most = WebhookSecret::MOST_BYTES)]
    Malformed,
    /// It was sealed under another secret, or for another webhook, or altered since.
    #[error("the deployment secret does not open the secret of this webhook")]
    WrongSecret,
}

// === impl WebhookSecret ===

impl WebhookSecret {
    /// The fewest bytes, by the standard.
    pub const LEAST_BYTES: usize = 24;
    /// The most bytes, by the standard.
    pub const MOST_BYTES: usize = 64;

    /// A new one of 32 bytes, of random numbers.
    #[must_use]
    pub fn make(random: [u64; 4]) -> Self {
        Self(random.iter().flat_map(|number| number.to_be_bytes()).collect::<Vec<_>>().into())
    }

    /// Reads one.
    ///
    /// # Errors
    /// [`WebhookSecretError::Malformed`].
    pub fn parse(text: &str) -> Result<Self, WebhookSecretError> {
        let bytes = text.strip_prefix(PREFIX).and_then(|text| STANDARD.decode(text).ok());
        let bytes = bytes.ok_or(WebhookSecretError::Malformed)?;
        if !(Self::LEAST_BYTES..=Self::MOST_BYTES).contains(&bytes.len()) {
            return Err(WebhookSecretError::Malformed);
        }
        Ok(Self(bytes.into()))
    }

    /// As receivers have it.
    #[must_use]
    pub fn text(&self) -> SecretString {
        format!("{PREFIX}{}", STANDARD.encode(self.0.expose_secret())).into()
    }

    /// Whether it is the same.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        aws_lc_rs::constant_time::verify_slices_are_equal(
            self.0.expose_secret(),
            other.0.expose_secret(),
        )
        .is_ok()
    }

    /// The signature of an event that is sent at `timestamp`, unix seconds: `v1,` and base64.
    #[must_use]
    pub fn sign(&self, id: &str, timestamp: u64, body: &[u8]) -> String {
        let key = hmac::Key::new(HMAC_SHA256, self.0.expose_secret());
        let mut context = hmac::Context::with_key(&key);
        context.update(format!("{id}.{timestamp}.").as_bytes());
        context.update(body);
        format!("v1,{}", STANDARD.encode(context.sign()))
    }

    /// Sealed for the webhook of this name, in base64.
    ///
    /// # Panics
    /// Never: AES-256-GCM seals so few bytes.
    #[must_use]
    pub fn seal(&self, secret: &DeploymentSecret, name: &str) -> String {
        let mut bytes = Zeroizing::new(self.0.expose_secret().to_vec());
        keys(secret).seal(name, &mut bytes).expect("so few bytes can be sealed")
    }

    /// Opens what was sealed for the webhook of this name.
    ///
    /// # Errors
    /// [`WebhookSecretError::WrongSecret`].
    pub fn open(
        secret: &DeploymentSecret,
        name: &str,
        sealed: &str,
    ) -> Result<Self, WebhookSecretError> {
        let opened = keys(secret).open(name, sealed);
        let opened = opened.map_err(|_| WebhookSecretError::WrongSecret)?;
        Ok(Self(opened.to_vec().into()))
    }

    /// The same sealed under the current secret, if it was sealed under another one that is known.
    #[must_use]
    pub fn reseal(secret: &DeploymentSecret, name: &str, sealed: &str) -> Option<String> {
        keys(secret).reseal(name, sealed)
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret")
    }
}

fn keys(secret: &DeploymentSecret) -> SealingKeys {
    SealingKeys::new(secret, "webhooks")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::secret;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    /// The vector of the reference implementations of Standard Webhooks.
    #[test]
    fn the_signature_is_that_of_the_standard() {
        let signature = WebhookSecret::parse(SECRET).unwrap().sign(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            br#"{"test": 2432232314}"#,
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_is_read_as_it_is_written() {
        let read = WebhookSecret::parse(SECRET).unwrap();
        assert_eq!(read.text().expose_secret(), SECRET);
        let made = WebhookSecret::make([1, 2, 3, u64::MAX]);
        let text = made.text();
        assert!(WebhookSecret::parse(text.expose_secret()).unwrap().is(&made) && !made.is(&read));
        assert!(!format!("{made:?}").contains(&text.expose_secret()[6..]));
    }

    #[test]
    fn what_is_too_short_or_too_long_is_no_secret() {
        let of = |bytes: usize| {
            WebhookSecret::parse(&format!("whsec_{}", STANDARD.encode(vec![7; bytes])))
        };
        assert!(of(24).is_ok() && of(64).is_ok());
        for wrong in [of(23), of(65), WebhookSecret::parse("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")] {
            assert_eq!(wrong.unwrap_err(), WebhookSecretError::Malformed);
        }
        assert!(WebhookSecret::parse("whsec_no base64").is_err());
    }

    #[test]
    fn it_is_sealed_for_one_webhook_under_the_deployments_secret() {
        let one = WebhookSecret::parse(SECRET).unwrap();
        let sealed = one.seal(&secret(), "ops");
        assert!(WebhookSecret::open(&secret(), "ops", &sealed).unwrap().is(&one));
        assert!(
            !STANDARD
                .decode(&sealed)
                .unwrap()
                .windows(8)
                .any(|part| part == &one.0.expose_secret()[..8])
        );
        let other = DeploymentSecret::new(&[9; 32]).unwrap();
        for wrong in [
            WebhookSecret::open(&other, "ops", &sealed),
            WebhookSecret::open(&secret(), "other", &sealed),
            WebhookSecret::open(&secret(), "ops", "AAAA"),
        ] {
            assert_eq!(wrong.unwrap_err(), WebhookSecretError::WrongSecret);
        }
    }

    #[test]
    fn it_is_sealed_anew_when_the_deployments_secret_was_replaced() {
        let one = WebhookSecret::parse(SECRET).unwrap();
        let sealed = one.seal(&secret(), "ops");
        let new = || DeploymentSecret::new(&[9; 32]).unwrap();
        let both = new().with_others([secret()]);
        let resealed = WebhookSecret::reseal(&both, "ops", &sealed).unwrap();
        assert!(WebhookSecret::open(&new(), "ops", &resealed).unwrap().is(&one));
        assert_eq!(WebhookSecret::reseal(&both, "ops", &resealed), None, "once is enough");
        assert_eq!(WebhookSecret::reseal(&new(), "ops", &sealed), None, "nobody can");
    }
}
