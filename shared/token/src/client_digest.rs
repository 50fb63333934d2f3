//! What is remembered of a client instead of its address: a number that only the holder of the deployment secret can
//! make, and that says nothing in another room.

use aws_lc_rs::hmac::{self, HMAC_SHA256};
use vestibule_domain::RoomId;

use crate::{DeploymentSecret, secret::Derived};

/// The digests of clients for one room.
pub struct ClientDigests(Derived<hmac::Key>);

// === impl ClientDigests ===

impl ClientDigests {
    /// Those for `room`.
    #[must_use]
    pub fn new(secret: &DeploymentSecret, room: &RoomId) -> Self {
        let context = [room.as_str().as_bytes()];
        Self(secret.derive_each::<32, _>("client", &context, |key| {
            hmac::Key::new(HMAC_SHA256, key.as_slice())
        }))
    }

    /// The digest of what `parts` say of a client, for one `purpose`. Never 0.
    #[must_use]
    pub fn of(&self, purpose: &str, parts: &[&[u8]]) -> u64 {
        digest(self.0.current(), purpose, parts)
    }

    /// The digests of what `parts` say of a client under each secret: that of the current one first.
    pub fn all(&self, purpose: &str, parts: &[&[u8]]) -> impl Iterator<Item = u64> {
        self.0.each().map(move |key| digest(key, purpose, parts))
    }

    /// Whether `known` is the digest of `parts`, be it under a secret that is being replaced.
    #[must_use]
    pub fn matches(&self, known: u64, purpose: &str, parts: &[&[u8]]) -> bool {
        self.0.find(|key| (digest(key, purpose, parts) == known).then_some(())).is_some()
    }
}

impl std::fmt::Debug for ClientDigests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClientDigests([REDACTED])")
    }
}

/// Each part is preceded by its length, so that none can pass for another.
fn digest(key: &hmac::Key, purpose: &str, parts: &[&[u8]]) -> u64 {
    let mut context = hmac::Context::with_key(key);
    for part in std::iter::once(&purpose.as_bytes()).chain(parts) {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part);
    }
    let mut first = [0; 8];
    first.copy_from_slice(&context.sign().as_ref()[..8]);
    u64::from_be_bytes(first).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{room, secret};

    fn digests(name: &str) -> ClientDigests {
        ClientDigests::new(&secret(), &room(name))
    }

    #[test]
    fn it_depends_on_the_room_the_purpose_and_every_part() {
        let all = [
            digests("sale").of("network", &[b"ab", b"c"]),
            digests("sale").of("network", &[b"a", b"bc"]),
            digests("sale").of("session", &[b"ab", b"c"]),
            digests("other").of("network", &[b"ab", b"c"]),
        ];
        for (i, one) in all.iter().enumerate() {
            assert!(!all[..i].contains(one), "{i}");
        }
        assert_eq!(all[0], digests("sale").of("network", &[b"ab", b"c"]));
    }

    #[test]
    fn one_under_the_secret_that_is_replaced_still_matches() {
        let other = || DeploymentSecret::new(&[9; 32]).unwrap();
        let before = ClientDigests::new(&other(), &room("sale")).of("session", &[b"a"]);
        let now = ClientDigests::new(&secret().with_others([other()]), &room("sale"));
        assert!(
            now.matches(before, "session", &[b"a"]) && !now.matches(before, "session", &[b"b"])
        );
        assert!(!digests("sale").matches(before, "session", &[b"a"]));
        assert_eq!(now.of("session", &[b"a"]), digests("sale").of("session", &[b"a"]));
    }
}
