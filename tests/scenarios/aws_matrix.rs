//! The AWS-style public calls: every row of the status matrix, to the letter of the bodies that
//! its clients compare. Positions and tokens that expire are in `aws_expiry`, the private calls in
//! `aws_private`.

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use vestibule_tests::{Aws, Deployment, Reply};

const INVALID_EVENT: &str = "Invalid event ID";
const INVALID_EVENT_OR_REQUEST: &str = "Invalid event or request ID";
const INVALID_REQUEST: &str = "Invalid request ID";
const NOT_SERVED: &str = "Request ID not being served yet";
const SESSION_ENDED: &str = "Token corresponding to request id has expired";
/// The right shape, and never given out.
const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";
const MALFORMED: [&str; 4] = ["", "nonsense", "00000000-0000-4000-8000-00000000000", "%3Cb%3E"];

/// An error body, exactly.
pub(crate) fn expect_error(reply: &Reply, status: u16, error: &str) -> Result<()> {
    ensure!(reply.status == status, "expected {status} {error}, got {}", told(reply));
    ensure!(reply.body == json!({ "error": error }), "expected {error}, got {}", told(reply));
    expect_headers(reply)
}

/// A gateway's error: `{"message": …}`.
pub(crate) fn expect_message(reply: &Reply, status: u16) -> Result<String> {
    ensure!(reply.status == status, "expected {status}, got {}", told(reply));
    expect_headers(reply)?;
    reply.text_of("message")
}

fn expect_headers(reply: &Reply) -> Result<()> {
    ensure!(reply.header("content-type") == "application/json", "{:?}", reply.headers);
    ensure!(reply.header("access-control-allow-origin") == "*", "{:?}", reply.headers);
    Ok(())
}

fn told(reply: &Reply) -> String {
    format!("{} {}", reply.status, reply.text)
}

/// A deployment with the room `Sample`.
async fn sample(settings: &Value) -> Result<(Deployment, Aws)> {
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    deployment.create_room("Sample", settings).await?;
    let aws = deployment.aws("Sample");
    Ok((deployment, aws))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn assign_and_queue_num() -> Result<()> {
    let (_deployment, aws) = sample(&json!({})).await?;
    let body = json!({ "event_id": "Sample", "more": 1 });
    let reply = aws.post("/assign_queue_num", &body).await?.expect(200)?;
    expect_headers(&reply)?;
    let id = reply.text_of("api_request_id")?;
    ensure!(is_uuid_v4(&id) && reply.body.as_object().is_some_and(|o| o.len() == 1), "{id}");
    for bad in [json!({}), json!({ "event_id": 7 }), json!({ "event_id": null }), json!([])] {
        expect_message(&aws.post("/assign_queue_num", &bad).await?, 400)?;
    }
    let wrong_event = aws.post("/assign_queue_num", &json!({ "event_id": "Other" })).await?;
    expect_error(&wrong_event, 400, INVALID_EVENT)?;

    assert_eq!(aws.queue_number(&id).await?, 1);
    let reply = aws.request_get("/queue_num", &id).await?.expect(200)?;
    expect_headers(&reply)?;
    let entered = reply.number("entry_time")?;
    ensure!(entered > 1_700_000_000, "{}", reply.text);
    let expected =
        json!({ "queue_number": 1, "entry_time": entered, "event_id": "Sample", "status": 1 });
    assert_eq!(reply.body, expected);
    let unknown = aws.request_get("/queue_num", UNKNOWN).await?;
    expect_error(&unknown, 202, "Request ID not found")?;
    expect_bad_ids(&aws, "/queue_num", &id).await
}

/// Wrong events, malformed ids and missing parameters of a call with both parameters.
async fn expect_bad_ids(aws: &Aws, path: &str, id: &str) -> Result<()> {
    let wrong_event = aws.of("Other").request_get(path, id).await?;
    expect_error(&wrong_event, 400, INVALID_EVENT_OR_REQUEST)?;
    for malformed in &MALFORMED[1..] {
        let reply = aws.request_get(path, malformed).await?;
        expect_error(&reply, 400, INVALID_EVENT_OR_REQUEST).with_context(|| *malformed)?;
    }
    for (query, missing) in [
        (&[][..], &["event_id", "request_id"][..]),
        (&[("event_id", "Sample")], &["request_id"]),
        (&[("request_id", id)], &["event_id"]),
        (&[("event_id", "Sample"), ("request_id", "")], &["request_id"]),
    ] {
        expect_missing(&aws.get(path, query).await?, missing)?;
    }
    Ok(())
}

/// `Missing required request parameters: [a, b]`.
fn expect_missing(reply: &Reply, names: &[&str]) -> Result<()> {
    let message = expect_message(reply, 400)?;
    let listed = message.strip_prefix("Missing required request parameters: [");
    let listed = listed.and_then(|rest| rest.strip_suffix(']')).context(message.clone())?;
    let mut listed: Vec<_> = listed.split(", ").collect();
    listed.sort_unstable();
    ensure!(listed == names, "{message}");
    Ok(())
}

/// As strict clients check it: the version, and the variant of RFC 9562.
fn is_uuid_v4(id: &str) -> bool {
    let groups: Vec<_> = id.split('-').map(str::len).collect();
    let hex = |c: char| c == '-' || c.is_ascii_digit() || ('a'..='f').contains(&c);
    let (version, variant) = (id.chars().nth(14), id.chars().nth(19));
    groups == [8, 4, 4, 4, 12]
        && id.chars().all(hex)
        && version == Some('4')
        && variant.is_some_and(|variant| "89ab".contains(variant))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serving_and_waiting_num() -> Result<()> {
    let (_deployment, aws) = sample(&json!({})).await?;
    let reply = aws.event_get("/serving_num").await?.expect(200)?;
    expect_headers(&reply)?;
    assert_eq!(reply.body, json!({ "serving_counter": "0" }), "a string, as clients know it");
    ensure!(reply.header("cache-control").contains("max-age"), "{:?}", reply.headers);
    let reply = aws.event_get("/waiting_num").await?.expect(200)?;
    expect_headers(&reply)?;
    assert_eq!(reply.body, json!({ "waiting_num": 0 }));
    for path in ["/serving_num", "/waiting_num"] {
        expect_error(&aws.of("Other").event_get(path).await?, 400, INVALID_EVENT)?;
        expect_missing(&aws.get(path, &[]).await?, &["event_id"])?;
        expect_missing(&aws.get(path, &[("event_id", "")]).await?, &["event_id"])?;
    }
    let ids = [aws.assign().await?, aws.assign().await?, aws.assign().await?];
    expect_waiting(&aws, 3).await?;
    aws.serve(2).await?;
    aws.generate_token(&ids[0]).await?.expect(200)?;
    expect_waiting(&aws, 2).await?;
    aws.serve(-99).await?;
    assert_eq!(aws.event_get("/serving_num").await?.body, json!({ "serving_counter": "-97" }));
    Ok(())
}

pub(crate) async fn expect_waiting(aws: &Aws, expected: i64) -> Result<()> {
    vestibule_tests::eventually(std::time::Duration::from_secs(10), "waiting_num", || async {
        let waiting = aws.event_get("/waiting_num").await?.expect(200)?.signed("waiting_num")?;
        ensure!(waiting == expected, "{waiting} wait, not {expected}");
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn generate_token_and_its_repeats() -> Result<()> {
    let (deployment, aws) = sample(&json!({})).await?;
    let id = aws.assign().await?;
    let later = aws.assign().await?;
    let body = |event: &str, id: &str| json!({ "event_id": event, "request_id": id });
    let wrong_event = aws.post("/generate_token", &body("Other", &id)).await?;
    expect_error(&wrong_event, 400, INVALID_EVENT_OR_REQUEST)?;
    for malformed in ["", "nonsense", "zzzzzzzz-zzzz-zzzz-zzzz-zzzzzzzzzzzz"] {
        let reply = aws.generate_token(malformed).await?;
        expect_error(&reply, 400, INVALID_EVENT_OR_REQUEST).with_context(|| malformed)?;
    }
    expect_error(&aws.generate_token(UNKNOWN).await?, 400, INVALID_REQUEST)?;
    expect_error(&aws.generate_token(&id).await?, 202, NOT_SERVED)?;
    for bad in [json!({ "event_id": "Sample" }), json!({ "event_id": "Sample", "request_id": 5 })] {
        expect_message(&aws.post("/generate_token", &bad).await?, 400)?;
    }

    aws.serve(1).await?;
    // The public call takes these, and ignores them.
    let ignored = json!({
        "event_id": "Sample", "request_id": id, "issuer": "https://evil", "validity_period": 5,
    });
    let first = aws.post("/generate_token", &ignored).await?.expect(200)?;
    expect_headers(&first)?;
    expect_tokens(&deployment, &first, &id, 1, 3600).await?;
    let again = aws.generate_token(&id).await?.expect(200)?;
    for field in ["access_token", "refresh_token", "id_token"] {
        assert_eq!(first.body[field], again.body[field], "{field}");
    }
    expect_error(&aws.generate_token(&later).await?, 202, NOT_SERVED)?;

    aws.serve(-1).await?;
    expect_error(&aws.generate_token(&id).await?, 202, NOT_SERVED)?;
    aws.serve(2).await?;
    assert_eq!(aws.generate_token(&id).await?.body["access_token"], first.body["access_token"]);
    for (id, status) in [(&id, 1), (&later, -1)] {
        aws.generate_token(id).await?.expect(200)?;
        aws.update_session(id, status).await?.expect(200)?;
        expect_error(&aws.generate_token(id).await?, 410, SESSION_ENDED)?;
    }
    Ok(())
}

async fn expect_tokens(
    deployment: &Deployment,
    reply: &Reply,
    id: &str,
    number: u64,
    validity: u64,
) -> Result<()> {
    let verifier = deployment.verifier().await?;
    for (field, token_use) in
        [("access_token", "access"), ("refresh_token", "refresh"), ("id_token", "id")]
    {
        let claims = verifier.verify(&reply.text_of(field)?, "Sample")?;
        assert_eq!((claims.sub.as_str(), claims.aud.as_str()), (id, "Sample"));
        assert_eq!((claims.token_use.as_str(), claims.queue_position), (token_use, number));
        assert_eq!((claims.nbf, claims.exp), (claims.iat, claims.iat + validity));
        ensure!(claims.iss.starts_with("http") && !claims.iss.contains("evil"), "{}", claims.iss);
    }
    assert_eq!(reply.body["token_type"], "Bearer");
    let left = reply.number("expires_in")?;
    ensure!(left <= validity && left + 5 >= validity, "expires in {left}");
    assert_eq!(reply.body.as_object().map(serde_json::Map::len), Some(5), "{}", reply.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn public_key() -> Result<()> {
    let (deployment, aws) = sample(&json!({})).await?;
    let reply = aws.event_get("/public_key").await?.expect(200)?;
    expect_headers(&reply)?;
    let mut fields: Vec<_> = reply.body.as_object().context("an object")?.keys().collect();
    fields.sort();
    ensure!(["alg", "e", "kid", "kty", "n"].iter().all(|f| fields.iter().any(|g| g == f)), "no");
    assert_eq!((&reply.body["kty"], &reply.body["alg"]), (&json!("RSA"), &json!("RS256")));
    let kid = reply.text_of("kid")?;
    ensure!(deployment.verifier().await?.key_ids().contains(&kid), "{kid} is not in the JWKS");
    expect_error(&aws.of("Other").event_get("/public_key").await?, 400, INVALID_REQUEST)?;
    expect_missing(&aws.get("/public_key", &[]).await?, &["event_id"])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn browsers_may_call_from_any_site() -> Result<()> {
    let (deployment, _) = sample(&json!({})).await?;
    let calls = [
        ("/assign_queue_num", "POST"),
        ("/queue_num", "GET"),
        ("/queue_pos_expiry", "GET"),
        ("/serving_num", "GET"),
        ("/waiting_num", "GET"),
        ("/generate_token", "POST"),
        ("/public_key", "GET"),
    ];
    let allowed =
        ["content-type", "x-amz-date", "authorization", "x-api-key", "x-amz-security-token"];
    for (path, method) in calls {
        let url = deployment.admissions().at(path)?;
        let request = deployment.admissions().http().request(Method::OPTIONS, url);
        let request = request
            .header("origin", "https://shop.example")
            .header("access-control-request-method", method)
            .header("access-control-request-headers", "content-type");
        let reply = Reply::of(request).await?.expect(200).context(path)?;
        ensure!(reply.header("access-control-allow-origin") == "*", "{:?}", reply.headers);
        let methods = reply.header("access-control-allow-methods");
        ensure!(methods.contains(method) && methods.contains("OPTIONS"), "{path}: {methods}");
        let headers = reply.header("access-control-allow-headers").to_lowercase();
        ensure!(allowed.iter().all(|header| headers.contains(header)), "{path}: {headers}");
    }
    Ok(())
}
