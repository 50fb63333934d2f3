//! AWS's published test vectors, as far as they are about requests that a service can receive: those of its
//! `aws-sig-v4-test-suite`. Left out are values over several lines, paths with dots that an HTTP client resolves before
//! it sends them, and characters that no client sends unencoded. Then everything that is refused.

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

#[test]
fn the_published_vectors_hold() {
    let unreserved = format!("/{UNRESERVED}");
    let unreserved_query = format!("/?{UNRESERVED}={UNRESERVED}");
    let vectors = [
        get("/", &[], "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        get("", &[], "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        get(
            "/?Param1=value1",
            &[],
            "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb",
        ),
        get(
            "/?Param2=value2&Param1=value1",
            &[],
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
        ),
        get(
            "/?Param1=value2&Param1=value1",
            &[],
            "5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694",
        ),
        get(
            "/?Param1=value2&Param1=Value1",
            &[],
            "eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1",
        ),
        get(
            &unreserved_query,
            &[],
            "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197",
        ),
        get(
            "/?%E1%88%B4=bar",
            &[],
            "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04",
        ),
        get(&unreserved, &[], "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"),
        get(
            "/",
            &[("my-header1", " value1"), ("my-header2", " \"a   b   c\"")],
            "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
        ),
        get(
            "/",
            &[("my-header1", "value2"), ("my-header1", "value2"), ("my-header1", "value1")],
            "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
        ),
        get(
            "/",
            &[
                ("my-header1", "value4"),
                ("my-header1", "value1"),
                ("my-header1", "value3"),
                ("my-header1", "value2"),
            ],
            "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01",
        ),
        post("/", &[], "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        post(
            "/?Param1=value1",
            &[],
            "",
            "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11",
        ),
        post(
            "/",
            &[("my-header1", "value1")],
            "",
            "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
        ),
        post(
            "/",
            &[("my-header1", "VALUE1")],
            "",
            "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d",
        ),
        post(
            "/",
            &[("content-type", FORM)],
            "Param1=value1",
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
        ),
        post(
            "/",
            &[("content-type", FORM_IN_UTF8)],
            "Param1=value1",
            "1a72ec8f64bd914b0e42e42607c7fbce7fb2c7465f63e3092b3b0d39fa77a6fe",
        ),
    ];
    for vector in &vectors {
        let authorization = authorization(vector, "service");
        let Vector { method, target, headers, .. } = vector;
        let checked = verify(vector, &authorization, &[HOST], &key());
        assert_eq!(checked, Ok(()), "{method} {target} {headers:?}");
        let wrong = SigV4Key::new("another secret".into(), None);
        let refused = verify(vector, &authorization, &[HOST], &wrong);
        assert_eq!(refused, Err(SigV4Error::Signature), "{method} {target}");
    }
}

/// Every step of the published example of `get-vanilla`.
#[test]
fn each_step_of_the_first_vector_is_as_published() {
    let vector = get("/", &[], "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
    let text = authorization(&vector, "service");
    let authorization = Authorization::parse(&text).unwrap();
    let headers = [("x-amz-date", DATE)];
    let request =
        SignedRequest { method: "GET", path: "/", query: "", hosts: &[HOST], headers: &headers };
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let canonical = authorization.canonical(&request, "", HOST, empty);
    assert_eq!(
        canonical,
        format!("GET\n/\n\nhost:{HOST}\nx-amz-date:{DATE}\n\nhost;x-amz-date\n{empty}")
    );
    let hash = "bb579772317eb040ac9ed261061d46c1f17a8133879d6129b6e1c25292927e63";
    assert_eq!(
        authorization.string_to_sign(&request, &canonical),
        format!("AWS4-HMAC-SHA256\n{DATE}\n20150830/us-east-1/service/aws4_request\n{hash}")
    );
    assert_eq!(authorization.key_id(), "AKIDEXAMPLE");
}

/// The suite's `post-sts-header-before`: a session token that is signed.
#[test]
fn a_session_token_must_be_that_of_the_key() {
    let token = "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIe\
                 oIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VS\
                 XDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8f\
                 POLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";
    let sent = [("x-amz-security-token", token)];
    let vector =
        post("/", &sent, "", "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead");
    let text = authorization(&vector, "service");
    let with = |token: Option<&str>| SigV4Key::new(SECRET.into(), token.map(Into::into));
    assert_eq!(verify(&vector, &text, &[HOST], &with(Some(token))), Ok(()));
    for wrong in [None, Some("another")] {
        let refused = verify(&vector, &text, &[HOST], &with(wrong));
        assert_eq!(refused, Err(SigV4Error::UnknownKey));
    }
    let without = get("/", &[], "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
    let text = authorization(&without, "service");
    let refused = verify(&without, &text, &[HOST], &with(Some(token)));
    assert_eq!(refused, Err(SigV4Error::UnknownKey));
}

#[test]
fn the_host_may_be_what_a_proxy_says() {
    let vector = get("/", &[], "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
    let text = authorization(&vector, "service");
    assert_eq!(verify(&vector, &text, &["10.0.0.1:8081", HOST], &key()), Ok(()));
    for other in ["10.0.0.1:8081", "example.amazonaws.com:8443"] {
        assert_eq!(verify(&vector, &text, &[other], &key()), Err(SigV4Error::Signature));
    }
}

#[test]
fn nothing_that_was_signed_can_be_changed() {
    let headers: Headers<'_> = &[("content-type", "application/x-www-form-urlencoded")];
    let signature = "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a";
    let signed = |method, target, headers, body| {
        let vector = Vector { method, target, headers, body, signature };
        verify(&vector, &authorization(&vector, "service"), &[HOST], &key())
    };
    assert_eq!(signed("POST", "/", headers, "Param1=value1"), Ok(()));
    for (method, target, body) in [
        ("GET", "/", "Param1=value1"),
        ("POST", "/x", "Param1=value1"),
        ("POST", "/?x", "Param1=value1"),
        ("POST", "/", "Param1=value2"),
        ("POST", "/", ""),
    ] {
        let refused = signed(method, target, headers, body);
        assert_eq!(refused, Err(SigV4Error::Signature), "{method} {target} {body}");
    }
    let other: Headers<'_> = &[("content-type", "text/plain")];
    assert_eq!(signed("POST", "/", other, "Param1=value1"), Err(SigV4Error::Signature));
}

#[test]
fn what_is_said_of_the_body_must_be_true_whether_it_is_signed_or_not() {
    let check = |said: &str| {
        let headers = [("x-amz-content-sha256", said), ("x-amz-date", DATE)];
        let request = SignedRequest {
            method: "POST",
            path: "/",
            query: "",
            hosts: &[HOST],
            headers: &headers,
        };
        let vector =
            post("/", &[], "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
        let text = authorization(&vector, "service");
        Authorization::parse(&text).unwrap().verify(&request, b"", &key())
    };
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(check(empty), Ok(()));
    for wrong in
        ["UNSIGNED-PAYLOAD", "", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD", &empty.to_uppercase()]
    {
        assert_eq!(check(wrong), Err(SigV4Error::Payload), "{wrong}");
    }
}

const SIGNATURE: &str = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31";

#[test]
fn headers_are_read_however_they_are_spaced() {
    let credential = "Credential=AKID/EXAMPLE/20150830/us-east-1/execute-api/aws4_request";
    for text in [
        format!(
            "AWS4-HMAC-SHA256 {credential}, SignedHeaders=host;x-amz-date, Signature={SIGNATURE}"
        ),
        format!(
            "AWS4-HMAC-SHA256 {credential},SignedHeaders=host;x-amz-date,Signature={SIGNATURE}"
        ),
        format!(
            "AWS4-HMAC-SHA256   Signature={SIGNATURE} ,  SignedHeaders=host;x-amz-date,{credential} "
        ),
    ] {
        let read = Authorization::parse(&text).unwrap();
        assert!(Authorization::is_meant(&text));
        assert_eq!(read.key_id(), "AKID/EXAMPLE");
        assert_eq!(
            (read.date, read.region, read.service),
            ("20150830", "us-east-1", "execute-api")
        );
        assert_eq!(read.headers().collect::<Vec<_>>(), ["host", "x-amz-date"]);
        assert_eq!(hex::encode(read.signature), SIGNATURE);
    }
}

#[test]
fn headers_that_are_not_as_they_must_be_are_refused() {
    let credential = "Credential=AKID/20150830/us-east-1/execute-api/aws4_request";
    let signed = "SignedHeaders=host;x-amz-date";
    let signature = format!("Signature={SIGNATURE}");
    for parts in [
        vec![],
        vec![signed, &signature],
        vec![credential, &signature],
        vec![credential, signed],
        vec![credential, signed, &signature, &signature],
        vec![credential, signed, &signature, "More=1"],
        vec!["Credential=AKID/20150830/execute-api/aws4_request", signed, &signature],
        vec!["Credential=/20150830/us-east-1/execute-api/aws4_request", signed, &signature],
        vec!["Credential=AKID/20150830/us-east-1/execute-api/aws5_request", signed, &signature],
        vec![credential, "SignedHeaders=x-amz-date;host", &signature],
        vec![credential, "SignedHeaders=host;host;x-amz-date", &signature],
        vec![credential, "SignedHeaders=Host;x-amz-date", &signature],
        vec![credential, "SignedHeaders=", &signature],
        vec![credential, signed, "Signature=abc"],
        vec![credential, signed, "Signature="],
    ] {
        let text = format!("AWS4-HMAC-SHA256 {}", parts.join(", "));
        assert!(Authorization::parse(&text).is_err(), "{text}");
    }
    let upper =
        format!("AWS4-HMAC-SHA256 {credential}, {signed}, Signature={}", SIGNATURE.to_uppercase());
    assert_eq!(Authorization::parse(&upper), Err(SigV4Error::Signature));
    for other in
        ["AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256Credential=x", "AWS4-ECDSA-P256-SHA256 x", ""]
    {
        assert!(Authorization::parse(other).is_err(), "{other}");
    }
}

fn check(scope: &str, signed: &str, headers: Headers<'_>, now: i64) -> Result<(), SigV4Error> {
    let text = format!(
        "AWS4-HMAC-SHA256 Credential=AKID/{scope}/aws4_request, SignedHeaders={signed}, Signature={SIGNATURE}"
    );
    let request = SignedRequest { method: "GET", path: "/", query: "", hosts: &[HOST], headers };
    Authorization::parse(&text)?.check(&request, "us-east-1", now)
}

#[test]
fn a_signature_is_for_one_service_region_and_day() {
    let headers: Headers<'_> = &[("x-amz-date", DATE)];
    let signed = "host;x-amz-date";
    assert_eq!(check("20150830/us-east-1/execute-api", signed, headers, NOW), Ok(()));
    for scope in [
        "20150830/us-east-1/s3",
        "20150830/eu-west-1/execute-api",
        "20150831/us-east-1/execute-api",
        "2015083/us-east-1/execute-api",
    ] {
        let refused = check(scope, signed, headers, NOW);
        assert!(matches!(refused, Err(SigV4Error::Scope(_))), "{scope}: {refused:?}");
    }
}

#[test]
fn a_signature_holds_for_five_minutes_either_way() {
    let at = |now| {
        check("20150830/us-east-1/execute-api", "host;x-amz-date", &[("x-amz-date", DATE)], now)
    };
    for now in [NOW - 300, NOW, NOW + 300] {
        assert_eq!(at(now), Ok(()), "{now}");
    }
    let late = at(NOW + 301).unwrap_err().to_string();
    assert_eq!(
        late,
        "Signature expired: 20150830T123600Z is now earlier than 20150830T123601Z (20150830T124101Z - 5 min.)"
    );
    let early = at(NOW - 301).unwrap_err().to_string();
    assert!(
        early.starts_with("Signature not yet current: 20150830T123600Z is still later"),
        "{early}"
    );
}

#[test]
fn what_must_be_signed_is() {
    let date = ("x-amz-date", DATE);
    let token = ("x-amz-security-token", "token");
    let scope = "20150830/us-east-1/execute-api";
    let all = "host;x-amz-date;x-amz-security-token";
    assert_eq!(check(scope, all, &[date, token], NOW), Ok(()));
    let unsigned: [(&str, Headers<'_>); 6] = [
        ("x-amz-date", &[date]),
        ("host", &[date]),
        ("host;x-amz-date", &[date, token]),
        ("host;x-amz-date", &[]),
        ("host;x-amz-date", &[("x-amz-date", "now")]),
        ("content-type;host;x-amz-date", &[date]),
    ];
    for (signed, headers) in unsigned {
        let refused = check(scope, signed, headers, NOW);
        assert!(matches!(refused, Err(SigV4Error::Incomplete(_))), "{signed}: {refused:?}");
    }
}
