//! The proof of RFC 9449 and its thumbprint; and proofs with each algorithm, whole and spoilt.

use aws_lc_rs::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair},
};
use serde_json::{Value, json};

use super::*;

/// RFC 9449, figure 2, and the thumbprint of its key in figure 8.
const PROOF_OF_THE_RFC: &str = "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6Ik\
    VDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCR\
    nMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JE\
    QSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIj\
    oiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwia\
    WF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg\
    4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg";
const THUMBPRINT_OF_THE_RFC: &str = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I";

const NOW: u64 = 1_763_690_000;
const URL: &str = "https://wait.example/v1/rooms/sale/claim";

fn verify(proof: &str) -> Result<Proof, ProofError> {
    verify_proof(proof, ProvenRequest { method: "POST", url: URL, now: NOW })
}

fn encode(part: &Value) -> String {
    URL_SAFE_NO_PAD.encode(part.to_string())
}

fn claims() -> Value {
    json!({ "htm": "POST", "htu": URL, "iat": NOW, "jti": "a-name" })
}

/// A key of P-256, and its public form.
fn es256() -> (EcdsaKeyPair, Value) {
    let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
    let point = &key.public_key().as_ref()[1..];
    let [x, y] = [&point[..32], &point[32..]].map(|part| URL_SAFE_NO_PAD.encode(part));
    (key, json!({ "kty": "EC", "crv": "P-256", "x": x, "y": y }))
}

fn signed(key: &EcdsaKeyPair, header: &Value, claims: &Value) -> String {
    let input = format!("{}.{}", encode(header), encode(claims));
    let signature = key.sign(&SystemRandom::new(), input.as_bytes()).unwrap();
    format!("{input}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn proof_with(change: impl FnOnce(&mut Value, &mut Value)) -> String {
    let (key, jwk) = es256();
    let mut header = json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": jwk });
    let mut claims = claims();
    change(&mut header, &mut claims);
    signed(&key, &header, &claims)
}

#[test]
fn the_proof_of_the_rfc_is_good_and_its_thumbprint_is_that_of_the_rfc() {
    let url = "https://server.example.com/token";
    let request = ProvenRequest { method: "POST", url, now: 1_562_262_616 };
    let proof = verify_proof(PROOF_OF_THE_RFC, request).unwrap();
    assert_eq!(proof.key.to_string(), THUMBPRINT_OF_THE_RFC);
}

/// RFC 7638, section 3.1.
#[test]
fn the_thumbprint_of_an_rsa_key_is_that_of_the_rfc() {
    let n = "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw";
    let jwk = json!({ "kty": "RSA", "n": n, "e": "AQAB", "alg": "RS256", "kid": "2011-04-29" });
    let key: Jwk = serde_json::from_value(jwk).unwrap();
    let thumbprint = Thumbprint::of(&key).unwrap();
    assert_eq!(thumbprint.to_string(), "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
}

#[test]
fn each_algorithm_proves_its_key() {
    let es256 = verify(&proof_with(|_, _| {})).unwrap();

    let key = Ed25519KeyPair::generate().unwrap();
    let x = URL_SAFE_NO_PAD.encode(key.public_key());
    let jwk = json!({ "kty": "OKP", "crv": "Ed25519", "x": x });
    let header = json!({ "typ": "dpop+jwt", "alg": "EdDSA", "jwk": jwk });
    let input = format!("{}.{}", encode(&header), encode(&claims()));
    let signature = URL_SAFE_NO_PAD.encode(key.sign(input.as_bytes()));
    let ed25519 = verify(&format!("{input}.{signature}")).unwrap();

    let key = crate::test_support::key();
    let jwk = serde_json::to_value(key.public_jwk()).unwrap();
    let jwk = json!({ "kty": "RSA", "n": jwk["n"], "e": jwk["e"] });
    let header = json!({ "typ": "dpop+jwt", "alg": "RS256", "jwk": jwk });
    let input = format!("{}.{}", encode(&header), encode(&claims()));
    let rs256 = verify(&key.sign_text(input).unwrap()).unwrap();
    assert!(es256.key != ed25519.key && ed25519.key != rs256.key);
}

#[test]
fn a_proof_is_named_by_its_key_and_its_jti() {
    let (key, jwk) = es256();
    let header = json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": jwk });
    let other = json!({ "htm": "POST", "htu": URL, "iat": NOW, "jti": "other" });
    let name = |proof: String| verify(&proof).unwrap().name;
    let first = name(signed(&key, &header, &claims()));
    assert_eq!(first, name(signed(&key, &header, &claims())), "signed anew");
    assert!(first != name(signed(&key, &header, &other)) && first != name(proof_with(|_, _| {})));
}

#[test]
fn what_is_wrong_with_a_proof_is_told() {
    type Change = fn(&mut Value, &mut Value);
    let wrong: [(Change, ProofError); 14] = [
        (|header, _| header["typ"] = json!("JWT"), ProofError::Type),
        (|header, _| header["alg"] = json!("HS256"), ProofError::Algorithm),
        (|header, _| header["alg"] = json!("none"), ProofError::Algorithm),
        (|header, _| header["alg"] = json!("RS256"), ProofError::Key),
        (|header, _| header["jwk"]["d"] = json!("AQ"), ProofError::Key),
        (|header, _| header["jwk"] = json!({ "kty": "oct", "k": "AQ" }), ProofError::Key),
        (|header, _| header["jwk"] = es256().1, ProofError::Signature),
        (|_, claims| claims["htm"] = json!("GET"), ProofError::Method),
        (|_, claims| claims["htu"] = json!("https://wait.example/"), ProofError::Address),
        (|_, claims| claims["iat"] = json!(NOW - PROOF_SECONDS - 1), ProofError::Time),
        (|_, claims| claims["iat"] = json!(NOW + PROOF_SECONDS + 1), ProofError::Time),
        (|_, claims| claims["jti"] = json!(""), ProofError::Malformed),
        (|_, claims| claims["jti"] = json!(7), ProofError::Malformed),
        (|_, claims| claims["jti"] = json!("x".repeat(LONGEST)), ProofError::Malformed),
    ];
    for (nth, (change, expected)) in wrong.into_iter().enumerate() {
        assert_eq!(verify(&proof_with(change)), Err(expected), "{nth}");
    }
    for text in ["", "a", "a.b.c", "é"] {
        assert_eq!(verify(text), Err(ProofError::Malformed), "{text}");
    }
    for edge in [NOW - PROOF_SECONDS, NOW + PROOF_SECONDS] {
        assert!(verify(&proof_with(|_, claims| claims["iat"] = json!(edge))).is_ok());
    }
}

/// It takes no key to send one.
#[test]
fn a_key_that_takes_long_to_look_at_is_not_looked_at() {
    let with = |bits: usize, e: &str| {
        let n = URL_SAFE_NO_PAD.encode(vec![0xff; bits / 8]);
        let jwk = json!({ "kty": "RSA", "n": n, "e": e });
        verify(&proof_with(|header, _| {
            header["alg"] = json!("RS256");
            header["jwk"] = jwk;
        }))
    };
    assert_eq!(with(4_096, "AQAB"), Err(ProofError::Signature));
    for (bits, e) in [(4_104, "AQAB"), (8_192, "AQAB"), (2_048, "Af____8")] {
        assert_eq!(with(bits, e), Err(ProofError::Key), "{bits} {e}");
    }
}

#[test]
fn a_time_may_have_a_fraction_and_an_extension_must_be_known() {
    let at = |iat: Value| verify(&proof_with(|_, claims| claims["iat"] = iat));
    for good in [json!(1_763_690_000.25), json!(1_763_690_000.0), json!(1_763_689_940.5)] {
        assert!(at(good.clone()).is_ok(), "{good}");
    }
    assert_eq!(at(json!(1_763_690_061.5)), Err(ProofError::Time));
    assert_eq!(at(json!("now")), Err(ProofError::Malformed));
    let critical = proof_with(|header, _| header["crit"] = json!(["exp2"]));
    assert_eq!(verify(&critical), Err(ProofError::Extension));
}
