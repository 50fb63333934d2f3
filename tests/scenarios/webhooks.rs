//! Webhooks: what receivers are told, that they can check it, and that each event reaches them at least once, whatever
//! fails meanwhile.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Context, Result, ensure};
use redis::cmd;
use reqwest::Method;
use serde_json::{Value, json};
use vestibule_tests::{Answers, Deployment, Operator, Receiver, Reply, Service, eventually};

use crate::rooms::expect_problem;

pub(crate) const SOON: Duration = Duration::from_secs(30);

/// Makes a webhook for this receiver; returns its secret.
pub(crate) async fn hook(
    operator: &Operator,
    name: &str,
    receiver: &Receiver,
    more: Value,
) -> Result<String> {
    let mut wanted = json!({ "url": receiver.url(), "allow_http": true });
    let members = wanted.as_object_mut().zip(more.as_object());
    members.context("no objects").map(|(wanted, more)| wanted.extend(more.clone()))?;
    let path = format!("/v1/webhooks/{name}");
    operator.call(Method::PUT, &path, Some(&wanted)).await?.expect(201)?.text_of("secret")
}

pub(crate) async fn told_of(operator: &Operator, name: &str) -> Result<Reply> {
    operator.call(Method::GET, &format!("/v1/webhooks/{name}"), None).await?.expect(200)
}

/// Has the room's ceiling changed, which is news.
pub(crate) async fn change(operator: &Operator, ceiling: u64) -> Result<()> {
    change_of(operator, "sale", ceiling).await
}

pub(crate) async fn change_of(operator: &Operator, room: &str, ceiling: u64) -> Result<()> {
    let limits = json!({ "total_active_users": ceiling });
    operator.patch_room(room, &limits).await?.expect(200)?;
    Ok(())
}

/// Waits until it was told so many events of this kind.
pub(crate) async fn told(receiver: &Receiver, kind: &str, least: usize) -> Result<Vec<Value>> {
    eventually(SOON, kind, || async {
        let events = receiver.events(kind)?;
        ensure!(events.len() >= least, "{:?}", receiver.attempts());
        Ok(events)
    })
    .await
}

/// Waits until whoever leads has seen the room as it is now, and this receiver was told.
pub(crate) async fn watched(operator: &Operator, receiver: &Receiver) -> Result<()> {
    for ceiling in 1_000.. {
        change(operator, ceiling).await?;
        let is_told = |event: &Value| event["data"]["after"]["total_active_users"] == ceiling;
        let looked = eventually(Duration::from_secs(3), "news of the room", || async {
            ensure!(receiver.events("room.limits_changed")?.iter().any(is_told));
            Ok(())
        });
        if looked.await.is_ok() {
            return Ok(());
        }
        ensure!(ceiling < 1_010, "nobody looks: {:?}", receiver.attempts());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_is_signed_and_sent_under_one_id_until_it_is_taken() -> Result<()> {
    let deployment = Deployment::builder().controllers(2).start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 5 })).await?;
    let operator = deployment.operator();
    let receiver = Receiver::start(Answers::Gladly).await?;
    let secret = hook(&operator, "ops", &receiver, json!({})).await?;
    watched(&operator, &receiver).await?;
    let before = receiver.attempts().len();

    receiver.answer_next(&[Answers::Badly, Answers::Elsewhere]);
    change(&operator, 7).await?;
    let events = eventually(SOON, "the third attempt", || async {
        let attempts = receiver.attempts().split_off(before);
        ensure!(attempts.len() == 3, "{attempts:?}");
        Ok(attempts)
    })
    .await?;
    let ids: BTreeSet<_> = events.iter().map(|attempt| &attempt.id).collect();
    ensure!(ids.len() == 1 && events[0].id.starts_with("msg_"), "{ids:?}");
    ensure!(events.iter().all(|attempt| attempt.body == events[0].body));
    ensure!(events[0].timestamp < events[2].timestamp, "each attempt has a time of its own");
    for attempt in &events {
        attempt.expect_signed_by(&secret)?;
    }
    let event: Value = serde_json::from_str(&events[0].body)?;
    ensure!(event["type"] == "room.limits_changed" && event["data"]["room"] == "sale", "{event}");
    ensure!(event["data"]["after"]["total_active_users"] == 7, "{event}");

    let shown = told_of(&operator, "ops").await?;
    ensure!(!shown.text.contains(&secret), "{}", shown.text);
    let delivery = &shown.body["delivery"];
    ensure!(delivery["failures"] == 0 && delivery["last_told_at"].is_string(), "{delivery}");
    let failure = delivery["last_failure"].as_str().unwrap_or_default();
    ensure!(failure.contains("307") && failure.contains("not followed"), "{failure}");

    // For a day both secrets sign.
    let path = "/v1/webhooks/ops/rotate-secret";
    let rotated = operator.call(Method::POST, path, None).await?.expect(200)?.text_of("secret")?;
    ensure!(rotated != secret, "{rotated}");
    let tested = operator.call(Method::POST, "/v1/webhooks/ops/test", None).await?.expect(200)?;
    ensure!(tested.body["told"] == true, "{}", tested.text);
    let last = receiver.attempts().pop().context("no attempt")?;
    ensure!(last.id == tested.text_of("id")? && last.body.contains("webhook.test"), "{last:?}");
    last.expect_signed_by(&secret)?;
    last.expect_signed_by(&rotated)?;

    // Neither Redis nor a log has a secret.
    let mut redis = deployment.redis().connection().await?;
    let kept: String =
        cmd("GET").arg("vestibule:{deployment}:webhooks").query_async(&mut redis).await?;
    let logs = deployment.logs();
    for secret in [&secret, &rotated] {
        ensure!(!kept.contains(&secret[6..]) && !logs.contains(&secret[6..]));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_leads_next_goes_on_where_the_last_one_stopped() -> Result<()> {
    const CHANGES: u64 = 8;
    let mut deployment = Deployment::builder().controllers(2).start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 5 })).await?;
    let operator = deployment.operator();
    let receiver = Receiver::start(Answers::Gladly).await?;
    let slow = Receiver::start(Answers::Never).await?;
    let secret = hook(&operator, "ops", &receiver, json!({})).await?;
    hook(&operator, "slow", &slow, json!({})).await?;
    watched(&operator, &receiver).await?;
    // Nobody waits for one that does not answer: `watched` gives up sooner than that is given up.
    ensure!(!slow.attempts().is_empty());
    let before = receiver.events("room.limits_changed")?.len();

    let other = 1 - deployment.leading().await?;
    for ceiling in 1..=CHANGES {
        let dies = ceiling == CHANGES / 2;
        if dies {
            receiver.answer(Answers::Badly);
        }
        change(&deployment.operator_at(other), ceiling).await?;
        if dies {
            // It has sent what was not taken, and nobody but Redis knows how far it got.
            let failed = || async {
                let attempts = receiver.attempts();
                ensure!(attempts.iter().any(|attempt| attempt.answer == Answers::Badly));
                Ok(())
            };
            eventually(SOON, "a failure", failed).await?;
            deployment.kill(Service::Controller, 1 - other)?;
            receiver.answer(Answers::Gladly);
        }
        let so_far = usize::try_from(ceiling)?;
        told(&receiver, "room.limits_changed", before + so_far).await?;
    }
    let all = told(&receiver, "room.limits_changed", before + usize::try_from(CHANGES)?).await?;
    let ceilings =
        all[before..].iter().map(|event| event["data"]["after"]["total_active_users"].as_u64());
    let ceilings: Vec<_> = ceilings.collect();
    let expected: Vec<_> = (1..=CHANGES).map(Some).collect();
    ensure!(ceilings == expected, "{ceilings:?}");
    for attempt in receiver.attempts() {
        attempt.expect_signed_by(&secret)?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_alarm_is_told_though_redis_has_lost_the_webhooks() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    deployment.create_room("sale", &json!({})).await?;
    let operator = deployment.operator();
    let receiver = Receiver::start(Answers::Gladly).await?;
    let secret = hook(&operator, "ops", &receiver, json!({})).await?;
    watched(&operator, &receiver).await?;
    deployment.redis().flush().await?;
    let alarms = told(&receiver, "alarm.firing", 1).await?;
    let data = &alarms[0]["data"];
    ensure!(data["alarm"] == "VestibuleRedisRewound" && data["severity"] == "warning", "{data}");
    ensure!(data["runbook"] == "docs/runbooks/VestibuleRedisRewound.md", "{data}");
    told_of(&operator, "ops").await?;
    receiver.attempts().pop().context("no attempt")?.expect_signed_by(&secret)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_events_of_aws_style_rooms_are_the_originals() -> Result<()> {
    let deployment = Deployment::builder().controllers(2).start().await?;
    let settings = json!({ "total_active_users": 5, "aws_style_api": true });
    deployment.create_room("Sample", &settings).await?;
    deployment.create_room("other", &json!({ "aws_style_api": false })).await?;
    let (aws, operator) = (deployment.aws("Sample"), deployment.operator());
    let receiver = Receiver::start(Answers::Gladly).await?;
    let events = json!({ "events": [
        "token_generated", "session_updated", "automatic_serving_counter_incr", "waiting_room_metrics",
    ] });
    hook(&operator, "aws", &receiver, events).await?;
    // Told at once, and then once a minute: so every service has heard of the webhook soon after that.
    let figures = told(&receiver, "waiting_room_metrics", 1).await?;
    let expected = json!({
        "event_id": "Sample", "num_active_tokens": 0, "total_num_tokens": "0", "queue_counter": "0",
        "serving_number": figures[0]["data"]["serving_number"], "completed_sessions": "0",
        "abandoned_sessions": "0",
    });
    ensure!(figures[0]["data"] == expected && figures[0]["data"]["serving_number"].is_string());
    ensure!(figures.len() == 1, "{figures:?}: of no other room");

    let enter = async || {
        let request = aws.assign().await?;
        let entered = || async { aws.generate_token(&request).await?.expect(200) };
        eventually(SOON, "a token", entered).await?;
        aws.generate_token(&request).await?.expect(200)?;
        Ok::<_, anyhow::Error>(request)
    };
    // Who entered before every service had heard of it is not told.
    let request = eventually(SOON, "an event of a token", || async {
        let request = enter().await?;
        let is_told = |event: &Value| event["data"]["request_id"] == *request;
        let told = || async {
            ensure!(receiver.events("token_generated")?.iter().any(is_told));
            Ok(())
        };
        eventually(Duration::from_secs(2), "the event", told).await?;
        Ok(request)
    })
    .await?;
    let tokens = receiver.events("token_generated")?;
    let of_request = tokens.iter().filter(|event| event["data"]["request_id"] == *request);
    let of_request: Vec<_> = of_request.collect();
    ensure!(of_request.len() == 1, "{of_request:?}: the first tokens alone");
    ensure!(of_request[0]["data"] == json!({ "event_id": "Sample", "request_id": request }));

    // Seats are for some of them, and one more with each that comes free.
    for _ in 0..10 {
        aws.assign().await?;
    }
    aws.update_session(&request, 1).await?.expect(200)?;
    let updated = told(&receiver, "session_updated", 1).await?;
    let expected = json!({ "event_id": "Sample", "request_id": request, "status": "completed" });
    ensure!(updated[0]["data"] == expected, "{updated:?}");
    let increments = told(&receiver, "automatic_serving_counter_incr", 1).await?;
    let number = |name: &str| increments[0]["data"][name].as_i64().context("no number");
    let before = number("previous_serving_counter_position")?;
    ensure!(before + number("increment_by")? == number("current_serving_counter_position")?);

    let status = operator.status("Sample").await?;
    ensure!(status.number("completed_sessions")? == 1 && status.number("abandoned_sessions")? == 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_admins_make_webhooks_and_what_is_wrong_is_said() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let operator = deployment.operator();
    let receiver = Receiver::start(Answers::Gladly).await?;
    let put = async |name: &str, body: Value| {
        operator.call(Method::PUT, &format!("/v1/webhooks/{name}"), Some(&body)).await
    };
    for (body, field) in [
        (json!({ "url": receiver.url() }), "allow_http"),
        (json!({ "url": "https://169.254.169.254/" }), "link-local"),
        (json!({ "url": "http://93.184.216.34/", "allow_http": true }), "private network"),
        (json!({ "url": "https://a.example/", "events": ["all"] }), "room.queueing_began"),
        (json!({ "url": "https://a.example/", "secret": "whsec_c2hvcnQ=" }), "24 to 64"),
    ] {
        let refused = put("ops", body).await?;
        expect_problem(&refused, 400, "invalid-request")?;
        ensure!(
            refused.text.contains(field) && !refused.text.contains("c2hvcnQ"),
            "{}",
            refused.text
        );
    }
    expect_problem(
        &put("a.b", json!({ "url": "https://a.example/" })).await?,
        400,
        "invalid-request",
    )?;
    let draft = json!({ "name": "ci", "role": "operator" });
    let made = operator.call(Method::POST, "/v1/tokens", Some(&draft)).await?.expect(201)?;
    let ci = operator.with_token(&made.text_of("token")?);
    expect_problem(&ci.call(Method::GET, "/v1/webhooks", None).await?, 403, "forbidden")?;

    let given = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    for nth in 0..16 {
        let body = json!({ "url": receiver.url(), "allow_http": true, "secret": given });
        let made = put(&format!("w{nth}"), body).await?.expect(201)?;
        ensure!(!made.text.contains(given) && made.body["secret"].is_null(), "{}", made.text);
    }
    let more = put("one-more", json!({ "url": "https://a.example/" })).await?;
    expect_problem(&more, 409, "conflict")?;
    operator.call(Method::DELETE, "/v1/webhooks/w15", None).await?.expect(204)?;
    let gone = operator.call(Method::GET, "/v1/webhooks/w15", None).await?;
    expect_problem(&gone, 404, "webhook-not-found")?;
    let listed = operator.call(Method::GET, "/v1/webhooks", None).await?.expect(200)?;
    ensure!(listed.body["webhooks"].as_array().is_some_and(|all| all.len() == 15));
    let audit = operator.call(Method::GET, "/v1/audit", None).await?.expect(200)?;
    ensure!(audit.text.contains("put_webhook") && !audit.text.contains(&given[6..]));

    // Who wants nothing any more is told nothing any more, until an operator says so.
    receiver.answer(Answers::Gone);
    deployment.create_room("sale", &json!({ "total_active_users": 5 })).await?;
    let mut ceiling = 5;
    eventually(SOON, "a webhook that is off", || {
        ceiling += 1;
        let (operator, ceiling) = (&operator, ceiling);
        async move {
            change(operator, ceiling).await?;
            let shown = told_of(operator, "w3").await?;
            ensure!(shown.text_of("disabled_because")?.contains("410"), "{}", shown.text);
            Ok(())
        }
    })
    .await?;
    let again =
        put("w3", json!({ "url": receiver.url(), "allow_http": true })).await?.expect(200)?;
    ensure!(again.body["disabled_at"].is_null() && again.body["enabled"] == true, "{}", again.text);
    Ok(())
}
