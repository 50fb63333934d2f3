//! Rounds published by real drand networks, and forgeries.

use super::*;

/// Quicknet: <https://api.drand.sh/52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971/info>.
const QUICKNET: &str = "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a";
/// Its rounds 123 and 657413.
const QUICKNET_123: &str = "b75c69d0b72a5d906e854e808ba7e2accb1542ac355ae486d591aa9d43765482e26cd02df835d3546d23c4b13e0dfc92";
const QUICKNET_657413: &str = "b713718a38ae728dfd477991af2822e08d2f305e47718cef9f7848ce4050e7be41076862b98fad56e91a6b85b89cd97b";

/// The first mainnet, chained: <https://api.drand.sh/info>.
const MAINNET: &str = "868f005eb8e6e4ca0a47c8a77ceaa5309a47978a7c71bc5cce96366b5d7a569937c529eeda66c7293784a9402801af31";
/// Its round 1, which signs the hash of the group.
const MAINNET_1: &str = "8d61d9100567de44682506aea1a7a6fa6e5491cd27a0a0ed349ef6910ac5ac20ff7bc3e09d7c046566c9f7f3c6f3b10104990e7cb424998203d8f7de586fb7fa5f60045417a432684f85093b06ca91c769f0e7ca19268375e659c2a2352b4655";
const MAINNET_GENESIS: &str = "176f93498eac9ca337150b46d21dd58673ea4e3581185f869672e59fa4cb390a";
/// Its round 72785, and the one before.
const MAINNET_72785: &str = "82f5d3d2de4db19d40a6980e8aa37842a0e55d1df06bd68bddc8d60002e8e959eb9cfa368b3c1b77d18f02a54fe047b80f0989315f83b12a74fd8679c4f12aae86eaf6ab5690b34f1fddd50ee3cc6f6cdf59e95526d5a5d82aaa84fa6f181e42";
const MAINNET_72784: &str = "a609e19a03c2fcc559e8dae14900aaefe517cb55c840f6e69bc8e4f66c8d18e8a609685d9917efbfb0c37f058c2de88f13d297c7e19e0ab24813079efe57a182554ff054c7638153f9b26a60e7111f71a0ff63d9571704905d3ca6df0b031747";

/// An unchained test network, and its round 223344.
const UNCHAINED: &str = "8200fc249deb0148eb918d6e213980c5d01acd7fc251900d9260136da3b54836ce125172399ddc69c4e3e11429b62c11";
const UNCHAINED_223344: &str = "94f6b85df7cce7237e8e7df66d794ddad092de5d8bb6a791b97e905aa89852e506ac36a792eba7021e22eebf34891f8914bf9a8dd9233ea0a4c5ca00ef8404999f899073dd2eade61fe54077fee8168f83dcb61a758b6883b38904054e64a433";

fn randomness(
    key: &str,
    round: u64,
    signature: &str,
    previous: Option<&str>,
) -> Result<String, BeaconError> {
    verify(key, round, signature, previous).map(hex::encode)
}

#[test]
fn rounds_of_quicknet_are_genuine() {
    for previous in [None, Some("")] {
        assert_eq!(
            randomness(QUICKNET, 657_413, QUICKNET_657413, previous).as_deref(),
            Ok("fc1873a13f3545aeade8401532ef5519920652eee6b0d2b19ca12643b87b3587"),
        );
    }
    assert!(verify(QUICKNET, 123, QUICKNET_123, None).is_ok());
    assert!(verify(&QUICKNET.to_uppercase(), 123, &QUICKNET_123.to_uppercase(), None).is_ok());
}

#[test]
fn rounds_of_a_chained_network_are_genuine() {
    assert!(verify(MAINNET, 72_785, MAINNET_72785, Some(MAINNET_72784)).is_ok());
    assert_eq!(
        randomness(MAINNET, 1, MAINNET_1, Some(MAINNET_GENESIS)).as_deref(),
        Ok("101297f1ca7dc44ef6088d94ad5fb7ba03455dc33d53ddb412bbc4564ed986ec"),
    );
}

#[test]
fn rounds_of_an_unchained_network_are_genuine() {
    assert!(verify(UNCHAINED, 223_344, UNCHAINED_223344, None).is_ok());
}

#[test]
fn another_round_or_signature_or_key_is_a_forgery() {
    let forged = Err(BeaconError::Forged);
    assert_eq!(verify(QUICKNET, 657_414, QUICKNET_657413, None), forged);
    assert_eq!(verify(QUICKNET, 657_413, QUICKNET_123, None), forged);
    assert_eq!(verify(MAINNET, 72_786, MAINNET_72785, Some(MAINNET_72784)), forged);
    assert_eq!(verify(MAINNET, 72_785, MAINNET_72784, Some(MAINNET_72784)), forged);
    assert_eq!(verify(MAINNET, 72_785, MAINNET_72785, Some(MAINNET_1)), forged);
    assert_eq!(verify(MAINNET, 72_785, MAINNET_72785, None), forged, "the chain is in it");
    assert_eq!(verify(UNCHAINED, 223_343, UNCHAINED_223344, None), forged);
    assert_eq!(verify(UNCHAINED, 72_785, MAINNET_72785, Some(MAINNET_72784)), forged);
}

#[test]
fn texts_that_are_not_points_are_refused() {
    let malformed = Err(BeaconError::Malformed);
    let changed = QUICKNET_123.replacen('7', "8", 1);
    for signature in ["", "xyz", &QUICKNET_123[2..], MAINNET_72785, &changed] {
        assert_eq!(verify(QUICKNET, 123, signature, None), malformed, "{signature}");
    }
    assert_eq!(verify(MAINNET, 123, QUICKNET_123, None), malformed);
    let broken = format!("{}00", &QUICKNET[2..]);
    for key in ["", "xyz", &QUICKNET[2..], &broken, &QUICKNET[..80]] {
        assert_eq!(verify(key, 123, QUICKNET_123, None), Err(BeaconError::PublicKey), "{key}");
    }
}

/// With the point at infinity as key and signature, the equation would hold for every round.
#[test]
fn the_point_at_infinity_is_refused_as_a_key() {
    let (short, long) = (format!("c0{}", "00".repeat(47)), format!("c0{}", "00".repeat(95)));
    assert_eq!(verify(&long, 1, &short, None), Err(BeaconError::PublicKey));
    assert_eq!(verify(&short, 1, &long, None), Err(BeaconError::PublicKey));
    assert_eq!(verify(QUICKNET, 123, &short, None), Err(BeaconError::Malformed));
}

#[test]
fn a_previous_signature_must_belong_to_the_chain() {
    let wrong = Err(BeaconError::Previous);
    assert_eq!(verify(QUICKNET, 123, QUICKNET_123, Some(QUICKNET_657413)), wrong);
    assert_eq!(verify(MAINNET, 72_785, MAINNET_72785, Some("zz")), wrong);
    assert_eq!(verify(MAINNET, 72_785, MAINNET_72785, Some(MAINNET_GENESIS)), wrong);
    assert_eq!(verify(MAINNET, 72_785, MAINNET_72785, Some("00")), wrong);
}
