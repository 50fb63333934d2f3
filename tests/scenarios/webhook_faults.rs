//! Webhooks where something goes wrong: an event that is refused, one that is off, a Redis that has lost events, and other
//! controllers that come and go.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context, Result, ensure};
use redis::cmd;
use reqwest::Method;
use serde_json::{Value, json};
use vestibule_tests::{Answers, Deployment, Operator, Receiver, Service, eventually};

use crate::webhooks::{SOON, change, change_of, hook, told, told_of, watched};

/// Replaces the webhook `ops`, for this receiver.
async fn put(operator: &Operator, receiver: &Receiver, more: Value) -> Result<()> {
    let mut wanted = json!({ "url": receiver.url(), "allow_http": true });
    let members = wanted.as_object_mut().zip(more.as_object());
    members.context("no objects").map(|(wanted, more)| wanted.extend(more.clone()))?;
    operator.call(Method::PUT, "/v1/webhooks/ops", Some(&wanted)).await?.expect(200)?;
    Ok(())
}

/// Waits until it was told of this ceiling; it may not take as long as an answer may.
async fn told_ceiling(receiver: &Receiver, ceiling: u64) -> Result<()> {
    let is_it = |event: &Value| event["data"]["after"]["total_active_users"] == ceiling;
    eventually(Duration::from_secs(10), "a ceiling", || async {
        ensure!(receiver.events("room.limits_changed")?.iter().any(is_it), "not {ceiling}");
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_is_refused_holds_up_its_room_alone() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    for room in ["sale", "other"] {
        deployment.create_room(room, &json!({ "total_active_users": 5 })).await?;
    }
    let operator = deployment.operator();
    let receiver = Receiver::start(Answers::Gladly).await?;
    hook(&operator, "ops", &receiver, json!({})).await?;
    watched(&operator, &receiver).await?;
    receiver.refuse(r#""room":"sale""#);
    change(&operator, 7).await?;
    eventually(SOON, "a refusal", || async {
        ensure!(receiver.attempts().iter().any(|attempt| attempt.answer == Answers::Refusing));
        Ok(())
    })
    .await?;
    // Twice, since the first one might have been sent beside it.
    for ceiling in [11, 12] {
        change_of(&operator, "other", ceiling).await?;
        told_ceiling(&receiver, ceiling).await?;
    }
    let shown = told_of(&operator, "ops").await?;
    let delivery = &shown.body["delivery"];
    ensure!(delivery["held_up"] == 1 && delivery["put_aside"] == json!([]), "{delivery}");
    ensure!(delivery["failures"].as_u64() > Some(0), "{delivery}");
    ensure!(delivery["last_failure"].as_str().is_some_and(|it| it.contains("400")), "{delivery}");

    // While it is off, what happens is kept for it; and an operator may leave out what it has not been told.
    put(&operator, &receiver, json!({ "enabled": false })).await?;
    change_of(&operator, "other", 13).await?;
    // Whoever leads has seen that before it is changed again.
    let looks = || async {
        let written: BTreeMap<String, String> = cmd("HGETALL")
            .arg("vestibule:{deployment}:observed")
            .query_async(&mut deployment.redis().connection().await?)
            .await?;
        ensure!(written["room:other"].contains("13"), "{written:?}");
        Ok(())
    };
    eventually(SOON, "a look", looks).await?;
    change_of(&operator, "other", 14).await?;
    put(&operator, &receiver, json!({})).await?;
    told_ceiling(&receiver, 13).await?;
    told_ceiling(&receiver, 14).await?;
    ensure!(told_of(&operator, "ops").await?.body["delivery"]["held_up"] == 1);
    put(&operator, &receiver, json!({ "skip": true })).await?;
    eventually(SOON, "nothing that waits", || async {
        let shown = told_of(&operator, "ops").await?;
        ensure!(shown.body["delivery"]["held_up"] == 0, "{}", shown.text);
        Ok(())
    })
    .await?;
    change_of(&operator, "other", 15).await?;
    told_ceiling(&receiver, 15).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_has_lost_events_says_so_and_goes_on() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 5 })).await?;
    let operator = deployment.operator();
    // The head of an answer counts, and nobody waits for the rest.
    let receiver = Receiver::start(Answers::Endlessly).await?;
    hook(&operator, "ops", &receiver, json!({})).await?;
    watched(&operator, &receiver).await?;
    let delivery = told_of(&operator, "ops").await?.body["delivery"].take();
    ensure!(delivery["missed_at"].is_null() && delivery["failures"] == 0, "{delivery}");
    // Its clock was ahead, and it has gone back to before that.
    let mut redis = deployment.redis().connection().await?;
    let outbox = "vestibule:{deployment}:outbox";
    let ahead = ["9999999999999-0", "nth", "9000", "id", "", "kind", "", "room", "", "body", ""];
    let _: String = cmd("XADD").arg(outbox).arg(&ahead).query_async(&mut redis).await?;
    let passed = || async {
        let noted: String = cmd("HGET")
            .arg("vestibule:{deployment}:deliveries")
            .arg("ops")
            .query_async(&mut deployment.redis().connection().await?)
            .await?;
        ensure!(noted.contains("9999999999999-0"), "{noted}");
        Ok(())
    };
    eventually(SOON, "the cursor ahead", passed).await?;
    let _: u64 = cmd("DEL").arg(outbox).query_async(&mut redis).await?;
    change(&operator, 7).await?;
    told_ceiling(&receiver, 7).await?;
    let delivery = told_of(&operator, "ops").await?.body["delivery"].take();
    ensure!(delivery["missed_at"].is_string(), "{delivery}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_aws_style_room_does_by_itself_is_told_once_whoever_comes_and_goes() -> Result<()> {
    let mut deployment = Deployment::builder().controllers(2).start().await?;
    let settings = json!({
        "aws_style_api": true, "position_expiry_seconds": 5, "advance_on_position_expiry": true,
    });
    deployment.create_room("Sample", &settings).await?;
    let (aws, receiver) = (deployment.aws("Sample"), Receiver::start(Answers::Gladly).await?);
    let events = json!({ "events": ["automatic_serving_counter_incr", "waiting_room_metrics"] });
    hook(&deployment.operator(), "aws", &receiver, events).await?;
    told(&receiver, "waiting_room_metrics", 1).await?;
    for _ in 0..9 {
        aws.assign().await?;
    }
    aws.increment(3).await?;
    // Another list of members is another term of the one who leads.
    let other = 1 - deployment.leading().await?;
    deployment.kill(Service::Controller, other)?;
    let increments = told(&receiver, "automatic_serving_counter_incr", 1).await?;
    deployment.restart(Service::Controller, other).await?;
    let all = told(&receiver, "automatic_serving_counter_incr", 2).await?;
    let of = |event: &Value| {
        let data = &event["data"];
        let number = |name: &str| data[name].as_i64();
        let before = number("previous_serving_counter_position");
        (before, number("increment_by"), number("current_serving_counter_position"))
    };
    ensure!(increments[0]["room"] == "Sample", "{increments:?}");
    let moves: Vec<_> = all.iter().map(of).collect();
    let expected = [(Some(3), Some(3), Some(6)), (Some(6), Some(3), Some(9))];
    ensure!(moves == expected, "{moves:?}");

    let figures = receiver.events("waiting_room_metrics")?;
    let mut minutes: BTreeMap<String, usize> = BTreeMap::new();
    for event in &figures {
        let minute = event["timestamp"].as_str().context("no time")?[..16].to_owned();
        *minutes.entry(minute).or_default() += 1;
    }
    ensure!(minutes.values().all(|count| *count == 1), "{figures:?}");
    Ok(())
}
