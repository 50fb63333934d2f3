//! What `verify` accepts and refuses. Forged tokens are made here, with another library.

use aws_lc_rs::{
    rand::SystemRandom,
    signature::{RSA_PKCS1_SHA256, RsaKeyPair},
};
use jsonwebtoken::{EncodingKey, Header, encode};

use super::*;
use crate::{
    KeyRecord, SigningKey, announce, succeed,
    test_support::{claims, key, other_key, room, secret},
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
    let modulus = URL_SAFE_NO_PAD.decode(&key().public_jwk().n).unwrap();
    for public in [jwk.as_bytes(), key().public_jwk().n.as_bytes(), &modulus] {
        let forged = encode(&header, &claims(), &EncodingKey::from_secret(public)).unwrap();
        assert_eq!(check(&forged), Err(VerifyError::Algorithm));
        let (_, rest) = forged.split_once('.').unwrap();
        let disguised = format!("{}.{rest}", signed(&claims()).split_once('.').unwrap().0);
        assert_eq!(check(&disguised), Err(VerifyError::Signature));
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
    let impostor = SigningKey::from_pkcs8(key().kid().to_owned(), pkcs8.as_ref()).unwrap();
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
