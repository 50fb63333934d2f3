//! The keys of a deployment: one that signs, older ones whose tokens have not expired yet, and
//! possibly the next one, which is published before it signs so that every gateway knows it by
//! then. The rules of rotation are here; the services decide when to rotate, and the store keeps
//! the records.

use std::{cmp::Reverse, sync::Arc};

use jsonwebtoken::DecodingKey;

use crate::{
    DeploymentSecret, Jwk, Jwks, KeyAlgorithm, KeyRecord, KeyRingError, SigningKey,
    key_record::READ_WITHIN,
};

/// The opened keys. Opening parses every private key, so it should be done only when the records
/// change.
#[derive(Debug, Default)]
pub struct KeyRing {
    /// The signing key, the announced one, the retired ones; each group newest first.
    keys: Vec<RingKey>,
}

#[derive(Debug)]
struct RingKey {
    signing: Arc<SigningKey>,
    verifying: DecodingKey,
    record: KeyRecord,
}

/// The records after `new` was announced at `now`, to sign from `signs_from` (unix seconds). It
/// replaces a key that was announced earlier and has never signed.
#[must_use]
pub fn announce(
    records: &[KeyRecord],
    new: KeyRecord,
    now: u64,
    signs_from: u64,
) -> Vec<KeyRecord> {
    let stays = |record: &&KeyRecord| record.signs_from.is_none() && record.is_kept_at(now);
    let mut announced: Vec<_> = records.iter().filter(stays).cloned().collect();
    announced.push(KeyRecord { signs_from: Some(signs_from), retires_at: None, ..new });
    announced
}

/// When the announced key begins to sign, unix seconds; `None`: no key is announced.
#[must_use]
pub fn succession(records: &[KeyRecord]) -> Option<u64> {
    records.iter().filter_map(|record| record.signs_from).min()
}

/// The records after the announced key began to sign at `now` (unix seconds). Earlier keys stay for
/// `longest_validity_seconds`, the longest validity of any of their tokens; those past that time
/// are removed. `None` while no announced key is due.
#[must_use]
pub fn succeed(
    records: &[KeyRecord],
    now: u64,
    longest_validity_seconds: u64,
) -> Option<Vec<KeyRecord>> {
    let due = |record: &KeyRecord| record.signs_from.is_some_and(|from| from <= now);
    if !records.iter().any(due) {
        return None;
    }
    let end = now.saturating_add(longest_validity_seconds);
    let next = |record: &KeyRecord| {
        let retires_at = (record.signs_from.is_none()).then(|| record.retires_at.unwrap_or(end));
        let signs_from = record.signs_from.filter(|_| !due(record));
        KeyRecord { signs_from, retires_at, ..record.clone() }
    };
    Some(records.iter().filter(|record| record.is_kept_at(now)).map(next).collect())
}

/// The records after the key `kid` was withdrawn at `now` (unix seconds): nothing is signed or verified by it from then
/// on. If it is the one that signs, `successor` signs at once. The record stays for `longest_validity_seconds`, the
/// longest validity of any of its tokens. `None`: there is no such key.
#[must_use]
pub fn withdraw(
    records: &[KeyRecord],
    kid: &str,
    successor: &KeyRecord,
    now: u64,
    longest_validity_seconds: u64,
) -> Option<Vec<KeyRecord>> {
    let mut records = records.to_vec();
    let key = records.iter_mut().find(|record| record.kid == kid)?;
    let signed = key.signs();
    let retires_at = key.retires_at.unwrap_or(now.saturating_add(longest_validity_seconds));
    (key.withdrawn, key.signs_from, key.retires_at) = (true, None, Some(retires_at));
    records.extend(signed.then(|| successor.clone()));
    Some(records)
}

/// The records after what `own`, a ring that was read before, has over `found`: Redis has gone back to an older ring.
/// `None`: it has not. A key is removed only a day after its last token has expired, or if it was announced and another
/// one was announced in its place; and what a key has come to be it never ceases to be. Whoever lacks a key that was made
/// more than a day ago has read nothing since: what it has over `found` may have been removed there.
#[must_use]
pub fn join(found: &[KeyRecord], own: &[KeyRecord], now: u64) -> Option<Vec<KeyRecord>> {
    let is_new = |one: &&KeyRecord| own.iter().all(|known| known.kid != one.kid);
    let is_outdated = |one: &KeyRecord| one.created_at.saturating_add(READ_WITHIN) < now;
    if found.iter().filter(is_new).any(is_outdated) {
        return None;
    }
    // Another key was announced in its place: one that is new here, and was made later.
    let is_replaced = |record: &KeyRecord| {
        found.iter().filter(is_new).any(|one| one.created_at >= record.created_at)
    };
    let mut joined = found.to_vec();
    for record in own.iter().filter(|record| record.is_kept_at(now)) {
        match joined.iter_mut().find(|one| one.kid == record.kid) {
            Some(one) if progress(one) < progress(record) => one.clone_from(record),
            Some(_) => {}
            None if record.signs_from.is_some() && is_replaced(record) => {}
            None => joined.push(record.clone()),
        }
    }
    (joined != found).then_some(joined)
}

/// The records of `found`, sealed as in `own` where `secret` does not open them: Redis has gone back to before they were
/// sealed anew, and the older secret is forgotten. `secret` opens `own`.
#[must_use]
pub fn sealed_as(
    found: &[KeyRecord],
    own: &[KeyRecord],
    secret: &DeploymentSecret,
) -> Vec<KeyRecord> {
    let mut records = found.to_vec();
    for record in &mut records {
        let known = own.iter().find(|one| one.kid == record.kid);
        let known = known.filter(|one| one.sealed_private_key != record.sealed_private_key);
        let is_foreign = || matches!(record.open(secret), Err(KeyRingError::WrongSecret));
        if let Some(known) = known.filter(|_| is_foreign()) {
            record.sealed_private_key.clone_from(&known.sealed_private_key);
        }
    }
    records
}

/// The records sealed under the current secret, if any of them was sealed under another one that is known: so that that
/// one can be forgotten.
#[must_use]
pub fn reseal(records: &[KeyRecord], secret: &DeploymentSecret) -> Option<Vec<KeyRecord>> {
    let mut resealed = records.to_vec();
    for record in &mut resealed {
        if let Some(anew) = record.reseal(secret) {
            *record = anew;
        }
    }
    (resealed != records).then_some(resealed)
}

/// A key is announced, then signs, then retires; and any may be withdrawn.
fn progress(record: &KeyRecord) -> u8 {
    if record.withdrawn {
        return 3;
    }
    match (record.signs_from, record.retires_at) {
        (_, Some(_)) => 2,
        (None, None) => 1,
        (Some(_), None) => 0,
    }
}

// === impl KeyRing ===

impl KeyRing {
    /// Opens `records`, in any order. Without records the ring is empty, and not usable yet.
    ///
    /// # Errors
    /// [`KeyRingError::WrongSecret`] and [`KeyRingError::Damaged`], of the first record that cannot
    /// be opened.
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

    /// The signing key: the newest that is neither only announced nor retired.
    #[must_use]
    pub fn current(&self) -> Option<&Arc<SigningKey>> {
        self.keys.first().filter(|key| key.record.signs()).map(|key| &key.signing)
    }

    /// The key of this name, whether it signs or not, if gateways take tokens by it at `now` (unix seconds).
    #[must_use]
    pub fn get(&self, kid: &str, now: u64) -> Option<&Arc<SigningKey>> {
        self.find(kid).filter(|key| key.record.verifies_at(now)).map(|key| &key.signing)
    }

    /// The public keys whose tokens may be valid at `now` (unix seconds), and the announced one.
    /// The signing key is the first, then the announced.
    #[must_use]
    pub fn jwks(&self, now: u64) -> Jwks {
        let valid = self.keys.iter().filter(|key| key.record.verifies_at(now));
        Jwks { keys: valid.map(|key| key.record.public.clone().into()).collect() }
    }

    /// The key that verifies signatures by `kid` at `now`, and the one algorithm that it does so for. A key past its time verifies nothing: if
    /// it leaks later, it must not open gateways again.
    pub(crate) fn verifying_key(
        &self,
        kid: &str,
        now: u64,
    ) -> Option<(&DecodingKey, KeyAlgorithm)> {
        let key = self.find(kid).filter(|key| key.record.verifies_at(now))?;
        Some((&key.verifying, key.record.public.algorithm()))
    }

    fn find(&self, kid: &str) -> Option<&RingKey> {
        self.keys.iter().find(|key| key.record.kid == kid)
    }
}

// === impl RingKey ===

impl RingKey {
    fn open(secret: &DeploymentSecret, record: &KeyRecord) -> Result<Self, KeyRingError> {
        let signing = Arc::new(record.open(secret)?);
        let verifying = match signing.public_jwk() {
            Jwk::Rsa { n, e, .. } => DecodingKey::from_rsa_components(n, e),
            Jwk::Ec { x, y, .. } => DecodingKey::from_ec_components(x, y),
        };
        let verifying = verifying.map_err(|_| KeyRingError::Damaged(record.kid.clone()))?;
        Ok(Self { signing, verifying, record: record.clone() })
    }

    fn rank(&self) -> (bool, bool, Reverse<u64>, String) {
        let record = &self.record;
        let (retired, announced) = (record.retires_at.is_some(), record.signs_from.is_some());
        (retired, announced, Reverse(record.created_at), record.kid.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{curve_key, key, other_key, secret};

    const HOUR: u64 = 3_600;

    fn record(key: &SigningKey, created_at: u64) -> KeyRecord {
        KeyRecord::seal(&secret(), key, created_at).unwrap()
    }

    fn kids(jwks: &Jwks) -> Vec<&str> {
        jwks.keys.iter().map(|key| key.jwk.kid()).collect()
    }

    /// A ring whose second key was announced at 4000, to sign from 5000.
    fn announced() -> Vec<KeyRecord> {
        announce(&[record(key(), 1_000)], record(other_key(), 4_000), 4_000, 5_000)
    }

    /// The same ring after the second key began to sign at 5000.
    fn rotated() -> Vec<KeyRecord> {
        succeed(&announced(), 5_000, HOUR).unwrap()
    }

    /// `records` with the third key in place of the second at `now`.
    fn rotated_again(records: &[KeyRecord], now: u64) -> Vec<KeyRecord> {
        let third = KeyRecord { kid: "third".to_owned(), ..record(key(), now) };
        succeed(&announce(records, third, now, now), now, HOUR).unwrap()
    }

    fn ends(records: &[KeyRecord]) -> Vec<(&str, Option<u64>)> {
        records.iter().map(|record| (record.kid.as_str(), record.retires_at)).collect()
    }

    #[test]
    fn what_an_older_ring_lacks_is_put_back() {
        let (before, after) = (vec![record(key(), 1_000)], rotated());
        assert_eq!(join(&before, &after, 5_001), Some(after.clone()), "one is new, one retired");
        assert_eq!(join(&announced(), &after, 5_001), Some(after.clone()), "it has begun to sign");
        assert_eq!(join(&after, &before, 5_001), None, "that is no older ring");
        assert_eq!(join(&after, &announced(), 5_001), None);
        assert_eq!(join(&after, &after, 5_001), None);
    }

    #[test]
    fn what_was_removed_stays_away() {
        let after = rotated();
        let without_the_old = vec![after[1].clone()];
        let end = after[0].retires_at.unwrap();
        let removed = end + READ_WITHIN + 1;
        assert_eq!(join(&without_the_old, &after, removed), None, "its tokens have long expired");
        assert!(join(&without_the_old, &after, removed - 1).is_some());
        let third = KeyRecord { kid: "third".to_owned(), ..record(key(), 4_500) };
        let another = announce(&announced(), third, 4_500, 6_000);
        assert_eq!(join(&another, &announced(), 4_501), None, "another was announced in its place");
        let signing = succeed(&another, 6_000, HOUR).unwrap();
        assert_eq!(join(&signing, &announced(), 6_001), None, "and signs by now");
    }

    #[test]
    fn a_withdrawn_key_opens_nothing_and_another_signs_at_once() {
        let (old, new) = (key().kid(), other_key().kid());
        let records =
            withdraw(&[record(key(), 1_000)], old, &record(other_key(), 4_000), 4_000, HOUR);
        let records = records.unwrap();
        assert_eq!(ends(&records), [(old, Some(4_000 + HOUR)), (new, None)]);
        let ring = KeyRing::open(&secret(), &records).unwrap();
        assert_eq!(ring.current().unwrap().kid(), new);
        assert_eq!(kids(&ring.jwks(4_000)), [new]);
        assert!(ring.get(old, 4_000).is_none() && ring.verifying_key(old, 4_000).is_none());
        assert!(succeed(&records, 4_001, HOUR).is_none());
    }

    #[test]
    fn withdrawing_a_key_that_does_not_sign_leaves_the_one_that_does() {
        let third = KeyRecord { kid: "third".to_owned(), ..record(key(), 6_000) };
        let withdrawn = |records: &[_], kid| withdraw(records, kid, &third, 5_001, HOUR);
        let (old, new) = (key().kid(), other_key().kid());
        let retired = withdrawn(&rotated(), old).unwrap();
        assert_eq!(ends(&retired), [(old, Some(5_000 + HOUR)), (new, None)], "as long as before");
        assert!(retired[0].withdrawn);
        let next = withdrawn(&announced(), new).unwrap();
        assert_eq!(KeyRing::open(&secret(), &next).unwrap().current().unwrap().kid(), old);
        assert_eq!(succession(&next), None, "it never signs");
        assert_eq!(withdrawn(&rotated(), "unknown"), None);
    }

    #[test]
    fn a_key_of_one_kind_follows_one_of_the_other() {
        let next = announce(&[record(key(), 1_000)], record(curve_key(), 4_000), 4_000, 5_000);
        let back = announce(&[record(curve_key(), 1_000)], record(key(), 4_000), 4_000, 5_000);
        for (records, old, new) in [(next, key(), curve_key()), (back, curve_key(), key())] {
            let ring = KeyRing::open(&secret(), &succeed(&records, 5_000, HOUR).unwrap()).unwrap();
            assert_eq!(ring.current().unwrap().kid(), new.kid());
            assert_eq!(kids(&ring.jwks(5_000)), [new.kid(), old.kid()]);
        }
    }

    #[test]
    fn a_withdrawn_key_does_not_come_back() {
        let third = KeyRecord { kid: "third".to_owned(), ..record(key(), 6_000) };
        let before = rotated();
        let after = withdraw(&before, other_key().kid(), &third, 6_000, HOUR).unwrap();
        assert_eq!(join(&after, &before, 6_001), None, "by who has not heard of it");
        assert_eq!(join(&before, &after, 6_001), Some(after.clone()), "nor by an older Redis");
        let later = announce(&after, record(key(), 7_000), 7_000, 8_000);
        assert!(later.iter().any(|record| record.withdrawn));
    }

    #[test]
    fn who_was_away_for_long_brings_no_key_back() {
        let third = KeyRecord { kid: "third".to_owned(), ..record(key(), 6_000) };
        let before = rotated();
        let withdrawn = withdraw(&before, other_key().kid(), &third, 6_000, HOUR).unwrap();
        let away = [before, vec![record(key(), 1_000)]];
        let mut ring = withdrawn;
        // A rotation every ten hours: of each key it is known what it came to be until nobody can have missed that.
        for hour in 0..60 {
            let now = 7_000 + hour * HOUR;
            if hour % 10 == 0 {
                let next = KeyRecord { kid: format!("k{hour}"), ..record(key(), now) };
                ring = succeed(&announce(&ring, next, now, now), now, HOUR).unwrap();
            }
            for own in &away {
                assert_eq!(join(&ring, own, now), None, "after {hour} hours");
            }
        }
        assert!(ring.iter().all(|record| record.created_at > 6_000), "none of before is left");
    }

    #[test]
    fn a_ring_is_sealed_anew_as_a_whole() {
        let new = || DeploymentSecret::new(&[9; 32]).unwrap();
        let both = new().with_others([secret()]);
        let mut records = rotated();
        records[0] = records[0].reseal(&both).unwrap();
        let resealed = reseal(&records, &both).unwrap();
        assert_eq!(resealed[0], records[0]);
        let ring = KeyRing::open(&new(), &resealed).unwrap();
        assert_eq!(ring.current().unwrap().kid(), other_key().kid());
        assert_eq!(ends(&resealed), ends(&records));
        assert_eq!(reseal(&resealed, &both), None);
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
        assert!(ring.get(old, 5_000).is_some() && ring.get("unknown", 5_000).is_none());
        assert!(ring.get(old, 5_001 + HOUR).is_none(), "nobody would take what it signs");
        assert_eq!(kids(&ring.jwks(5_000)), [new, old]);
        assert_eq!(kids(&ring.jwks(5_000 + HOUR)), [new, old]);
        assert_eq!(kids(&ring.jwks(5_001 + HOUR)), [new]);
        assert!(ring.verifying_key(old, 5_000 + HOUR).is_some());
        assert!(ring.verifying_key(old, 5_001 + HOUR).is_none());
    }

    #[test]
    fn an_announced_key_is_published_and_does_not_sign_before_its_time() {
        let ring = KeyRing::open(&secret(), &announced()).unwrap();
        let (new, old) = (other_key().kid(), key().kid());
        assert_eq!(ring.current().unwrap().kid(), old);
        assert_eq!(kids(&ring.jwks(4_000)), [old, new]);
        assert!(ring.verifying_key(new, 4_000).is_some());
        assert_eq!(succession(&announced()), Some(5_000));
        assert!(succeed(&announced(), 4_999, HOUR).is_none());
        assert_eq!(succession(&rotated()), None);
        assert!(succeed(&rotated(), 9_000, HOUR).is_none(), "once only");
        let alone = KeyRing::open(&secret(), &announced()[1..]).unwrap();
        assert!(!alone.is_usable());
    }

    #[test]
    fn a_key_that_never_signed_gives_way_to_the_next_announced() {
        let third = KeyRecord { kid: "third".to_owned(), ..record(key(), 4_500) };
        let records = announce(&announced(), third, 4_500, 4_800);
        assert_eq!(ends(&records), [(key().kid(), None), ("third", None)]);
        assert_eq!(succession(&records), Some(4_800));
    }

    #[test]
    fn rotation_keeps_the_end_once_set_and_drops_what_is_past_it() {
        let (first, second) = (key().kid(), other_key().kid());
        assert_eq!(ends(&rotated()), [(first, Some(5_000 + HOUR)), (second, None)]);

        let later = rotated_again(&rotated(), 6_000);
        let (one, two) = (Some(5_000 + HOUR), Some(6_000 + HOUR));
        assert_eq!(ends(&later), [(first, one), (second, two), ("third", None)]);

        let past = 5_001 + HOUR + READ_WITHIN;
        let end = Some(past + HOUR);
        let much_later = rotated_again(&rotated(), past);
        assert_eq!(ends(&much_later), [(second, end), ("third", None)]);
    }

    #[test]
    fn records_of_before_there_were_announcements_are_read() {
        let mut old = serde_json::to_value(record(key(), 1_000)).unwrap();
        old.as_object_mut().unwrap().remove("signs_from").unwrap();
        let read: KeyRecord = serde_json::from_value(old).unwrap();
        assert!(read.signs());
    }

    #[test]
    fn the_wrong_secret_opens_no_ring() {
        let other = DeploymentSecret::new(&[9; 32]).unwrap();
        assert_eq!(KeyRing::open(&other, &rotated()).unwrap_err(), KeyRingError::WrongSecret);
    }

    #[test]
    fn a_ring_of_before_the_secret_was_replaced_is_sealed_as_it_was_since() {
        let (old, new) = ([9; 32], [8; 32]);
        let secret = |bytes: [u8; 32]| DeploymentSecret::new(&bytes).unwrap();
        let both = secret(new).with_others([secret(old)]);
        let (old, new) = (secret(old), secret(new));
        let sealed = |key, at| KeyRecord::seal(&old, key, at).unwrap();
        let before = announce(&[sealed(key(), 1_000)], sealed(other_key(), 4_000), 4_000, 5_000);
        let since = reseal(&succeed(&before, 5_000, HOUR).unwrap(), &both).unwrap();
        assert_eq!(KeyRing::open(&new, &before).unwrap_err(), KeyRingError::WrongSecret);

        let mended = sealed_as(&before, &since, &new);
        let joined = join(&mended, &since, 6_000).unwrap();
        assert!(KeyRing::open(&new, &joined).unwrap().is_usable());
        assert_eq!(joined, since);
        assert_eq!(sealed_as(&since, &before, &new), since, "what opens stays as it is");
        assert_eq!(sealed_as(&before, &[], &new), before, "nobody knows better");
    }

    #[test]
    fn debug_shows_no_private_key() {
        let ring = KeyRing::open(&secret(), &[record(key(), 1_000)]).unwrap();
        let pkcs8 = key().to_pkcs8().unwrap();
        let byte_list = format!("{:?}", &pkcs8[600..620]);
        assert!(!format!("{ring:?}").contains(byte_list.trim_matches(['[', ']'])));
    }
}
