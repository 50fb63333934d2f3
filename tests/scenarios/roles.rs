//! Tokens with roles and rooms: made and revoked at one controller, known at the other; each gets as far as the API's
//! document says.

use std::time::Duration;

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::Instant;
use vestibule_tests::{Deployment, Operator, Reply, Service, eventually};

use crate::rooms::expect_problem;

/// Within so long a token that was revoked works nowhere any more.
const REVOKED: Duration = Duration::from_secs(1);
const SOON: Duration = Duration::from_secs(20);

/// Two controllers, and two rooms.
async fn deployment() -> Result<Deployment> {
    let deployment = Deployment::builder().controllers(2).start().await?;
    for room in ["sale-1", "vip"] {
        deployment.create_room(room, &json!({})).await?;
    }
    Ok(deployment)
}

/// Makes a token at the first controller; who shows it is at both.
async fn made(deployment: &Deployment, draft: Value) -> Result<Operator> {
    let first = deployment.operator_at(0);
    let reply = first.call(Method::POST, "/v1/tokens", Some(&draft)).await?.expect(201)?;
    Ok(deployment.operator().with_token(&reply.text_of("token")?))
}

async fn rooms(operator: &Operator) -> Result<Vec<String>> {
    let reply = operator.call(Method::GET, "/v1/rooms", None).await?.expect(200)?;
    let rooms = reply.body["rooms"].as_array().cloned().unwrap_or_default();
    Ok(rooms.iter().filter_map(|room| Some(room["room"].as_str()?.to_owned())).collect())
}

fn without_nulls(reply: &Reply) -> Value {
    let mut token = reply.body.clone();
    if let Some(members) = token.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    token
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_is_told_once_and_works_at_every_controller_until_it_is_revoked() -> Result<()> {
    let deployment = deployment().await?;
    let operator = deployment.operator();
    let draft = json!({ "name": "ci", "role": "operator" });
    let reply = operator.call(Method::POST, "/v1/tokens", Some(&draft)).await?.expect(201)?;
    let token = reply.text_of("token")?;
    ensure!(token.starts_with("vst_") && token.len() == 43, "{token}");
    ensure!(without_nulls(&reply)["created_by"] == "root", "{}", reply.text);
    // Whichever controller made it, the other one knows it at once.
    for index in 0..2 {
        let ci = deployment.operator_at(index).with_token(&token);
        ci.patch_room("vip", &json!({ "total_active_users": 7 + index })).await?.expect(200)?;
    }
    let listed = operator.call(Method::GET, "/v1/tokens", None).await?.expect(200)?;
    ensure!(listed.text.contains(r#""name":"ci""#) && listed.text.contains(r#""name":"root""#));
    ensure!(!listed.text.contains(&token[4..]), "{}", listed.text);
    expect_problem(
        &operator.call(Method::POST, "/v1/tokens", Some(&draft)).await?,
        409,
        "conflict",
    )?;

    deployment.operator_at(0).call(Method::DELETE, "/v1/tokens/ci", None).await?.expect(204)?;
    let revoked = Instant::now();
    let ci = deployment.operator_at(0).with_token(&token);
    ensure!(ci.call(Method::GET, "/v1/rooms", None).await?.status == 401, "where it was revoked");
    let other = deployment.operator_at(1).with_token(&token);
    while other.call(Method::GET, "/v1/rooms", None).await?.status != 401 {
        ensure!(revoked.elapsed() < REVOKED, "it works at the other one after {REVOKED:?}");
    }
    let gone = operator.call(Method::DELETE, "/v1/tokens/ci", None).await?;
    expect_problem(&gone, 404, "token-not-found")?;
    let root = operator.call(Method::DELETE, "/v1/tokens/root", None).await?;
    expect_problem(&root, 409, "conflict")?;
    let log = deployment.logs();
    ensure!(!log.contains(&token[4..]), "{log}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_was_made_is_revoked_though_an_option_has_its_name_by_now() -> Result<()> {
    let mut deployment = deployment().await?;
    let ci = made(&deployment, json!({ "name": "ci", "role": "operator" })).await?;
    let option = "ci:viewer:an-option-has-it-now";
    deployment.set_environment("VESTIBULE_API_TOKENS", option);
    deployment.replace(Service::Controller, 1, None).await?;
    let second = deployment.operator_at(1);
    second.call(Method::DELETE, "/v1/tokens/ci", None).await?.expect(204)?;
    eventually(SOON, "that the one that was made works nowhere", || async {
        ensure!(ci.call(Method::GET, "/v1/rooms", None).await?.status == 401);
        Ok(())
    })
    .await?;
    let given = second.with_token("an-option-has-it-now");
    given.call(Method::GET, "/v1/rooms", None).await?.expect(200)?;
    let again = second.call(Method::DELETE, "/v1/tokens/ci", None).await?;
    expect_problem(&again, 409, "an option of the controllers")
}

/// A program's list may have come out empty.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_for_no_room_is_not_one_for_all() -> Result<()> {
    let deployment = Deployment::builder().admissions(0).start().await?;
    for (path, name) in [("/v1/tokens", "name"), ("/v1/sigv4-keys", "access_key_id")] {
        let draft = json!({ name: "ci", "role": "operator", "rooms": [] });
        let reply = deployment.operator().call(Method::POST, path, Some(&draft)).await?;
        expect_problem(&reply, 400, "leave it out for all rooms")?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_for_some_rooms_sees_these_alone() -> Result<()> {
    let deployment = deployment().await?;
    let draft = json!({ "name": "sales", "role": "operator", "rooms": ["sale-*"] });
    let sales = made(&deployment, draft).await?;
    ensure!(rooms(&sales).await? == ["sale-1"], "{:?}", rooms(&sales).await?);
    sales.patch_room("sale-1", &json!({ "total_active_users": 9 })).await?.expect(200)?;
    for (method, path) in [
        (Method::GET, "/v1/rooms/vip"),
        (Method::GET, "/v1/rooms/nowhere/status"),
        (Method::POST, "/v1/rooms/vip/reset"),
        (Method::POST, "/v1/keys/rotate"),
        (Method::GET, "/v1/tokens"),
        (Method::DELETE, "/v1/rooms/sale-1"),
    ] {
        expect_problem(&sales.call(method, path, None).await?, 403, "forbidden")?;
    }
    // Only an admin makes rooms; of other rooms nobody is told whether they are there.
    let new = sales.put_room("sale-2", &json!({})).await?;
    expect_problem(&new, 403, "forbidden")?;
    ensure!(new.text.contains("the role `admin`"), "{}", new.text);
    let replaced = sales.put_room("sale-1", &json!({ "total_active_users": 8 })).await?;
    ensure!(replaced.status == 200, "{}", replaced.text);

    let increment = |event: &str| json!({ "event_id": event, "increment_by": 2 });
    let call = async |event: &str| {
        let path = "/api/increment_serving_counter";
        sales.call(Method::POST, path, Some(&increment(event))).await
    };
    ensure!(call("sale-1").await?.expect(200)?.signed("serving_num")? == 2);
    let foreign = call("vip").await?.expect(403)?;
    ensure!(
        foreign.text.contains(r#"{"message":"this needs a token for the room"#),
        "{}",
        foreign.text
    );
    for path in ["/num_active_tokens?event_id=vip", "/api/expired_tokens?event_id=vip"] {
        sales.call(Method::GET, path, None).await?.expect(403)?;
    }
    let mut metrics = String::new();
    for index in 0..2 {
        metrics += &deployment.admin(Service::Controller, index, "/metrics").await?.text;
    }
    let refused = r#"vestibule_operator_calls_refused_total{reason="rooms"} "#;
    let counts: Vec<_> = metrics.lines().filter_map(|line| line.strip_prefix(refused)).collect();
    ensure!(counts.iter().any(|count| *count != "0"), "{metrics}");
    Ok(())
}

/// Every call of the document, without a body that means anything: who may not make it is told so, and who may is told
/// something else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_role_gets_as_far_as_the_document_says() -> Result<()> {
    let tokens =
        "see:viewer:viewer-token-0000;do:operator:operator-token-00;all:admin:admin-token-0000";
    let deployment =
        Deployment::builder().environment("VESTIBULE_API_TOKENS", tokens).start().await?;
    let root = deployment.operator();
    let document = root.call(Method::GET, "/openapi.json", None).await?.expect(200)?.body;
    let paths = document["paths"].as_object().cloned().unwrap_or_default();
    let callers = [("viewer-token-0000", 0), ("operator-token-00", 1), ("admin-token-0000", 2)];
    let mut calls = 0;
    // What Amazon SNS signs needs no token.
    let needs_token = |(path, _): &(&String, &_)| !path.ends_with("/sns");
    for (path, item) in paths.iter().filter(needs_token) {
        for (method, described) in item.as_object().cloned().unwrap_or_default() {
            let needs = match described["x-required-role"].as_str() {
                Some("viewer") => 0,
                Some("operator") => 1,
                Some("admin") => 2,
                other => anyhow::bail!("{method} {path} needs {other:?}"),
            };
            let method: Method = method.to_uppercase().parse()?;
            let path = path.replace('{', "no-").replace('}', "");
            for (token, has) in callers {
                let operator = root.with_token(token);
                let reply = operator.call_raw(method.clone(), &path, Vec::new()).await?;
                let refused = reply.status == 403;
                ensure!(refused == (has < needs), "{method} {path} {token}: {}", reply.text);
                calls += 1;
            }
        }
    }
    ensure!(calls >= 3 * 36, "{calls}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_ends_when_it_was_said() -> Result<()> {
    let deployment = deployment().await?;
    let now = deployment.redis().now_seconds().await?;
    let past = json!({ "name": "late", "role": "viewer", "expires_at": now - 1 });
    let refused = deployment.operator().call(Method::POST, "/v1/tokens", Some(&past)).await?;
    expect_problem(&refused, 400, "invalid-request")?;
    let draft = json!({ "name": "guest", "role": "viewer", "expires_at": now + 3 });
    let guest = made(&deployment, draft).await?;
    guest.call(Method::GET, "/v1/rooms", None).await?.expect(200)?;
    eventually(SOON, "its end", || async {
        guest.call(Method::GET, "/v1/rooms", None).await?.expect(401)
    })
    .await?;
    ensure!(deployment.redis().now_seconds().await? >= now + 3, "it ended early");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_has_lost_them_gets_them_back_and_no_revoked_one() -> Result<()> {
    let deployment = deployment().await?;
    let operator = deployment.operator();
    let kept = made(&deployment, json!({ "name": "kept", "role": "viewer" })).await?;
    let gone = made(&deployment, json!({ "name": "gone", "role": "viewer" })).await?;
    let before: String = redis_get(&deployment).await?;
    ensure!(!before.is_empty());
    operator.call(Method::DELETE, "/v1/tokens/gone", None).await?.expect(204)?;
    // Lost as a whole, and back at a state from before.
    for state in ["", &before] {
        redis_set(&deployment, state).await?;
        eventually(SOON, "the tokens in redis", || async {
            let text = redis_get(&deployment).await?;
            ensure!(text.contains("kept") && !text.contains("gone"), "{text}");
            Ok(())
        })
        .await?;
        kept.call(Method::GET, "/v1/rooms", None).await?.expect(200)?;
        eventually(SOON, "no revoked token", || async {
            gone.call(Method::GET, "/v1/rooms", None).await?.expect(401)
        })
        .await?;
    }
    Ok(())
}

const KEY: &str = "vestibule:{deployment}:api-tokens";

async fn redis_get(deployment: &Deployment) -> Result<String> {
    let mut connection = deployment.redis().connection().await?;
    let text: Option<String> = redis::cmd("GET").arg(KEY).query_async(&mut connection).await?;
    Ok(text.unwrap_or_default())
}

async fn redis_set(deployment: &Deployment, text: &str) -> Result<()> {
    let mut connection = deployment.redis().connection().await?;
    let command = if text.is_empty() {
        redis::cmd("DEL").arg(KEY).clone()
    } else {
        redis::cmd("SET").arg(KEY).arg(text).clone()
    };
    command.query_async::<()>(&mut connection).await?;
    Ok(())
}
