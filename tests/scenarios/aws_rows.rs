//! Rows of what the original does that no other scenario of its calls has: how its tokens are spelled and who checks them,
//! what its pages and its control panel rely on, and what becomes of a call whose outcome nobody knows. Which row is
//! tested where is in `tests/README.md`.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use futures_util::future::try_join_all;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, jwk::Jwk};
use reqwest::Method;
use serde_json::{Value, json};
use vestibule_tests::{Aws, Deployment, Flavor, FrozenProxy, Redis, Reply, eventually};

use crate::aws_matrix::{expect_error, expect_message, expect_waiting};

const SOON: Duration = Duration::from_secs(30);
const ISSUER: &str = "https://abc123.execute-api.eu-west-1.amazonaws.com/api";
const RESET: &str = "It may take a minute or two to reset counters and recreate the database. Verify that token table \
    is available and active in DynamoDB before using the waiting room.";

async fn sample(settings: &Value) -> Result<(Deployment, Aws)> {
    let deployment = Deployment::builder().controllers(2).start().await?;
    deployment.create_room("Sample", settings).await?;
    let aws = deployment.aws("Sample");
    Ok((deployment, aws))
}

/// The tokens of an answer, by their use.
fn tokens(reply: &Reply) -> Result<BTreeMap<&'static str, String>> {
    let uses = [("access", "access_token"), ("id", "id_token"), ("refresh", "refresh_token")];
    uses.into_iter().map(|(name, field)| Ok((name, reply.text_of(field)?))).collect()
}

/// Header and claims of a token, as they are spelled.
fn spelled(token: &str) -> Result<[String; 2]> {
    let mut parts = token.split('.').map(|part| BASE64_URL_SAFE_NO_PAD.decode(part));
    let mut next = || anyhow::Ok(String::from_utf8(parts.next().context("too short")??)?);
    Ok([next()?, next()?])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_are_spelled_as_the_originals() -> Result<()> {
    let (_deployment, aws) = sample(&json!({ "issuer": ISSUER })).await?;
    let kid = aws.event_get("/public_key").await?.expect(200)?.text_of("kid")?;
    let id = aws.assign().await?;
    aws.serve(1).await?;
    let first = aws.generate_token(&id).await?.expect(200)?;
    for (token_use, token) in tokens(&first)? {
        let [header, claims] = spelled(&token)?;
        assert_eq!(header, format!(r#"{{"alg":"RS256","kid":"{kid}","typ":"JWT"}}"#));
        let iat = serde_json::from_str::<Value>(&claims)?["iat"].as_u64().context("no iat")?;
        let expected = format!(
            r#"{{"aud":"Sample","exp":{},"iat":{iat},"iss":"{ISSUER}","nbf":{iat},"queue_position":1,"sub":"{id}","token_use":"{token_use}"}}"#,
            iat + 3_600
        );
        assert_eq!(claims, expected, "sorted, and nothing else");
    }
    // A private call repeats them byte for byte, `kid` included, which the original leaves out.
    let body = json!({ "event_id": "Sample", "request_id": id });
    let again = aws.private("/api/generate_token", Some(&body)).await?.expect(200)?;
    assert_eq!(tokens(&again)?, tokens(&first)?);
    Ok(())
}

/// The checks of the original's authorizer, which asks for the key once.
fn authorizes(key: &Value, authorization: &str) -> Result<String> {
    let key = DecodingKey::from_jwk(&serde_json::from_value::<Jwk>(key.clone())?)?;
    let mut validation = Validation::new(Algorithm::RS256);
    validation.set_audience(&["Sample"]);
    validation.set_issuer(&[ISSUER]);
    validation.validate_nbf = true;
    let claims = decode::<Value>(authorization, &key, &validation)?.claims;
    ensure!(claims["token_use"] == "access", "{claims}");
    Ok(claims["sub"].as_str().context("no sub")?.to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_originals_authorizer_lets_in_who_has_an_access_token() -> Result<()> {
    let (_deployment, aws) = sample(&json!({ "issuer": ISSUER })).await?;
    let key = aws.event_get("/public_key").await?.expect(200)?.body;
    let id = aws.assign().await?;
    aws.serve(1).await?;
    let tokens = tokens(&aws.generate_token(&id).await?.expect(200)?)?;
    assert_eq!(authorizes(&key, &tokens["access"])?, id);
    for other in ["id", "refresh"] {
        ensure!(authorizes(&key, &tokens[other]).is_err(), "{other}");
    }
    let [header, claims] = spelled(&tokens["access"])?;
    let forged = claims.replace(r#""queue_position":1"#, r#""queue_position":0"#);
    let signature = tokens["access"].rsplit('.').next().unwrap_or_default();
    let forged = [header, forged].map(|part| BASE64_URL_SAFE_NO_PAD.encode(part)).join(".");
    ensure!(authorizes(&key, &format!("{forged}.{signature}")).is_err(), "a forged one");
    // It does not ask whether the session goes on.
    aws.update_session(&id, 1).await?.expect(200)?;
    assert_eq!(authorizes(&key, &tokens["access"])?, id);
    Ok(())
}

/// Posts `body` with this content type, or none, and the API token.
async fn post_as(
    deployment: &Deployment,
    path: &str,
    kind: Option<&str>,
    body: &str,
) -> Result<Reply> {
    let request = deployment.controllers().http().post(deployment.controllers().at(path)?);
    let request = request.bearer_auth(deployment.secrets()[1]).body(body.to_owned());
    Reply::of(kind.map_or(request.try_clone().context("a body")?, |kind| {
        request.header("content-type", kind)
    }))
    .await
}

/// The control panel says nothing of what it sends, so browsers call it plain text.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn private_calls_read_json_whatever_it_is_called() -> Result<()> {
    let (deployment, aws) = sample(&json!({})).await?;
    let id = aws.assign().await?;
    let calls = [
        ("/api/increment_serving_counter", json!({ "event_id": "Sample", "increment_by": 1 })),
        ("/api/generate_token", json!({ "event_id": "Sample", "request_id": id })),
        ("/api/update_session", json!({ "event_id": "Sample", "request_id": id, "status": 1 })),
        ("/api/reset_initial_state", json!({ "event_id": "Sample" })),
    ];
    for (path, body) in &calls {
        for wrong in ["", "nonsense", "[]", "{}"] {
            let reply = post_as(&deployment, path, Some("application/json"), wrong).await?;
            let message = expect_message(&reply, 400).with_context(|| format!("{path} {wrong}"))?;
            assert_eq!(message, "Invalid request body", "{path} {wrong}");
        }
        for field in body.as_object().context("an object")?.keys() {
            let mut wrong = body.clone();
            wrong[field] = json!({});
            let reply = post_as(&deployment, path, None, &wrong.to_string()).await?;
            assert_eq!(expect_message(&reply, 400)?, "Invalid request body", "{path} {field}");
        }
    }
    // In their order, a room is served, entered, left and begun anew, by text and by what has no name.
    for (nth, (path, body)) in calls.iter().enumerate() {
        let kind = (nth % 2 == 0).then_some("text/plain;charset=UTF-8");
        post_as(&deployment, path, kind, &body.to_string()).await?.expect(200)?;
    }
    assert_eq!(aws.increment(0).await?, 0, "it was reset");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_is_answered_as_the_originals_whatever_the_event() -> Result<()> {
    let (_deployment, aws) = sample(&json!({})).await?;
    aws.serve(4).await?;
    let path = "/api/reset_initial_state";
    let other = aws.private(path, Some(&json!({ "event_id": "Other" }))).await?.expect(200)?;
    assert_eq!((&other.body, aws.increment(0).await?), (&json!({ "message": RESET }), 4));
    let reply = aws.private(path, Some(&json!({ "event_id": "Sample" }))).await?.expect(200)?;
    assert_eq!((&reply.body, aws.increment(0).await?), (&json!({ "message": RESET }), 0));
    Ok(())
}

/// Headers and methods that the original's gateway and its CDN decide about.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_gateway_and_cdn_of_the_original_decide() -> Result<()> {
    let (deployment, aws) = sample(&json!({})).await?;
    let (admissions, controllers) = (deployment.admissions(), deployment.controllers());
    // A CDN before the original adds a key to each call; here nobody looks at it.
    let serving = admissions.at("/serving_num?event_id=Sample")?;
    let keyed = admissions.http().get(&serving).header("x-api-key", "whatever");
    Reply::of(keyed).await?.expect(200)?;
    let head = Reply::of(admissions.http().head(&serving)).await?.expect(200)?;
    assert_eq!((head.text.as_str(), head.header("content-type")), ("", "application/json"));
    let posted = admissions.http().post(admissions.at("/assign_queue_num")?);
    let posted = posted.header("content-type", "text/plain").body(r#"{"event_id":"Sample"}"#);
    Reply::of(posted).await?.expect(200)?;
    assert_eq!(Reply::of(admissions.http().post(&serving)).await?.status, 405);
    assert_eq!(aws.get("/no_such_call", &[]).await?.status, 404);
    // Tags are not taken out, and an id is what was given out, to the letter.
    let id = aws.assign().await?;
    for event in ["%3Cb%3ESample%3C%2Fb%3E", "Sam%3C!--x--%3Eple", "%20Sample", "Sample%20"] {
        let query = [("event_id", event)];
        expect_error(&aws.get("/serving_num", &query).await?, 400, "Invalid event ID")?;
    }
    for other in [format!("{id}x"), format!("%20{id}"), id.to_uppercase()] {
        let reply = aws.request_get("/queue_num", &other).await?;
        ensure!(matches!(reply.status, 400 | 202), "{other}: {} {}", reply.status, reply.text);
        ensure!(reply.body.get("queue_number").is_none(), "{other}: {}", reply.text);
    }
    for (path, method) in [
        ("/api/generate_token", "POST"),
        ("/api/increment_serving_counter", "POST"),
        ("/api/update_session", "POST"),
        ("/api/reset_initial_state", "POST"),
        ("/api/num_active_tokens", "GET"),
        ("/api/expired_tokens", "GET"),
    ] {
        let request = controllers.http().request(Method::OPTIONS, controllers.at(path)?);
        let request = request
            .header("origin", "https://panel.example")
            .header("access-control-request-method", method)
            .header("access-control-request-headers", "authorization,x-amz-date");
        let reply = Reply::of(request).await?.expect(200).context(path)?;
        ensure!(reply.header("access-control-allow-origin") == "*", "{:?}", reply.headers);
        let methods = reply.header("access-control-allow-methods");
        ensure!(methods.contains(method), "{path}: {methods}");
        let headers = reply.header("access-control-allow-headers").to_lowercase();
        for header in ["authorization", "x-amz-date", "x-amz-security-token", "content-type"] {
            ensure!(headers.contains(header), "{path}: {headers}");
        }
    }
    Ok(())
}

/// What the panel shows as available is reckoned from four calls.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_control_panels_sum_is_right() -> Result<()> {
    let settings = json!({ "token_validity_seconds": 3, "position_expiry_seconds": null });
    let (deployment, aws) = sample(&settings).await?;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(aws.assign().await?);
    }
    aws.serve(4).await?;
    let list = async || {
        let list = aws.private("/api/expired_tokens?event_id=Sample", None).await?.expect(200)?;
        anyhow::Ok(list.body.as_array().context("no list")?.clone())
    };
    for id in [&ids[2], &ids[0]] {
        let began = deployment.redis().now_seconds().await?;
        aws.generate_token(id).await?.expect(200)?;
        eventually(SOON, "another second, so that they expire in this order", || async {
            ensure!(deployment.redis().now_seconds().await? > began + 1);
            Ok(())
        })
        .await?;
    }
    aws.update_session(&ids[0], 1).await?.expect(200)?;
    expect_waiting(&aws, 3).await?;
    // Who has left is on the list, too; it is ordered by when tokens expired.
    eventually(SOON, "both tokens' end", || async {
        let expired = list().await?;
        ensure!(expired == [json!(ids[2]), json!(ids[0])], "{expired:?}");
        Ok(())
    })
    .await?;
    assert_eq!(aws.active_tokens().await?, 0);
    let expired = i64::try_from(list().await?.len())?;
    assert_eq!(aws.serving().await? - (3 + expired), -1, "serving - (waiting + active + expired)");
    Ok(())
}

/// The original counts them as waiting until somebody else is served for them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_expired_waits_no_more_though_nobody_is_served_instead() -> Result<()> {
    let settings = json!({ "position_expiry_seconds": 1, "advance_on_position_expiry": false });
    let (_deployment, aws) = sample(&settings).await?;
    for _ in 0..3 {
        aws.assign().await?;
    }
    aws.serve(2).await?;
    expect_waiting(&aws, 1).await?;
    assert_eq!(aws.serving().await?, 2);
    Ok(())
}

/// A client sends again what is answered 5xx or 429, up to ten times. So none that was done is answered so, whatever
/// becomes of Redis meanwhile, and what nobody knows is 409.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_increment_that_may_have_been_done_is_never_answered_5xx() -> Result<()> {
    let redis = Redis::start(Flavor::Redis7).await?;
    let proxy = FrozenProxy::start(redis.url().trim_start_matches("redis://")).await?;
    let deployment = Deployment::builder()
        .admissions(0)
        .over(&format!("redis://{}", proxy.address()))
        .environment("VESTIBULE_REDIS_TIMEOUT_MS", "500")
        .start()
        .await?;
    deployment.create_room("Sample", &json!({})).await?;
    let aws = deployment.aws("Sample");
    // By chance all had read the room, or none had, when Redis went: then once more.
    for _ in 0..FREEZES {
        if increments_while_redis_freezes(&aws, &proxy).await? > 0 {
            return Ok(());
        }
    }
    bail!("no increment was under way when Redis froze, {FREEZES} times");
}

/// So many times Redis freezes at most, until it does so under an increment.
const FREEZES: usize = 20;

/// Many at once, so that Redis goes while some have read the room, and have not moved the counter yet. Returns of how
/// many nobody knows whether they were done.
async fn increments_while_redis_freezes(aws: &Aws, proxy: &FrozenProxy) -> Result<usize> {
    const CALLERS: usize = 24;
    let stood = eventually(SOON, "the counter before", || async { aws.increment(0).await }).await?;
    let done = AtomicI64::new(0);
    let body = json!({ "event_id": "Sample", "increment_by": 1 });
    let call_until_it_fails = async || {
        loop {
            let reply = aws.private("/api/increment_serving_counter", Some(&body)).await?;
            if reply.status != 200 {
                return anyhow::Ok(reply);
            }
            done.fetch_add(1, Ordering::Relaxed);
        }
    };
    let freeze = async {
        eventually(SOON, "calls", || async {
            ensure!(done.load(Ordering::Relaxed) > 100);
            Ok(())
        })
        .await?;
        proxy.freeze();
        anyhow::Ok(())
    };
    let callers = try_join_all((0..CALLERS).map(|_| call_until_it_fails()));
    let (failed, ()) = tokio::try_join!(callers, freeze)?;
    let with = |status| failed.iter().filter(move |reply| reply.status == status);
    let (unknown, refused) = (with(409).count(), with(503).count());
    ensure!(
        unknown + refused == CALLERS,
        "{:?}",
        failed.iter().map(|r| r.status).collect::<Vec<_>>()
    );
    for reply in with(409) {
        ensure!(expect_message(reply, 409)?.contains("not known whether"), "{}", reply.text);
    }
    proxy.thaw();
    let stands = eventually(SOON, "the counter", || async { aws.increment(0).await }).await?;
    let least = stood + done.load(Ordering::Relaxed);
    let most = least + i64::try_from(unknown)?;
    ensure!((least..=most).contains(&stands), "{stands} after {least}, and {unknown} unknown ones");
    Ok(unknown)
}
