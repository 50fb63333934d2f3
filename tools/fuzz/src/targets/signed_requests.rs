//! Requests that are signed by AWS Signature Version 4: whatever is put into the header, the query or the body, nothing is
//! taken for signed but what was.

use vestibule_token::{Authorization, SigV4Key, SignedRequest};

use super::{Target, text};

pub(super) const TARGET: Target = Target {
    name: "signed-requests",
    run,
    words: &[
        "AWS4-HMAC-SHA256 ",
        "Credential=",
        "/20150830/us-east-1/execute-api/aws4_request",
        ", ",
        ",",
        "SignedHeaders=",
        "host;x-amz-date",
        ";",
        "Signature=",
        "=",
        "/",
        "%",
        "+",
        "&",
        "20150830T123600Z",
    ],
};

const NOW: i64 = 1_440_938_160;
const DATE: &str = "20150830T123600Z";
const QUERY: &str = "event_id=Sample";
/// Made by botocore 1.44, for a `GET` of `/api/num_active_tokens` at `vestibule.example`.
const SIGNED: &str = "AWS4-HMAC-SHA256 Credential=AKID/20150830/us-east-1/execute-api/aws4_request, \
                      SignedHeaders=host;x-amz-date, Signature=7e7a6316c974782e648bf2aa2cc6b80b1ea3fe739cbe574ee8db5894611c7cd3";

fn accepts(header: &str, query: &str, body: &[u8]) -> bool {
    let key = SigV4Key::new("a-secret-of-the-fuzzer".into(), None);
    let headers = [("x-amz-date", DATE)];
    let request = SignedRequest {
        method: "GET",
        path: "/api/num_active_tokens",
        query,
        hosts: &["vestibule.example"],
        headers: &headers,
    };
    let Ok(authorization) = Authorization::parse(header) else { return false };
    // Of another name there is no key.
    authorization.key_id() == "AKID"
        && authorization.check(&request, "us-east-1", NOW).is_ok()
        && authorization.verify(&request, body, &key).is_ok()
}

/// What a header says, however it is spaced and ordered.
fn parts(header: &str) -> Vec<String> {
    let squeezed: String = header.split_whitespace().collect();
    let squeezed = squeezed.strip_prefix("AWS4-HMAC-SHA256").unwrap_or_default();
    let parts = squeezed.split(',').filter(|part| !part.is_empty());
    let mut parts: Vec<_> = parts.map(str::to_owned).collect();
    parts.sort();
    parts
}

fn run(bytes: &[u8]) {
    assert!(accepts(SIGNED, QUERY, b""));
    let given = text(bytes);
    let says_the_same = |header: &str| parts(header) == parts(SIGNED);
    assert!(says_the_same(&given) || !accepts(&given, QUERY, b""), "nobody has signed this");
    let is_the_same = |query: &str| {
        let pairs = |query: &str| -> Vec<_> {
            form_urlencoded::parse(query.as_bytes()).into_owned().collect()
        };
        // An empty pair says nothing.
        pairs(query) == pairs(QUERY)
    };
    assert!(is_the_same(&given) || !accepts(SIGNED, &given, b""), "another query");
    assert!(bytes.is_empty() || !accepts(SIGNED, QUERY, bytes), "another body");
    let Some(([at], put)) = bytes.split_first_chunk::<1>() else { return };
    // A piece of the header is replaced by what was given.
    let mut changed = SIGNED.as_bytes().to_vec();
    let from = usize::from(*at) % changed.len();
    let to = (from + put.len()).min(changed.len());
    changed.splice(from..to, put.iter().copied());
    let changed = text(&changed);
    assert!(says_the_same(&changed) || !accepts(&changed, QUERY, b""), "{changed}");
}
