//! Access tokens: only those that our keys have signed are accepted, by their key's algorithm, as what was signed.

use std::sync::LazyLock;

use vestibule_domain::RoomId;
use vestibule_token::{
    Claims, DeploymentSecret, KeyAlgorithm, KeyRecord, KeyRing, SigningKey, TokenUse, verify,
};

use super::{Target, text};

pub(super) const TARGET: Target = Target {
    name: "tokens",
    run,
    words: &[
        ".",
        "..",
        "eyJhbGciOiJub25lIn0",
        "eyJhbGciOiJIUzI1NiJ9",
        "eyJhbGciOiJFUzI1NiJ9",
        "eyJ",
        "AAAA",
        "=",
        "_",
        "-",
    ],
};

const NOW: u64 = 1_000;

struct Ours {
    ring: KeyRing,
    tokens: Vec<String>,
    room: RoomId,
}

static OURS: LazyLock<Ours> = LazyLock::new(|| {
    let secret = DeploymentSecret::new(&[7; 32]).expect("long enough");
    let keys = [KeyAlgorithm::Rs256, KeyAlgorithm::Es256]
        .map(|algorithm| SigningKey::generate(algorithm).expect("a key"));
    let records = keys.each_ref().map(|key| KeyRecord::seal(&secret, key, 1).expect("a record"));
    Ours {
        ring: KeyRing::open(&secret, &records).expect("a ring"),
        tokens: keys.iter().map(|key| key.sign(&claims()).expect("a token")).collect(),
        room: RoomId::new("sale").expect("a room's name"),
    }
});

fn claims() -> Claims {
    Claims {
        aud: "sale".to_owned(),
        cnf: None,
        exp: NOW + 60,
        iat: NOW,
        iss: "https://wait.example".to_owned(),
        nbf: NOW,
        queue_position: 7,
        sub: "6f1c2a34-0b5d-4e7f-8a90-b1c2d3e4f506".to_owned(),
        token_use: TokenUse::Access,
    }
}

fn run(bytes: &[u8]) {
    let accepted = |token: &str| verify(token, &OURS.ring, &OURS.room, NOW).ok();
    assert_eq!(accepted(&text(bytes)), None, "nobody has signed this");
    let Some(([which, part, at], put)) = bytes.split_first_chunk::<3>() else { return };
    // A piece of a good token is replaced by what was given.
    let token = &OURS.tokens[usize::from(*which) % OURS.tokens.len()];
    assert_eq!(accepted(token), Some(claims()));
    let mut parts: Vec<String> = token.split('.').map(str::to_owned).collect();
    let part = &mut parts[usize::from(*part) % 3];
    let mut changed = part.clone().into_bytes();
    let from = usize::from(*at) % changed.len();
    let to = (from + put.len()).min(changed.len());
    changed.splice(from..to, put.iter().copied());
    *part = text(&changed).into_owned();
    let changed = parts.join(".");
    if changed != *token {
        assert_eq!(accepted(&changed), None, "{token} is also {changed}");
    }
}
