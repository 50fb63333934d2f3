//! The keys of a deployment: one that signs, and older ones whose tokens have yet to run out.
//! Rotation is a rule here and an act elsewhere: who rotates, when, and where the records rest
//! is the services' and the store's.

use std::{cmp::Reverse, sync::Arc};

use jsonwebtoken::DecodingKey;

use crate::{DeploymentSecret, Jwk, Jwks, KeyRecord, KeyRingError, SigningKey};

/// The opened keys. Opening parses every private key, so do it when the records change, not for
/// each token.
#[derive(Debug, Default)]
pub struct KeyRing {
    /// Those that sign before the retired, each group newest first.
    keys: Vec<RingKey>,
}

#[derive(Debug)]
struct RingKey {
    signing: Arc<SigningKey>,
    verifying: DecodingKey,
    record: KeyRecord,
}

/// The records after `new` has become the current key at `now` (unix seconds): it comes first,
/// those it replaces are kept for `longest_validity_seconds`, the most that any token lives, and
/// those past their time are gone. A validity of 0 ends the old keys at once, with every token
/// that they signed.
#[must_use]
pub fn rotate(
    records: &[KeyRecord],
    new: KeyRecord,
    now: u64,
    longest_validity_seconds: u64,
) -> Vec<KeyRecord> {
    let end = now.saturating_add(longest_validity_seconds);
    let retire = |record: &KeyRecord| {
        let retires_at = Some(record.retires_at.unwrap_or(end));
        KeyRecord { retires_at, ..record.clone() }
    };
    let old = records.iter().filter(|record| record.kid != new.kid && record.is_valid_at(now));
    let mut rotated: Vec<_> = old.map(retire).collect();
    rotated.insert(0, KeyRecord { retires_at: None, ..new });
    rotated
}

// === impl KeyRing ===

impl KeyRing {
    /// Opens `records`, in whatever order they come. No records make an empty ring, which is not
    /// usable yet.
    ///
    /// # Errors
    /// [`KeyRingError::WrongSecret`] and [`KeyRingError::Damaged`], as of the first record that
    /// does not open.
    pub fn open(secret: &DeploymentSecret, records: &[KeyRecord]) -> Result<Self, KeyRingError> {
        let mut keys: Vec<_> =
            records.iter().map(|record| RingKey::open(secret, record)).collect::<Result<_, _>>()?;
        keys.sort_by_cached_key(RingKey::rank);
        Ok(Self { keys })
    }

    /// Whether there is a key to sign with.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.current().is_some()
    }

    /// The key that signs: the newest that is not retired.
    #[must_use]
    pub fn current(&self) -> Option<&Arc<SigningKey>> {
        self.keys.first().filter(|key| key.record.retires_at.is_none()).map(|key| &key.signing)
    }

    /// The key of this name, retired or not.
    #[must_use]
    pub fn get(&self, kid: &str) -> Option<&Arc<SigningKey>> {
        self.find(kid).map(|key| &key.signing)
    }

    /// The public keys whose tokens may be valid at `now` (unix seconds), the current one first.
    #[must_use]
    pub fn jwks(&self, now: u64) -> Jwks {
        let valid = self.keys.iter().filter(|key| key.record.is_valid_at(now));
        Jwks { keys: valid.map(|key| key.record.public.clone().into()).collect() }
    }

    /// What checks signatures by `kid` at `now`. A key past its time checks nothing: should it
    /// leak later, it must not open gateways again.
    pub(crate) fn verifying_key(&self, kid: &str, now: u64) -> Option<&DecodingKey> {
        self.find(kid).filter(|key| key.record.is_valid_at(now)).map(|key| &key.verifying)
    }

    fn find(&self, kid: &str) -> Option<&RingKey> {
        self.keys.iter().find(|key| key.record.kid == kid)
    }
}

// === impl RingKey ===

impl RingKey {
    fn open(secret: &DeploymentSecret, record: &KeyRecord) -> Result<Self, KeyRingError> {
        let signing = Arc::new(record.open(secret)?);
        let Jwk { n, e, .. } = signing.public_jwk();
        let verifying = DecodingKey::from_rsa_components(n, e)
            .map_err(|_| KeyRingError::Damaged(record.kid.clone()))?;
        Ok(Self { signing, verifying, record: record.clone() })
    }

    fn rank(&self) -> (bool, Reverse<u64>, String) {
        let record = &self.record;
        (record.retires_at.is_some(), Reverse(record.created_at), record.kid.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{key, other_key, secret};

    const HOUR: u64 = 3_600;

    fn record(key: &SigningKey, created_at: u64) -> KeyRecord {
        KeyRecord::seal(&secret(), key, created_at).unwrap()
    }

    fn kids(jwks: &Jwks) -> Vec<&str> {
        jwks.keys.iter().map(|key| key.jwk.kid.as_str()).collect()
    }

    /// A ring whose first key was replaced by the second at 5000.
    fn rotated() -> Vec<KeyRecord> {
        rotate(&[record(key(), 1_000)], record(other_key(), 5_000), 5_000, HOUR)
    }

    #[test]
    fn an_empty_ring_is_not_usable() {
        let ring = KeyRing::open(&secret(), &[]).unwrap();
        assert!(!ring.is_usable());
        assert!(ring.current().is_none());
        assert!(ring.jwks(0).keys.is_empty());
    }

    #[test]
    fn the_newest_key_signs_whatever_the_order_of_the_records() {
        let mut records = vec![record(key(), 1_000), record(other_key(), 2_000)];
        for _ in 0..2 {
            let ring = KeyRing::open(&secret(), &records).unwrap();
            assert_eq!(ring.current().unwrap().kid(), other_key().kid());
            records.reverse();
        }
    }

    #[test]
    fn a_retired_key_does_not_sign_however_new() {
        let retired = KeyRecord { retires_at: Some(9_000), ..record(other_key(), 2_000) };
        let ring = KeyRing::open(&secret(), &[retired.clone(), record(key(), 1_000)]).unwrap();
        assert_eq!(ring.current().unwrap().kid(), key().kid());
        assert!(!KeyRing::open(&secret(), &[retired]).unwrap().is_usable());
    }

    #[test]
    fn after_a_rotation_the_old_key_is_published_until_its_tokens_ran_out() {
        let records = rotated();
        let ring = KeyRing::open(&secret(), &records).unwrap();
        let (new, old) = (other_key().kid(), key().kid());
        assert_eq!(ring.current().unwrap().kid(), new);
        assert!(ring.get(old).is_some() && ring.get("unknown").is_none());
        assert_eq!(kids(&ring.jwks(5_000)), [new, old]);
        assert_eq!(kids(&ring.jwks(5_000 + HOUR)), [new, old]);
        assert_eq!(kids(&ring.jwks(5_001 + HOUR)), [new]);
        assert!(ring.verifying_key(old, 5_000 + HOUR).is_some());
        assert!(ring.verifying_key(old, 5_001 + HOUR).is_none());
    }

    #[test]
    fn rotation_keeps_the_end_once_set_and_drops_what_is_past_it() {
        let retired_at: Vec<_> = rotated().iter().map(|record| record.retires_at).collect();
        assert_eq!(retired_at, [None, Some(5_000 + HOUR)]);

        let third = KeyRecord { kid: "third".to_owned(), ..record(key(), 6_000) };
        let later = rotate(&rotated(), third.clone(), 6_000, HOUR);
        let retired_at: Vec<_> = later.iter().map(|record| record.retires_at).collect();
        assert_eq!(retired_at, [None, Some(6_000 + HOUR), Some(5_000 + HOUR)]);

        let much_later = rotate(&rotated(), third, 5_001 + HOUR, HOUR);
        let names: Vec<_> = much_later.iter().map(|record| record.kid.as_str()).collect();
        assert_eq!(names, ["third", other_key().kid()]);
    }

    #[test]
    fn rotating_to_the_same_key_twice_changes_nothing() {
        let again = rotate(&rotated(), record(other_key(), 5_000), 5_000, HOUR);
        let ends = |records: &[KeyRecord]| {
            records.iter().map(|r| (r.kid.clone(), r.retires_at)).collect::<Vec<_>>()
        };
        assert_eq!(ends(&again), ends(&rotated()));
    }

    #[test]
    fn the_wrong_secret_opens_no_ring() {
        let other = DeploymentSecret::new(&[9; 32]).unwrap();
        assert_eq!(KeyRing::open(&other, &rotated()).unwrap_err(), KeyRingError::WrongSecret);
    }

    #[test]
    fn debug_shows_no_private_key() {
        let ring = KeyRing::open(&secret(), &[record(key(), 1_000)]).unwrap();
        let pkcs8 = key().to_pkcs8().unwrap();
        let byte_list = format!("{:?}", &pkcs8.as_ref()[600..620]);
        assert!(!format!("{ring:?}").contains(byte_list.trim_matches(['[', ']'])));
    }
}
