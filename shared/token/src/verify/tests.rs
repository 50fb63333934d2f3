//! What `verify` accepts and refuses. Forged tokens are made here, with another library.

use aws_lc_rs::{
    rand::SystemRandom,
    signature::{RSA_PKCS1_SHA256, RsaKeyPair},
};
use jsonwebtoken::{EncodingKey, Header, encode};

use super::*;
use crate::{
    Jwk, KeyRecord, SigningKey, announce, succeed,
    test_support::{claims, curve_key, key, other_key, room, secret},
};

fn ring() -> KeyRing {
    let record = KeyRecord::seal(&secret(), key(), 1_000).unwrap();
    KeyRing::open(&secret(), &[record]).unwrap()
}

fn check(token: &str) -> Result<Claims, VerifyError> {
    verify(token, &ring(), &room("sale"), claims().iat)
}

fn signed(claims: &Claims) -> String {
    key().sign(claims).unwrap()
}

/// A token with this header, our claims, and the signature of a genuine token.
fn with_header(header: &str) -> String {
    let token = signed(&claims());
    let (_, rest) = token.split_once('.').unwrap();
    format!("{}.{rest}", URL_SAFE_NO_PAD.encode(header))
}

/// A token with this header and these claims, signed by our key.
fn signed_text(header: &str, claims: &str) -> String {
    let pair = RsaKeyPair::from_pkcs8(key().to_pkcs8().unwrap().as_ref()).unwrap();
    let input = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part)).join(".");
    let mut signature = [0; 256];
    pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), input.as_bytes(), &mut signature).unwrap();
    format!("{input}.{}", URL_SAFE_NO_PAD.encode(signature))
}

#[test]
fn our_token_is_accepted_to_the_second() {
    let token = signed(&claims());
    assert_eq!(check(&token), Ok(claims()));
    let at = |now| verify(&token, &ring(), &room("sale"), now);
    assert_eq!(at(claims().nbf - 1), Err(VerifyError::NotYetValid));
    assert_eq!(at(claims().exp - 1), Ok(claims()));
    assert_eq!(at(claims().exp), Err(VerifyError::Expired));
}

#[test]
fn another_room_is_refused() {
    let token = signed(&claims());
    let refused = verify(&token, &ring(), &room("sale2"), claims().iat);
    assert_eq!(refused, Err(VerifyError::Audience));
}

#[test]
fn id_and_refresh_tokens_open_nothing() {
    for token_use in [TokenUse::Id, TokenUse::Refresh] {
        let token = signed(&Claims { token_use, ..claims() });
        assert_eq!(check(&token), Err(VerifyError::Usage));
    }
}

#[test]
fn no_algorithm_but_ours_is_accepted() {
    let kid = key().kid();
    for alg in ["none", "None", "HS256", "RS384", "RS512", "PS256", "ES256"] {
        let forged = with_header(&format!(r#"{{"alg":"{alg}","kid":"{kid}","typ":"JWT"}}"#));
        assert_eq!(check(&forged), Err(VerifyError::Algorithm), "{alg}");
        let unsigned = &forged[..=forged.rfind('.').unwrap()];
        assert_eq!(check(unsigned), Err(VerifyError::Algorithm), "{alg}, unsigned");
    }
}

#[test]
fn the_public_key_is_no_hmac_secret() {
    let mut header = Header::new(Algorithm::HS256);
    header.kid = Some(key().kid().to_owned());
    let jwk = serde_json::to_string(key().public_jwk()).unwrap();
    let Jwk::Rsa { n, .. } = key().public_jwk() else { panic!("an RSA key") };
    let modulus = URL_SAFE_NO_PAD.decode(n).unwrap();
    for public in [jwk.as_bytes(), n.as_bytes(), &modulus] {
        let forged = encode(&header, &claims(), &EncodingKey::from_secret(public)).unwrap();
        assert_eq!(check(&forged), Err(VerifyError::Algorithm));
        let (_, rest) = forged.split_once('.').unwrap();
        let disguised = format!("{}.{rest}", signed(&claims()).split_once('.').unwrap().0);
        assert_eq!(check(&disguised), Err(VerifyError::Signature));
    }
}

/// A ring of both kinds: an RSA key, and one on a curve.
fn both() -> KeyRing {
    let records = [key(), curve_key()].map(|key| KeyRecord::seal(&secret(), key, 1_000).unwrap());
    KeyRing::open(&secret(), &records).unwrap()
}

fn check_both(token: &str) -> Result<Claims, VerifyError> {
    verify(token, &both(), &room("sale"), claims().iat)
}

#[test]
fn keys_of_both_kinds_are_accepted() {
    for key in [key(), curve_key()] {
        assert_eq!(check_both(&key.sign(&claims()).unwrap()), Ok(claims()));
    }
}

/// What a token says of its algorithm or its key chooses no other check than the key's own.
#[test]
fn a_key_verifies_its_own_algorithm_alone() {
    let headers = |algorithm: &str, key: &SigningKey| {
        let header = format!(r#"{{"alg":"{algorithm}","kid":"{}","typ":"JWT"}}"#, key.kid());
        URL_SAFE_NO_PAD.encode(header)
    };
    for (signer, named) in [(key(), curve_key()), (curve_key(), key())] {
        let token = signer.sign(&claims()).unwrap();
        let (_, rest) = token.split_once('.').unwrap();
        for algorithm in ["RS256", "ES256"] {
            let disguised = format!("{}.{rest}", headers(algorithm, named));
            let fits = algorithm == named.public_jwk().algorithm().name();
            let refusal = if fits { VerifyError::Signature } else { VerifyError::Algorithm };
            assert_eq!(check_both(&disguised), Err(refusal), "{algorithm}");
        }
        for algorithm in ["none", "HS256", "ES384", "ES512", "EdDSA", "PS256", "es256"] {
            for signature in [rest, rest.split_once('.').unwrap().0] {
                let disguised = format!("{}.{signature}", headers(algorithm, signer));
                let refused = check_both(&disguised);
                assert_eq!(refused, Err(VerifyError::Algorithm), "{algorithm}");
            }
        }
        let other =
            if signer.public_jwk().algorithm() == KeyAlgorithm::Rs256 { "ES256" } else { "RS256" };
        let confused = format!("{}.{rest}", headers(other, signer));
        assert_eq!(check_both(&confused), Err(VerifyError::Algorithm));
    }
}

#[test]
fn a_point_is_no_hmac_secret() {
    let Jwk::Ec { x, y, .. } = curve_key().public_jwk() else { panic!("a key on a curve") };
    let point = [x, y].map(|coordinate| URL_SAFE_NO_PAD.decode(coordinate).unwrap()).concat();
    let jwk = serde_json::to_string(curve_key().public_jwk()).unwrap();
    let mut header = Header::new(Algorithm::HS256);
    header.kid = Some(curve_key().kid().to_owned());
    for public in [jwk.as_bytes(), x.as_bytes(), &point, &[&[4], point.as_slice()].concat()] {
        let forged = encode(&header, &claims(), &EncodingKey::from_secret(public)).unwrap();
        assert_eq!(check_both(&forged), Err(VerifyError::Algorithm));
        let honest = curve_key().sign(&claims()).unwrap();
        let (_, rest) = forged.split_once('.').unwrap();
        let disguised = format!("{}.{rest}", honest.split_once('.').unwrap().0);
        assert_eq!(check_both(&disguised), Err(VerifyError::Signature));
    }
}

/// Signatures that some libraries have taken for anything: all zeros, and none at all.
#[test]
fn an_empty_signature_on_a_curve_is_refused() {
    let token = curve_key().sign(&claims()).unwrap();
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let cut = &signature[..signature.len() - 2];
    for forged in [&URL_SAFE_NO_PAD.encode([0; 64]), &URL_SAFE_NO_PAD.encode([0xff; 64]), "", cut] {
        assert!(check_both(&format!("{signed}.{forged}")).is_err(), "{forged}");
    }
}

#[test]
fn unknown_and_nameless_keys_are_refused() {
    let stranger = other_key().sign(&claims()).unwrap();
    assert_eq!(check(&stranger), Err(VerifyError::UnknownKey));
    let nameless = with_header(r#"{"alg":"RS256","typ":"JWT"}"#);
    assert_eq!(check(&nameless), Err(VerifyError::UnknownKey));
}

#[test]
fn a_stranger_under_our_name_is_refused() {
    let pkcs8 = other_key().to_pkcs8().unwrap();
    let kid = key().kid().to_owned();
    let impostor = SigningKey::from_pkcs8(kid, KeyAlgorithm::Rs256, pkcs8.as_ref()).unwrap();
    assert_eq!(check(&impostor.sign(&claims()).unwrap()), Err(VerifyError::Signature));
}

#[test]
fn changed_claims_are_refused() {
    let token = signed(&claims());
    let other = signed(&Claims { queue_position: 1, ..claims() });
    let parts: Vec<&str> = token.split('.').collect();
    let others: Vec<&str> = other.split('.').collect();
    let forged = [parts[0], others[1], parts[2]].join(".");
    assert_eq!(check(&forged), Err(VerifyError::Signature));
}

#[test]
fn a_true_signature_is_not_enough() {
    let header = format!(r#"{{"alg":"RS256","kid":"{}","typ":"JWT"}}"#, key().kid());
    let claims_text = serde_json::to_string(&claims()).unwrap();
    assert_eq!(check(&signed_text(&header, &claims_text)), Ok(claims()));

    let odd_claims = ["{}", "", "null", &claims_text.replace("4711", "\"4711\"")];
    for odd in odd_claims {
        assert_eq!(check(&signed_text(&header, odd)), Err(VerifyError::Malformed), "{odd}");
    }
    for alg in ["none", "RS512"] {
        let odd = signed_text(&header.replace("RS256", alg), &claims_text);
        assert_eq!(check(&odd), Err(VerifyError::Algorithm), "{alg}");
    }
}

#[test]
fn a_truncated_token_is_refused_wherever_it_is_cut() {
    let token = signed(&claims());
    for cut in 0..token.len() {
        assert!(check(&token[..cut]).is_err(), "cut at {cut}");
    }
    assert!(check(&format!("{token}.")).is_err());
    assert!(check(&format!("{token}A")).is_err());
}

#[test]
fn tokens_of_a_retired_key_count_until_it_is_past_its_time() {
    let token = signed(&claims());
    let old = KeyRecord::seal(&secret(), key(), 1_000).unwrap();
    let new = KeyRecord::seal(&secret(), other_key(), claims().iat).unwrap();
    let open = |validity| {
        let now = claims().iat;
        let announced = announce(std::slice::from_ref(&old), new.clone(), now, now);
        KeyRing::open(&secret(), &succeed(&announced, now, validity).unwrap()).unwrap()
    };
    let later = claims().iat + 60;
    assert!(verify(&token, &open(3_600), &room("sale"), later).is_ok());
    let ended = verify(&token, &open(0), &room("sale"), later);
    assert_eq!(ended, Err(VerifyError::UnknownKey));
}
