//! What a room is called in tokens is its alone: gateways that verify by themselves tell rooms apart by it. No change of
//! settings, however it is made and by whoever, makes tokens that open another room.

use std::{sync::Mutex, time::Duration};

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use vestibule_tests::{Deployment, Operator, Reply, Service, eventually};

use crate::rooms::expect_problem;

const SOON: Duration = Duration::from_secs(20);
const EVENT: &str = "Summer Sale 2026";
const PUBLIC: &str = "http://wait.example/queue";

fn called(event_id: Option<&str>) -> Value {
    json!({ "aws_event_id": event_id })
}

fn client(id: &str) -> Value {
    json!({ "oidc_clients": [{ "id": id, "redirect_uris": ["https://shop.example/cb"] }] })
}

async fn apply(operator: &Operator, query: &str, rooms: Value) -> Result<Reply> {
    let document = json!({ "rooms": rooms });
    operator.call(Method::PUT, &format!("/v1/config{query}"), Some(&document)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_of_one_room_cannot_call_it_by_another_rooms_name() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let root = deployment.operator();
    root.put_room("sale", &json!({})).await?.expect(201)?;
    let draft = json!({ "name": "ci", "role": "operator", "rooms": ["sale"] });
    let made = root.call(Method::POST, "/v1/tokens", Some(&draft)).await?.expect(201)?;
    let ci = root.with_token(&made.text_of("token")?);
    let vip = called(Some("vip-2027"));
    expect_problem(&ci.patch_room("sale", &vip).await?, 403, "vip-2027")?;
    expect_problem(&ci.put_room("sale", &vip).await?, 403, "aws_event_id")?;
    for query in ["", "?dry_run=true"] {
        let applied = apply(&ci, query, json!({ "sale": vip })).await?;
        expect_problem(&applied, 403, "rooms.sale.aws_event_id")?;
    }
    // What is no room's name is free to take; and who is for all rooms may give any.
    ci.patch_room("sale", &called(Some(EVENT))).await?.expect(200)?;
    root.patch_room("sale", &vip).await?.expect(200)?;
    ci.patch_room("sale", &json!({ "queue_all": true, "aws_event_id": "vip-2027" }))
        .await?
        .expect(200)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_id_that_was_given_up_is_kept_until_the_last_token_has_ended() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    deployment.create_room("sale", &called(Some("Sample"))).await?;
    let (operator, aws) = (deployment.operator(), deployment.aws("Sample"));
    operator.put_room("vip", &json!({})).await?.expect(201)?;
    let id = aws.assign().await?;
    aws.serve(1).await?;
    let body = json!({ "event_id": "Sample", "request_id": id, "validity_period": 604_800 });
    aws.private("/api/generate_token", Some(&body)).await?.expect(200)?;
    operator.patch_room("sale", &called(None)).await?.expect(200)?;
    let is_kept = async || {
        let reason = "whose tokens call it so until";
        let taken = operator.patch_room("vip", &called(Some("Sample"))).await?;
        expect_problem(&taken, 400, reason)?;
        expect_problem(&operator.put_room("Sample", &json!({})).await?, 400, reason)?;
        let applied = apply(&operator, "?dry_run=true", json!({ "Sample": {} })).await?;
        expect_problem(&applied, 400, reason)
    };
    is_kept().await?;
    operator.call(Method::POST, "/v1/rooms/sale/reset", None).await?.expect(200)?;
    is_kept().await?;
    operator.patch_room("sale", &called(Some("Sample"))).await?.expect(200)?;
    operator.patch_room("sale", &called(Some("Other"))).await?.expect(200)?;
    is_kept().await?;
    operator.call(Method::DELETE, "/v1/rooms/sale", None).await?.expect(204)?;
    operator.put_room("Sample", &json!({})).await?.expect(201)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_a_room_is_called_like_no_other_room() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let operator = deployment.operator();
    operator.put_room("sale", &called(Some("Sample"))).await?.expect(201)?;
    operator.put_room("r1", &json!({})).await?.expect(201)?;
    expect_problem(&operator.patch_room("sale", &client("r1")).await?, 400, "oidc_clients[0].id")?;
    expect_problem(&operator.patch_room("r1", &client("Sample")).await?, 400, "the event id of")?;
    operator.patch_room("r1", &client("shop")).await?.expect(200)?;
    let reason = "is the id of a client of the room `r1`";
    expect_problem(&operator.put_room("shop", &json!({})).await?, 400, reason)?;
    expect_problem(&operator.patch_room("sale", &called(Some("shop"))).await?, 400, reason)?;
    let applied = apply(&operator, "", json!({ "a": {}, "b": client("a") })).await?;
    expect_problem(&applied, 400, "rooms.b.oidc_clients[0].id")?;
    // Two rooms may have the same client, and a client the name of its own room.
    operator.patch_room("sale", &client("shop")).await?.expect(200)?;
    operator.patch_room("sale", &client("Sample")).await?.expect(200)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_chooses_the_issuer_of_a_provider() -> Result<()> {
    let deployment =
        Deployment::builder().environment("VESTIBULE_PUBLIC_URL", PUBLIC).start().await?;
    deployment.create_room("sale", &json!({})).await?;
    let (operator, aws) = (deployment.operator(), deployment.aws("sale"));
    let issuer = format!("{PUBLIC}/oidc/r1");
    let settings = json!({ "issuer": issuer });
    expect_problem(&operator.patch_room("sale", &settings).await?, 400, "OpenID providers")?;
    expect_problem(&operator.put_room("sale", &settings).await?, 400, "OpenID providers")?;
    expect_problem(&operator.put_room("new", &settings).await?, 400, "OpenID providers")?;
    let applied = apply(&operator, "", json!({ "sale": settings })).await?;
    expect_problem(&applied, 400, "rooms.sale.issuer")?;
    let id = aws.assign().await?;
    aws.serve(1).await?;
    let body = json!({ "event_id": "sale", "request_id": id, "issuer": issuer });
    let refused = aws.private("/api/generate_token", Some(&body)).await?.expect(400)?;
    ensure!(refused.text.contains("Invalid issuer"), "{}", refused.text);
    let body = json!({ "event_id": "sale", "request_id": id, "issuer": PUBLIC });
    aws.private("/api/generate_token", Some(&body)).await?.expect(200)?;
    Ok(())
}

/// Rooms that give names up, and others that get them in the same document.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_document_may_give_a_name_to_another_room() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let operator = deployment.operator();
    operator.put_room("sale", &called(Some("aaa"))).await?.expect(201)?;
    let old = json!({ "aws_event_id": "old", "labels": { "managed-by": "git" } });
    operator.put_room("spring", &old).await?.expect(201)?;
    operator.put_room("vip", &client("bbb")).await?.expect(201)?;
    let rooms =
        json!({ "aaa": {}, "bbb": called(Some("old")), "sale": called(Some("x")), "vip": {} });
    let prune = "prune=managed-by=git";
    apply(&operator, &format!("?dry_run=true&{prune}"), rooms.clone()).await?.expect(200)?;
    let done = apply(&operator, &format!("?{prune}"), rooms.clone()).await?.expect(200)?;
    let steps = done.body["steps"].as_array().into_iter().flatten();
    let order: Vec<_> = steps.filter_map(|step| step["room"].as_str()).collect();
    ensure!(order == ["sale", "vip", "aaa", "spring", "bbb"], "{}", done.text);
    let again = apply(&operator, &format!("?{prune}"), rooms).await?.expect(200)?;
    ensure!(again.body["steps"] == json!([]), "{}", again.text);
    // They may change places, too.
    let rooms = json!({ "sale": called(Some("old")), "bbb": called(Some("x")) });
    apply(&operator, "", rooms.clone()).await?.expect(200)?;
    let again = apply(&operator, "?dry_run=true", rooms).await?.expect(200)?;
    ensure!(again.body["steps"] == json!([]), "{}", again.text);
    Ok(())
}

/// Its creation failed half-way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_is_listed_and_nobody_knows_stands_for_no_room() -> Result<()> {
    let deployment = Deployment::builder().admissions(1).start().await?;
    deployment.create_room("sale", &json!({})).await?;
    let mut redis = deployment.redis().connection().await?;
    let mut list = redis::cmd("SADD");
    list.arg(&["vestibule:{deployment}:rooms", "ghost"]).exec_async(&mut redis).await?;
    eventually(SOON, "it is taken off the list", || {
        let mut redis = redis.clone();
        async move {
            let mut is_listed = redis::cmd("SISMEMBER");
            is_listed.arg(&["vestibule:{deployment}:rooms", "ghost"]);
            let is_listed: bool = is_listed.query_async(&mut redis).await?;
            ensure!(!is_listed, "it is on it");
            Ok(())
        }
    })
    .await?;
    eventually(SOON, "there is no such room", || async {
        let reply = deployment.visitor("nothing").join().await?;
        ensure!(reply.status == 404, "{} {}", reply.status, reply.text);
        Ok(())
    })
    .await?;
    deployment.create_room("ghost", &json!({})).await?;
    deployment.visitor("ghost").join().await?.expect(200)?;
    Ok(())
}

/// From its first answer on, a controller takes no event for unknown that it has not read yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_controller_that_starts_knows_what_rooms_are_called() -> Result<()> {
    let mut deployment = Deployment::builder().start().await?;
    let mut rooms: serde_json::Map<_, _> =
        (0..150).map(|number| (format!("a{number}"), json!({}))).collect();
    rooms.insert("sale".into(), called(Some("zzz")));
    rooms.insert("summer".into(), called(Some(EVENT)));
    apply(&deployment.operator(), "", rooms.into()).await?.expect(200)?;
    let http = deployment.controllers().http().clone();
    let base = format!("http://{}", deployment.address(Service::Controller, 0));
    let token = deployment.secrets()[1].to_owned();
    deployment.kill(Service::Controller, 0)?;
    let wrong = Mutex::new(Vec::new());
    let call = async |method: Method, path: &str, body: Value| {
        let request = http.request(method, format!("{base}{path}")).bearer_auth(&token);
        let reply = Reply::of(request.json(&body)).await?;
        let is_wrong = reply.text.contains("Invalid event ID") || reply.status == 201;
        if is_wrong {
            wrong.lock().unwrap().push(format!("{path}: {}", reply.text));
        }
        anyhow::Ok(reply)
    };
    let asked = eventually(SOON, "the event", || async {
        let body = json!({ "event_id": EVENT, "increment_by": 1 });
        let served = call(Method::POST, "/api/increment_serving_counter", body).await;
        let created = call(Method::PUT, "/v1/rooms/zzz", json!({})).await;
        ensure!(served?.status == 200 && created?.status == 400, "not yet");
        Ok(())
    });
    let (restarted, asked) = tokio::join!(deployment.restart(Service::Controller, 0), asked);
    restarted.and(asked)?;
    let wrong = wrong.lock().unwrap();
    ensure!(wrong.is_empty(), "{wrong:#?}");
    Ok(())
}
