//! Verifies our signatures with the `openssl` command, which shares no code with ours. The public
//! key is built from the JWK. Without the command the test prints a warning, past the capture of
//! test output, and checks nothing.

use std::{fs, io::Write, path::Path, process::Command};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::{
    Jwk,
    test_support::{claims, key, other_key},
};

/// DER around a 2048-bit modulus and the exponent 65537, up to the modulus: an X.509
/// `SubjectPublicKeyInfo` with the algorithm `rsaEncryption`.
const SPKI_HEAD: [u8; 33] = [
    0x30, 0x82, 0x01, 0x22, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01,
    0x01, 0x05, 0x00, 0x03, 0x82, 0x01, 0x0f, 0x00, 0x30, 0x82, 0x01, 0x0a, 0x02, 0x82, 0x01, 0x01,
    0x00,
];

#[test]
fn openssl_accepts_our_tokens_by_the_jwk() {
    if Command::new("openssl").arg("version").output().is_err() {
        let warning = "WARNING: no `openssl` command: our tokens were NOT checked with it";
        writeln!(std::io::stderr(), "{warning}").unwrap();
        return;
    }
    let token = key().sign(&claims()).unwrap();
    assert!(accepts(key().public_jwk(), &token));
    assert!(!accepts(other_key().public_jwk(), &token), "openssl accepts anything");
}

fn accepts(jwk: &Jwk, token: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let (input, signature) = token.rsplit_once('.').unwrap();
    fs::write(file("input"), input).unwrap();
    fs::write(file("signature"), URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
    fs::write(file("public.pem"), pem(jwk)).unwrap();
    run_openssl(&file("public.pem"), &file("signature"), &file("input"))
}

fn run_openssl(public: &Path, signature: &Path, input: &Path) -> bool {
    let output = Command::new("openssl")
        .args(["dgst", "-sha256", "-verify"])
        .arg(public)
        .arg("-signature")
        .arg(signature)
        .arg(input)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.starts_with("Verif"), "openssl could not even try: {output:?}");
    output.status.success()
}

fn pem(jwk: &Jwk) -> String {
    let Jwk::Rsa { n, e, .. } = jwk else { panic!("an RSA key") };
    let [modulus, exponent] = [n, e].map(|number| URL_SAFE_NO_PAD.decode(number).unwrap());
    let exponent = [&[2, u8::try_from(exponent.len()).unwrap()], exponent.as_slice()].concat();
    let der = [&SPKI_HEAD, modulus.as_slice(), exponent.as_slice()].concat();
    let body = base64::engine::general_purpose::STANDARD.encode(der);
    format!("-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n")
}
