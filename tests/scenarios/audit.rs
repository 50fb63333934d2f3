//! The audit log: every change with who made it, from where, and what was different before and after; and nothing that
//! lets anybody in.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use vestibule_tests::{Deployment, Operator, Service, eventually};

use crate::rooms::expect_problem;

const SOON: Duration = Duration::from_secs(20);

async fn audit(operator: &Operator, query: &str) -> Result<Vec<Value>> {
    let reply =
        operator.call(Method::GET, &format!("/v1/audit{query}"), None).await?.expect(200)?;
    Ok(reply.body["entries"].as_array().cloned().unwrap_or_default())
}

/// The newest entry, which must be of this action.
async fn newest(operator: &Operator, action: &str) -> Result<Value> {
    let entry = audit(operator, "?limit=1").await?.pop().context("no entry")?;
    ensure!(entry["action"] == action, "expected {action}: {entry}");
    Ok(entry)
}

fn actions(entries: &[Value]) -> Vec<&str> {
    entries.iter().filter_map(|entry| entry["action"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_change_is_noted_with_what_was_before_and_after() -> Result<()> {
    let deployment = Deployment::builder().controllers(2).start().await?;
    let operator = deployment.operator();
    operator
        .put_room("sale", &json!({ "total_active_users": 5, "aws_style_api": true }))
        .await?
        .expect(201)?;
    let entry = newest(&operator, "put_room").await?;
    ensure!(entry["before"].is_null() && entry["after"]["total_active_users"] == 5, "{entry}");
    ensure!(entry["who"] == "root" && entry["room"] == "sale", "{entry}");
    ensure!(entry["address"] == "127.0.0.1" && entry["status"] == 201, "{entry}");
    ensure!(entry["at"].as_str().is_some_and(|at| at.ends_with('Z')), "{entry}");

    operator.patch_room("sale", &json!({ "total_active_users": 6 })).await?.expect(200)?;
    let entry = newest(&operator, "patch_room").await?;
    ensure!(entry["before"] == json!({ "total_active_users": 5 }), "{entry}");
    ensure!(entry["after"] == json!({ "total_active_users": 6 }), "{entry}");

    let page = "<p>{{waitTime}} hunter2</p>";
    let reply = operator.call_raw(Method::PUT, "/v1/rooms/sale/page", page.into()).await?;
    ensure!(reply.status == 204, "{}", reply.text);
    let entry = newest(&operator, "put_page").await?;
    ensure!(entry["after"]["page"]["bytes"] == page.len() && entry["before"]["page"].is_null());
    ensure!(!entry.to_string().contains("hunter2"), "{entry}");

    let start = deployment.redis().now_seconds().await? + 3_600;
    let event = json!({ "event_start_time": start, "event_end_time": start + 600 });
    let path = "/v1/rooms/sale/events/launch";
    operator.call(Method::PUT, path, Some(&event)).await?.expect(201)?;
    let entry = newest(&operator, "put_event").await?;
    ensure!(entry["after"]["events"]["launch"]["name"] == "launch", "{entry}");
    operator.call(Method::DELETE, path, None).await?.expect(204)?;
    let entry = newest(&operator, "delete_event").await?;
    ensure!(entry["after"] == json!({ "events": { "launch": null } }), "{entry}");

    let aws = deployment.aws("sale");
    let id = aws.assign().await?;
    aws.serve(3).await?;
    let entry = newest(&operator, "increment_serving_counter").await?;
    let counter = |side: &str| entry[side]["serving_counter"].as_i64().unwrap_or_default();
    ensure!(counter("after") - counter("before") == 3, "{entry}");
    let body = json!({ "event_id": "sale", "request_id": id });
    aws.private("/generate_token", Some(&body)).await?.expect(200)?;
    let visits = audit(&operator, "?of=visits").await?;
    ensure!(actions(&visits) == ["generate_token"], "{visits:?}");
    let path = format!("/v1/rooms/sale/sessions/{id}");
    operator.call(Method::DELETE, &path, None).await?.expect(204)?;
    let entry = newest(&operator, "revoke_session").await?;
    ensure!(entry["after"]["session"] == "revoked", "{entry}");
    ensure!(!entry.to_string().contains(&id), "a request id lets somebody in: {entry}");

    operator.call(Method::POST, "/v1/rooms/sale/reset", None).await?.expect(200)?;
    let entry = newest(&operator, "reset_room").await?;
    ensure!(
        entry["before"]["queue_counter"] == 1 && entry["after"]["queue_counter"] == 0,
        "{entry}"
    );

    let rotated =
        operator.call(Method::POST, "/v1/keys/rotate?force=true", None).await?.expect(200)?;
    let entry = newest(&operator, "rotate_keys").await?;
    ensure!(entry["after"]["kid"] == rotated.body["kid"] && entry["room"].is_null(), "{entry}");
    let path = format!("/v1/keys/{}", rotated.text_of("kid")?);
    operator.call(Method::DELETE, &path, None).await?.expect(200)?;
    ensure!(newest(&operator, "withdraw_key").await?["before"]["kid"] == rotated.body["kid"]);

    let draft = json!({ "name": "ci", "role": "viewer", "rooms": ["sale"] });
    let token = operator.call(Method::POST, "/v1/tokens", Some(&draft)).await?.expect(201)?;
    let entry = newest(&operator, "create_token").await?;
    ensure!(
        entry["after"]["name"] == "ci" && entry["after"]["rooms"] == json!(["sale"]),
        "{entry}"
    );
    ensure!(!entry.to_string().contains(&token.text_of("token")?[4..]), "{entry}");
    operator.call(Method::DELETE, "/v1/tokens/ci", None).await?.expect(204)?;
    ensure!(newest(&operator, "revoke_token").await?["before"]["role"] == "viewer");

    operator.call(Method::DELETE, "/v1/rooms/sale", None).await?.expect(204)?;
    let entry = newest(&operator, "delete_room").await?;
    ensure!(entry["before"]["total_active_users"] == 6 && entry["after"].is_null(), "{entry}");
    // A line of the log for each, too.
    let log = deployment.logs();
    for action in ["patch_room", "rotate_keys", "revoke_token", "delete_room"] {
        let line = log.lines().find(|line| line.contains("audit") && line.contains(action));
        ensure!(line.is_some_and(|line| line.contains("root")), "no line of {action}: {log}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_refused_or_only_read_is_not_noted() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let operator = deployment.operator();
    deployment.create_room("sale", &json!({})).await?;
    let viewer = json!({ "name": "see", "role": "viewer" });
    let token = operator.call(Method::POST, "/v1/tokens", Some(&viewer)).await?.expect(201)?;
    let viewer = operator.with_token(&token.text_of("token")?);
    viewer.patch_room("sale", &json!({ "total_active_users": 1 })).await?.expect(403)?;
    operator.patch_room("sale", &json!({ "total_active_users": "x" })).await?.expect(400)?;
    operator.patch_room("other", &json!({})).await?.expect(404)?;
    operator.status("sale").await?;
    let entries = audit(&operator, "").await?;
    ensure!(actions(&entries) == ["create_token", "put_room"], "{entries:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_read_in_pages_by_room_and_by_who_and_as_far_as_a_token_goes() -> Result<()> {
    let tokens = "sales:operator:sale:sales-token-0000;see:viewer:viewer-token-000";
    let deployment =
        Deployment::builder().environment("VESTIBULE_API_TOKENS", tokens).start().await?;
    let operator = deployment.operator();
    for room in ["sale", "vip"] {
        deployment.create_room(room, &json!({})).await?;
    }
    operator.call(Method::POST, "/v1/keys/rotate?force=true", None).await?.expect(200)?;
    let (sales, viewer) =
        (operator.with_token("sales-token-0000"), operator.with_token("viewer-token-000"));
    for users in 1..=3 {
        sales.patch_room("sale", &json!({ "total_active_users": users })).await?.expect(200)?;
    }
    let all = audit(&operator, "").await?;
    let names = actions(&all);
    ensure!(
        names[..3] == ["patch_room"; 3] && names[3..] == ["rotate_keys", "put_room", "put_room"]
    );
    ensure!(audit(&operator, "?who=sales").await?.len() == 3);
    ensure!(audit(&operator, "?room=vip").await?.len() == 1);
    ensure!(audit(&operator, "?who=sales&room=vip").await?.is_empty());
    ensure!(audit(&operator, "?to=2000-01-01T00:00:00Z").await?.is_empty());
    ensure!(audit(&operator, "?from=2000-01-01T00:00:00Z").await?.len() == 6);

    let first = operator.call(Method::GET, "/v1/audit?limit=4", None).await?.expect(200)?;
    let path = format!("/v1/audit?limit=4&before={}", first.number("next")?);
    let second = operator.call(Method::GET, &path, None).await?.expect(200)?;
    let pages = [&first, &second].map(|page| page.body["entries"].as_array().cloned());
    let pages: Vec<_> = pages.into_iter().flatten().flatten().collect();
    ensure!(pages == all && second.body["next"].is_null(), "{}", second.text);
    for wrong in ["?limit=0", "?of=x", "?from=soon", "?more=1"] {
        let reply = operator.call(Method::GET, &format!("/v1/audit{wrong}"), None).await?;
        expect_problem(&reply, 400, "invalid-request")?;
    }

    // Its own rooms; and of no room only an admin.
    ensure!(
        actions(&audit(&sales, "").await?)
            == ["patch_room", "patch_room", "patch_room", "put_room"]
    );
    ensure!(audit(&viewer, "").await?.len() == 5);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_cannot_be_noted_stays_and_is_counted() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let operator = deployment.operator();
    deployment.create_room("sale", &json!({})).await?;
    let mut connection = deployment.redis().connection().await?;
    let key = "vestibule:{deployment}:audit";
    redis::cmd("SET").arg(key).arg("no list").query_async::<()>(&mut connection).await?;
    operator.patch_room("sale", &json!({ "total_active_users": 4 })).await?.expect(200)?;
    let metrics = deployment.admin(Service::Controller, 0, "/metrics").await?.text;
    ensure!(metrics.contains("vestibule_audit_failed_total 1\n"), "{metrics}");
    let log = deployment.logs();
    ensure!(log.contains("is missing in the audit log"), "{log}");
    Ok(())
}

/// Whatever an operator calls an event or a label, what was changed is told, and of which thing it was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_name_hides_a_change_and_each_entry_says_of_what_it_is() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let operator = deployment.operator();
    deployment.create_room("sale", &json!({ "aws_style_api": true })).await?;
    operator.patch_room("sale", &json!({ "labels": { "password": "x" } })).await?.expect(200)?;
    let entry = newest(&operator, "patch_room").await?;
    ensure!(entry["after"]["labels"]["password"] == "x" && entry["subject"].is_null(), "{entry}");
    let start = deployment.redis().now_seconds().await? + 3_600;
    let event = json!({
        "event_start_time": start, "event_end_time": start + 600, "total_active_users": 7,
        "new_users_per_minute": 7,
    });
    let path = "/v1/rooms/sale/events/secret-sale";
    operator.call(Method::PUT, path, Some(&event)).await?.expect(201)?;
    let entry = newest(&operator, "put_event").await?;
    ensure!(entry["after"]["events"]["secret-sale"]["total_active_users"] == 7, "{entry}");
    ensure!(entry["subject"] == "event secret-sale", "{entry}");

    for (path, status) in [("/services/T0/hunter2", 201), ("/services/T0/hunter3", 200)] {
        let webhook = json!({ "url": format!("https://hooks.example:8443{path}") });
        let call = operator.call(Method::PUT, "/v1/webhooks/ops", Some(&webhook));
        call.await?.expect(status)?;
        let entry = newest(&operator, "put_webhook").await?;
        ensure!(entry["subject"] == "webhook ops", "{entry}");
        let hash = entry["after"]["url_rest_sha256"].as_str();
        ensure!(hash.is_some_and(|hash| hash.len() == 16), "{entry}");
        ensure!(entry["after"].get("url").is_none_or(|url| url == "https://hooks.example:8443"));
        ensure!(!entry.to_string().contains("hunter"), "whoever knows it may post: {entry}");
    }
    operator.call(Method::POST, "/v1/webhooks/ops/rotate-secret", None).await?.expect(200)?;
    let entry = newest(&operator, "rotate_webhook_secret").await?;
    let until = entry["after"]["old_secret_until"].as_str();
    ensure!(entry["subject"] == "webhook ops" && until.is_some_and(|until| until.ends_with('Z')));
    ensure!(!deployment.logs().contains("hunter"), "{}", deployment.logs());

    let aws = deployment.aws("sale");
    let id = aws.assign().await?;
    aws.serve(1).await?;
    let body = json!({ "event_id": "sale", "request_id": id, "status": 1 });
    aws.private("/generate_token", Some(&body)).await?.expect(200)?;
    aws.private("/update_session", Some(&body)).await?.expect(200)?;
    let visits = audit(&operator, "?of=visits").await?;
    ensure!(visits.len() == 2, "{visits:?}");
    ensure!(visits.iter().all(|entry| entry["subject"] == "session 1"), "{visits:?}");
    Ok(())
}

/// Redis takes what is to be written and says nothing: it may be done, and so it is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_which_nobody_knows_whether_it_was_made_is_noted() -> Result<()> {
    let deployment =
        Deployment::builder().environment("VESTIBULE_REDIS_TIMEOUT_MS", "500").start().await?;
    let operator = deployment.operator();
    deployment.create_room("sale", &json!({})).await?;
    let draft = json!({ "name": "ci", "role": "viewer" });
    operator.call(Method::POST, "/v1/tokens", Some(&draft)).await?.expect(201)?;
    let webhook = json!({ "url": "https://hooks.example/x" });
    operator.call(Method::PUT, "/v1/webhooks/ops", Some(&webhook)).await?.expect(201)?;
    let mut connection = deployment.redis().connection().await?;
    let [mut pause, go_on] = ["PAUSE", "UNPAUSE"].map(|what| {
        let mut command = redis::cmd("CLIENT");
        command.arg(what);
        command
    });
    pause.arg(600_000).arg("WRITE");
    for (method, path, body, subject) in [
        (Method::DELETE, "/v1/tokens/ci", None, "token ci"),
        (Method::PUT, "/v1/webhooks/new", Some(&webhook), "webhook new"),
        (Method::POST, "/v1/webhooks/ops/rotate-secret", None, "webhook ops"),
        (Method::DELETE, "/v1/webhooks/ops", None, "webhook ops"),
        (Method::POST, "/v1/keys/rotate?force=true", None, "rotate_keys"),
    ] {
        pause.query_async::<()>(&mut connection).await?;
        // A call that does not even get to writing, since the connection is being renewed, has changed nothing.
        eventually(SOON, "the audit log has it", || async {
            operator.call(method.clone(), path, body).await?.expect(503)?;
            let log = deployment.logs();
            let is_it = |line: &&str| line.contains("audit: changed") && line.contains(subject);
            let line = log.lines().rev().find(is_it);
            ensure!(line.is_some_and(|line| line.contains("status=503")), "nothing of {path}");
            Ok(())
        })
        .await?;
        go_on.query_async::<()>(&mut connection).await?;
        eventually(SOON, "redis", || async {
            operator.patch_room("sale", &json!({})).await?.expect(200).map(drop)
        })
        .await?;
    }
    Ok(())
}
