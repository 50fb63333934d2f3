//! Fixtures of this crate's tests. RSA keys are shared, because making one takes long.

use std::sync::LazyLock;

use vestibule_domain::RoomId;

use crate::{Claims, DeploymentSecret, KeyAlgorithm, SigningKey, TokenUse};

static KEY: LazyLock<SigningKey> =
    LazyLock::new(|| SigningKey::generate(KeyAlgorithm::Rs256).unwrap());
static OTHER_KEY: LazyLock<SigningKey> =
    LazyLock::new(|| SigningKey::generate(KeyAlgorithm::Rs256).unwrap());
static CURVE_KEY: LazyLock<SigningKey> =
    LazyLock::new(|| SigningKey::generate(KeyAlgorithm::Es256).unwrap());

pub(crate) fn secret() -> DeploymentSecret {
    DeploymentSecret::new(b"0123456789abcdef0123456789abcdef").unwrap()
}

pub(crate) fn room(name: &str) -> RoomId {
    RoomId::new(name).unwrap()
}

pub(crate) fn key() -> &'static SigningKey {
    &KEY
}

pub(crate) fn other_key() -> &'static SigningKey {
    &OTHER_KEY
}

/// A key that signs with ES256; the other two sign with RS256.
pub(crate) fn curve_key() -> &'static SigningKey {
    &CURVE_KEY
}

/// The claims of an access token for the room "sale".
pub(crate) fn claims() -> Claims {
    Claims {
        aud: "sale".to_owned(),
        cnf: None,
        exp: 1_763_693_600,
        iat: 1_763_690_000,
        iss: "https://line.example".to_owned(),
        nbf: 1_763_690_000,
        queue_position: 4_711,
        sub: "6f1c2a34-0b5d-4e7f-8a90-b1c2d3e4f506".to_owned(),
        token_use: TokenUse::Access,
    }
}
