//! Signed requests as others sign them, and everything that is refused.

mod refusals;
mod vectors;

use super::*;

const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const HOST: &str = "example.amazonaws.com";
const DATE: &str = "20150830T123600Z";
const NOW: i64 = 1_440_938_160;
const UNRESERVED: &str = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const FORM: &str = "application/x-www-form-urlencoded";
const FORM_IN_UTF8: &str = "application/x-www-form-urlencoded; charset=utf8";

type Headers<'a> = &'a [(&'a str, &'a str)];

/// One request, the further headers that are signed, and its signature.
struct Vector<'a> {
    method: &'a str,
    target: &'a str,
    headers: Headers<'a>,
    body: &'a str,
    signature: &'a str,
}

fn get<'a>(target: &'a str, headers: Headers<'a>, signature: &'a str) -> Vector<'a> {
    Vector { method: "GET", target, headers, body: "", signature }
}

fn post<'a>(
    target: &'a str,
    headers: Headers<'a>,
    body: &'a str,
    signature: &'a str,
) -> Vector<'a> {
    Vector { method: "POST", target, headers, body, signature }
}

fn key() -> SigV4Key {
    SigV4Key::new(SECRET.into(), None)
}

/// Checks what was signed at [`DATE`].
fn verify(
    vector: &Vector<'_>,
    authorization: &str,
    hosts: &[&str],
    key: &SigV4Key,
) -> Result<(), SigV4Error> {
    let (path, query) = vector.target.split_once('?').unwrap_or((vector.target, ""));
    let headers = [vector.headers, &[("x-amz-date", DATE)]].concat();
    let request = SignedRequest { method: vector.method, path, query, hosts, headers: &headers };
    Authorization::parse(authorization)?.verify(&request, vector.body.as_bytes(), key)
}

fn authorization(vector: &Vector<'_>, service: &str) -> String {
    let mut names: Vec<_> = vector.headers.iter().map(|(name, _)| *name).collect();
    names.extend(["host", "x-amz-date"]);
    names.sort_unstable();
    names.dedup();
    format!(
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/{service}/aws4_request, \
         SignedHeaders={}, Signature={}",
        names.join(";"),
        vector.signature
    )
}
