//! Inlets: the counter moves by itself, once in a period, whoever dies; and in the place of those who have left, and never
//! too far, whoever tells it and how often.

use std::time::Duration;

use anyhow::{Result, ensure};
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::{Value, json};
use vestibule_tests::{
    Answers, Aws, AwsSigner, Deployment, Operator, Receiver, Reply, Service, SnsTopic, eventually,
};

use crate::{rooms::expect_problem, webhooks::hook};

const SOON: Duration = Duration::from_secs(30);
const INLET: &str = "/v1/rooms/Sample/inlet";

async fn report(operator: &Operator, body: &Value) -> Result<Reply> {
    operator.call(Method::POST, INLET, Some(body)).await
}

/// By how much a report moves the counter.
async fn moves(operator: &Operator, body: &Value) -> Result<u64> {
    report(operator, body).await?.expect(200)?.number("incremented_by")
}

async fn serving(operator: &Operator, room: &str) -> Result<i64> {
    operator.status(room).await?.signed("serving_counter")
}

/// Waits until the counter has moved so far.
async fn reaches(operator: &Operator, room: &str, least: i64) -> Result<()> {
    eventually(SOON, "the counter moves", || async {
        let stands = serving(operator, room).await?;
        ensure!(stands >= least, "it stands at {stands}");
        Ok(())
    })
    .await
}

/// So many visitors take a place, and enter.
async fn enter(aws: &Aws, count: usize) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    for _ in 0..count {
        ids.push(aws.assign().await?);
    }
    for id in &ids {
        eventually(SOON, "a token", || async { aws.generate_token(id).await?.expect(200) }).await?;
    }
    Ok(ids)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_period_moves_the_counter_once_though_controllers_die() -> Result<()> {
    let mut deployment = Deployment::builder().controllers(3).start().await?;
    let start = Timestamp::now().as_second();
    let inlet = json!({ "periodic_inlet": { "increment": 1, "start": start, "every_seconds": 1 } });
    deployment.create_room("Sample", &inlet).await?;
    let operator = deployment.operator();
    for (index, least) in [(0, 3), (1, 5)] {
        reaches(&operator, "Sample", least).await?;
        deployment.kill(Service::Controller, index)?;
    }
    reaches(&deployment.operator_at(2), "Sample", 7).await?;
    let stands = serving(&deployment.operator_at(2), "Sample").await?;
    let periods = Timestamp::now().as_second() - start + 1;
    ensure!(stands <= periods, "{stands} in {periods} periods");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_alarm_stops_the_periods_and_another_room_goes_on() -> Result<()> {
    let topic = SnsTopic::new("alarms")?;
    let folder = topic.certificates().display().to_string();
    let builder = Deployment::builder().controllers(2);
    let deployment = builder.environment("VESTIBULE_SNS_CERTIFICATES", &folder).start().await?;
    let room = json!({
        "periodic_inlet": { "increment": 1, "every_seconds": 1 }, "sns_topics": [topic.arn],
    });
    deployment.create_room("Sample", &room).await?;
    deployment.create_room("Other", &room).await?;
    let (operator, path) = (deployment.operator(), format!("{INLET}/alarm"));
    let stays = async || {
        let stands = serving(&operator, "Sample").await?;
        reaches(&operator, "Other", serving(&operator, "Other").await? + 3).await?;
        assert_eq!(serving(&operator, "Sample").await?, stands);
        anyhow::Ok(())
    };
    reaches(&operator, "Sample", 1).await?;
    let alarm = json!({ "state": "ALARM" });
    let set = operator.call(Method::PUT, &path, Some(&alarm)).await?.expect(200)?;
    assert_eq!(set.body["state"], "ALARM");
    stays().await?;
    let read = operator.call(Method::GET, INLET, None).await?.expect(200)?;
    assert_eq!(read.body["alarm"], set.body);
    // What CloudWatch tells by way of SNS is the same.
    let told = |state: &str| json!({ "AlarmName": "busy", "NewStateValue": state });
    let fine = topic.notification(&told("OK"))?;
    let taken = topic.post(deployment.controllers(), "Sample", &fine).await?.expect(200)?;
    assert_eq!(taken.body["alarm"]["state"], "OK");
    reaches(&operator, "Sample", serving(&operator, "Sample").await? + 2).await?;
    let again = topic.notification(&told("ALARM"))?;
    topic.post(deployment.controllers(), "Sample", &again).await?.expect(200)?;
    let late = topic.post(deployment.controllers(), "Sample", &fine).await?.expect(200)?;
    assert_eq!(late.body["alarm"]["state"], "ALARM", "it was told before");
    stays().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_who_left_are_replaced_and_never_by_too_many() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    deployment.create_room("Sample", &json!({ "max_size_inlet": { "max_size": 10 } })).await?;
    let (operator, aws) = (deployment.operator(), deployment.aws("Sample"));
    let receiver = Receiver::start(Answers::Gladly).await?;
    let kind = "automatic_serving_counter_incr";
    hook(&operator, "shop", &receiver, json!({ "events": [kind] })).await?;
    // Three messages at once: nobody has a token yet.
    let five = json!({ "exited": "5" });
    let all = [moves(&operator, &five), moves(&operator, &five), moves(&operator, &five)];
    let moved: u64 = futures_util::future::try_join_all(all).await?.iter().sum();
    assert_eq!((moved, aws.serving().await?), (10, 10));
    let ids = enter(&aws, 10).await?;
    assert_eq!(moves(&operator, &json!({ "exited": 3 })).await?, 0, "it is full");
    let gone = json!({
        "completed": [ids[0], ids[1], ids[0], "nonsense"], "abandoned": [ids[2]],
    });
    let first = report(&operator, &gone).await?.expect(200)?;
    let expected = json!({
        "updated": 3, "completed": 2, "abandoned": 1, "incremented_by": 3, "serving_counter": 13,
        "active": 7, "awaited": 0, "repeated": false,
    });
    assert_eq!(first.body, expected);
    let second = report(&operator, &gone).await?.expect(200)?;
    assert_eq!((&second.body["updated"], &second.body["incremented_by"]), (&json!(0), &json!(0)));
    assert_eq!(aws.active_tokens().await?, 7);
    // Under a name it counts once, and without it, twice.
    enter(&aws, 3).await?;
    let left = json!({ "completed": [ids[3], ids[4]] });
    let named = |path: &'static str| aws.private_once(path, "left-1", &left);
    let first = named(INLET).await?.expect(200)?;
    let again = named(INLET).await?.expect(200)?;
    assert_eq!((first.number("incremented_by")?, again.number("incremented_by")?), (2, 2));
    assert_eq!(again.body["repeated"], true);
    assert_eq!(serving(&operator, "Sample").await?, 15);
    // Webhooks are told of each move, once the leader has heard that there is one.
    for (id, serving) in ids[5..].iter().zip(16..) {
        assert_eq!(moves(&operator, &json!({ "completed": [id] })).await?, 1);
        let is_told = || async {
            let told = receiver.events(kind)?;
            let position =
                |event: &Value| event["data"]["current_serving_counter_position"].clone();
            ensure!(told.iter().any(|event| position(event) == serving), "{told:?}");
            Ok(())
        };
        if eventually(Duration::from_secs(3), "the event", is_told).await.is_ok() {
            return Ok(());
        }
    }
    anyhow::bail!("a webhook is not told what the inlet does: {:?}", receiver.events(kind)?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reports_are_signed_as_the_original_signs_its_calls_or_refused() -> Result<()> {
    let builder =
        Deployment::builder().environment("VESTIBULE_SIGV4_KEYS", "AKID:0123456789abcdef0123");
    let deployment = builder.start().await?;
    deployment.create_room("Sample", &json!({ "max_size_inlet": { "max_size": 10 } })).await?;
    let body = json!({ "exited": 2 });
    let signed = async |secret| {
        let signer = AwsSigner::new("AKID", secret);
        Reply::of(signer.request(deployment.controllers(), INLET, Some(&body))?).await
    };
    assert_eq!(signed("0123456789abcdef0123").await?.expect(200)?.number("incremented_by")?, 2);
    expect_problem(&signed("another-secret-of-20").await?, 401, "unauthorized")?;
    let operator = deployment.operator();
    let many: Vec<_> = (0..1_001).map(|nth| nth.to_string()).collect();
    let many = report(&operator, &json!({ "completed": many })).await?;
    expect_problem(&many, 400, "invalid-request")?;
    ensure!(many.text.contains("at most 1000"), "{}", many.text);
    for wrong in [json!({ "exited": -1 }), json!({ "exited": "x" }), json!({ "completed": "x" })] {
        expect_problem(&report(&operator, &wrong).await?, 400, "invalid-request")?;
    }
    deployment.create_room("Plain", &json!({})).await?;
    let none = operator.call(Method::POST, "/v1/rooms/Plain/inlet", Some(&body)).await?;
    expect_problem(&none, 409, "conflict")?;
    let inlet = json!({ "periodic_inlet": { "increment": 1 } });
    for limit in [json!({ "total_active_users": 5 }), json!({ "new_users_per_minute": 5 })] {
        operator.patch_room("Plain", &limit).await?.expect(200)?;
        expect_problem(&operator.patch_room("Plain", &inlet).await?, 400, "invalid-request")?;
        operator.put_room("Plain", &json!({})).await?.expect(200)?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_sns_has_signed_counts_once_and_nothing_else_counts() -> Result<()> {
    let (topic, other) = (SnsTopic::new("exits")?, SnsTopic::new("others")?);
    let folder = topic.certificates().display().to_string();
    let builder = Deployment::builder().controllers(2);
    let deployment = builder.environment("VESTIBULE_SNS_CERTIFICATES", &folder).start().await?;
    let room = json!({ "max_size_inlet": { "max_size": 10 }, "sns_topics": [topic.arn] });
    deployment.create_room("Sample", &room).await?;
    deployment.create_room("Plain", &json!({})).await?;
    let controllers = deployment.controllers();
    let exits = json!({ "exited": 4 });
    let message = topic.notification(&exits)?;
    for repeated in [false, true] {
        let taken = topic.post(controllers, "Sample", &message).await?.expect(200)?;
        let exits = &taken.body["exits"];
        assert_eq!((&exits["incremented_by"], &exits["repeated"]), (&json!(4), &json!(repeated)));
    }
    let altered = |field: &str, value: &str| {
        let mut altered = message.clone();
        altered[field] = value.into();
        altered
    };
    let late = Timestamp::now() - SignedDuration::from_secs(3_700);
    for wrong in [
        altered("Message", r#"{"exited":5}"#),
        altered("MessageId", "22b80b92-fdea-4c2c-8f9d-000000000099"),
        altered("TopicArn", &other.arn),
        altered("SigningCertURL", "https://evil.example/x.pem"),
        altered("SigningCertURL", "https://sns.eu-west-1.amazonaws.com/x.pem"),
        other.notification(&exits)?,
        topic.notification_at(&exits, late)?,
        // Of a topic that is believed, by a key that is not its own.
        {
            let mut forged = other.notification(&exits)?;
            forged["TopicArn"] = json!(topic.arn);
            forged
        },
    ] {
        let refused = topic.post(controllers, "Sample", &wrong).await?;
        expect_problem(&refused, 403, "unbelieved-message")?;
    }
    let raw = topic.post(controllers, "Sample", &exits).await?;
    expect_problem(&raw, 400, "invalid-request")?;
    let text = topic.notification(&json!("hello"))?;
    expect_problem(&topic.post(controllers, "Sample", &text).await?, 400, "invalid-request")?;
    expect_problem(&topic.post(controllers, "Plain", &message).await?, 404, "not-found")?;
    expect_problem(&topic.post(controllers, "Other", &message).await?, 404, "room-not-found")?;
    let operator = deployment.operator();
    assert_eq!(serving(&operator, "Sample").await?, 4);
    let log = operator.call(Method::GET, "/v1/audit?room=Sample&of=visits", None).await?;
    ensure!(log.text.contains("sns:exits"), "{}", log.text);
    Ok(())
}
