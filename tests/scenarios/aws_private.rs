//! The AWS-style private calls: who may make them, what they do, and what they answer.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use vestibule_tests::{Aws, Deployment, Reply};

use crate::aws_matrix::{expect_error, expect_message};

const INVALID_EVENT: &str = "Invalid event ID";
const INVALID_EVENT_OR_REQUEST: &str = "Invalid event or request ID";
const NO_SESSION: &str = "Request ID doesn't exist or status already set.";
const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

async fn sample() -> Result<(Deployment, Aws)> {
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    deployment.create_room("Sample", &json!({})).await?;
    let aws = deployment.aws("Sample");
    Ok((deployment, aws))
}

fn increment(event: &str, by: &Value) -> Value {
    json!({ "event_id": event, "increment_by": by })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_without_the_token_and_both_prefixes() -> Result<()> {
    let (deployment, aws) = sample().await?;
    let one = increment("Sample", &json!(1));
    let event = json!({ "event_id": "Sample" });
    for (call, body) in [
        ("/increment_serving_counter", Some(&one)),
        ("/reset_initial_state", Some(&event)),
        ("/num_active_tokens?event_id=Sample", None),
        ("/expired_tokens?event_id=Sample", None),
    ] {
        for path in [call.to_owned(), format!("/api{call}")] {
            let refused = aws.private_anonymous(&path, body).await?;
            ensure!(matches!(refused.status, 401 | 403), "{path}: {}", refused.status);
        }
    }
    assert_eq!(aws.serving().await?, 0);
    let wrong = Aws::new(
        deployment.admissions().clone(),
        deployment.controllers().clone(),
        "not-the-token",
        "Sample",
    );
    let refused = wrong.private("/api/increment_serving_counter", Some(&one)).await?;
    ensure!(matches!(refused.status, 401 | 403), "{}", refused.status);
    for (path, serving) in
        [("/increment_serving_counter", 1), ("/api/increment_serving_counter", 2)]
    {
        let reply = aws.private(path, Some(&one)).await?.expect(200)?;
        assert_eq!(reply.body, json!({ "serving_num": serving }));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn increments_of_every_kind() -> Result<()> {
    let (deployment, aws) = sample().await?;
    let path = "/api/increment_serving_counter";
    for (by, serving) in [(3, 3), (0, 3), (-1, 2), (-99, -97), (100_000, 99_903)] {
        let reply = aws.private(path, Some(&increment("Sample", &json!(by)))).await?;
        assert_eq!(reply.expect(200)?.body, json!({ "serving_num": serving }), "by {by}");
    }
    let wrong_event = aws.private(path, Some(&increment("Other", &json!(1)))).await?;
    expect_error(&wrong_event, 400, INVALID_EVENT)?;
    for by in [json!(1.5), json!("2"), json!(null), json!(1e300)] {
        let reply = aws.private(path, Some(&increment("Sample", &by))).await?;
        ensure!((400..500).contains(&reply.status), "by {by}: {} {}", reply.status, reply.text);
    }
    expect_message(&aws.private(path, Some(&json!({ "event_id": "Sample" }))).await?, 400)?;
    assert_eq!(aws.increment(0).await?, 99_903);
    // A browser's plain POST has no JSON content type.
    let url = deployment.controllers().at(path)?;
    let request = deployment.controllers().http().post(url).header("content-type", "text/plain");
    let body = increment("Sample", &json!(-3)).to_string();
    let reply = Reply::of(request.bearer_auth(deployment.secrets()[1]).body(body)).await?;
    assert_eq!(reply.expect(200)?.body, json!({ "serving_num": 99_900 }));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_end_once() -> Result<()> {
    let (_deployment, aws) = sample().await?;
    let (done, gone, queued) = (aws.assign().await?, aws.assign().await?, aws.assign().await?);
    aws.serve(2).await?;
    expect_error(&aws.update_session(&done, 1).await?, 404, NO_SESSION)?;
    aws.generate_token(&done).await?.expect(200)?;
    aws.generate_token(&gone).await?.expect(200)?;
    assert_eq!(aws.active_tokens().await?, 2);
    for status in [0, 5, -2] {
        let reply = aws.update_session(&done, status).await?;
        ensure!((400..500).contains(&reply.status), "{status}: {}", reply.status);
    }
    assert_eq!(aws.active_tokens().await?, 2, "a status that means nothing ended a session");
    let ended = aws.update_session(&done, 1).await?.expect(200)?;
    let metadata = &ended.body["ResponseMetadata"];
    ensure!(metadata["HTTPStatusCode"] == 200 && metadata["RetryAttempts"] == 0, "{}", ended.text);
    aws.update_session(&gone, -1).await?.expect(200)?;
    for (id, status) in [(&done, 1), (&done, -1), (&gone, 1), (&queued, -1)] {
        expect_error(&aws.update_session(id, status).await?, 404, NO_SESSION)?;
    }
    expect_error(&aws.update_session(UNKNOWN, 1).await?, 404, NO_SESSION)?;
    expect_error(&aws.update_session("nonsense", 1).await?, 400, INVALID_EVENT_OR_REQUEST)?;
    let other = aws.of("Other").update_session(&done, 1).await?;
    expect_error(&other, 400, INVALID_EVENT_OR_REQUEST)?;
    assert_eq!(aws.active_tokens().await?, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_private_token_may_have_its_own_issuer_and_validity() -> Result<()> {
    let (deployment, aws) = sample().await?;
    let id = aws.assign().await?;
    aws.serve(1).await?;
    let body = json!({
        "event_id": "Sample", "request_id": id, "issuer": "https://login.example/oidc",
        "validity_period": 120,
    });
    let first = aws.private("/api/generate_token", Some(&body)).await?.expect(200)?;
    let access = first.text_of("access_token")?;
    let claims = deployment.verifier().await?.verify(&access, "Sample")?;
    assert_eq!((claims.iss.as_str(), claims.exp - claims.iat), ("https://login.example/oidc", 120));
    // What was fixed the first time stays, whoever asks.
    assert_eq!(aws.generate_token(&id).await?.text_of("access_token")?, access);
    let other = json!({ "event_id": "Sample", "request_id": id, "validity_period": 9 });
    let again = aws.private("/api/generate_token", Some(&other)).await?.expect(200)?;
    assert_eq!(again.text_of("access_token")?, access);
    let wrong = json!({ "event_id": "Other", "request_id": id });
    let wrong = aws.private("/api/generate_token", Some(&wrong)).await?;
    expect_error(&wrong, 400, INVALID_EVENT_OR_REQUEST)
}

/// Both calls refuse what is no text and no number, as the original's model of them does; only the private one goes by it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_issuer_is_a_text_and_a_validity_a_number() -> Result<()> {
    let (deployment, aws) = sample().await?;
    let id = aws.assign().await?;
    aws.serve(1).await?;
    for (field, wrong) in [("issuer", json!(5)), ("validity_period", json!("60"))] {
        let body = json!({ "event_id": "Sample", "request_id": id, field: wrong });
        expect_message(&aws.post("/generate_token", &body).await?, 400)?;
        expect_message(&aws.private("/api/generate_token", Some(&body)).await?, 400)?;
    }
    let body = json!({
        "event_id": "Sample", "request_id": id, "issuer": "https://x.example", "validity_period": 0.5,
    });
    let token = aws.post("/generate_token", &body).await?.expect(200)?.text_of("access_token")?;
    let claims = deployment.verifier().await?.verify(&token, "Sample")?;
    ensure!(claims.iss != "https://x.example" && claims.exp - claims.iat == 3_600, "{claims:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_of_events_that_are_not_here() -> Result<()> {
    let (_deployment, aws) = sample().await?;
    for call in ["num_active_tokens", "expired_tokens"] {
        let reply = aws.private(&format!("/api/{call}?event_id=Other"), None).await?;
        expect_error(&reply, 400, INVALID_EVENT)?;
        expect_message(&aws.private(&format!("/api/{call}"), None).await?, 400)?;
    }
    let list = aws.private("/api/expired_tokens?event_id=Sample", None).await?.expect(200)?;
    assert_eq!(list.body, json!([]));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_begins_anew_and_keeps_the_keys() -> Result<()> {
    let (deployment, aws) = sample().await?;
    let keys = deployment.verifier().await?.key_ids();
    let id = aws.assign().await?;
    aws.serve(5).await?;
    aws.generate_token(&id).await?.expect(200)?;
    let path = "/api/reset_initial_state";
    let reply = aws.private(path, Some(&json!({ "event_id": "Sample" }))).await?.expect(200)?;
    ensure!(reply.text_of("message")?.starts_with("It may take a minute or two"), "{}", reply.text);
    vestibule_tests::eventually(std::time::Duration::from_secs(10), "the reset", || async {
        ensure!(aws.serving().await? == 0, "still serving");
        expect_error(&aws.generate_token(&id).await?, 400, "Invalid request ID")?;
        expect_error(&aws.request_get("/queue_num", &id).await?, 202, "Request ID not found")
    })
    .await?;
    assert_eq!(aws.active_tokens().await?, 0);
    expect_message(&aws.private(path, Some(&json!({}))).await?, 400)?;
    assert_eq!(aws.queue_number(&aws.assign().await?).await?, 1);
    assert_eq!(deployment.verifier().await?.key_ids(), keys);
    Ok(())
}
