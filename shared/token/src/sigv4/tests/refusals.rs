//! What is not taken for signed, or not any more, or not by whoever says so.

use super::*;

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
