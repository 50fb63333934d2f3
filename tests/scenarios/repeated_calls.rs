//! Operators' calls that are sent again under their `Idempotency-Key` take effect once, though Redis has lost everything
//! meanwhile.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use vestibule_tests::{Aws, Deployment, eventually};

const BACK: Duration = Duration::from_secs(40);
const INLET: &str = "/v1/rooms/Sample/inlet";
const INCREMENT: &str = "/api/increment_serving_counter";
const RESET: &str = "/api/reset_initial_state";

/// A room of two controllers whose counter moves when people leave, or by hand.
async fn deployment() -> Result<(Deployment, Aws)> {
    let deployment = Deployment::builder().controllers(2).start().await?;
    let settings = json!({ "max_size_inlet": { "max_size": 100 }, "aws_style_api": true });
    deployment.create_room("Sample", &settings).await?;
    let aws = deployment.aws("Sample");
    Ok((deployment, aws))
}

/// Redis loses everything, and the room comes back.
async fn lose_everything(deployment: &Deployment) -> Result<()> {
    deployment.redis().flush().await?;
    let operator = deployment.operator();
    eventually(BACK, "the room", || async { operator.status("Sample").await.map(drop) }).await
}

/// Sends a call twice to each controller; returns what all answers say but whether they repeat one.
async fn repeat(aws: &Aws, path: &str, key: &str, body: &Value) -> Result<Value> {
    let mut answers = Vec::new();
    for _ in 0..4 {
        let mut answer = aws.private_once(path, key, body).await?.expect(200)?.body;
        answer.as_object_mut().map(|members| members.remove("repeated"));
        answers.push(answer);
    }
    answers.dedup();
    ensure!(answers.len() == 1, "{answers:?}");
    Ok(answers.remove(0))
}

async fn serving(deployment: &Deployment) -> Result<i64> {
    deployment.operator().status("Sample").await?.signed("serving_counter")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_increment_and_a_report_count_once_though_redis_is_wiped() -> Result<()> {
    let (deployment, aws) = deployment().await?;
    let five = json!({ "event_id": "Sample", "increment_by": 5 });
    let three = json!({ "exited": 3 });
    let before = repeat(&aws, INCREMENT, "five", &five).await?;
    let reported = repeat(&aws, INLET, "three", &three).await?;
    assert_eq!(serving(&deployment).await?, 8);
    for _ in 0..2 {
        lose_everything(&deployment).await?;
        assert_eq!(repeat(&aws, INCREMENT, "five", &five).await?, before);
        assert_eq!(repeat(&aws, INLET, "three", &three).await?, reported);
        assert_eq!(serving(&deployment).await?, 8);
    }
    repeat(&aws, INCREMENT, "another", &five).await?;
    assert_eq!(serving(&deployment).await?, 13);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_is_done_once_though_redis_is_wiped() -> Result<()> {
    let (deployment, aws) = deployment().await?;
    aws.queue_number(&aws.assign().await?).await?;
    let reset = json!({ "event_id": "Sample" });
    repeat(&aws, RESET, "again", &reset).await?;
    let place = aws.assign().await?;
    let number = aws.queue_number(&place).await?;
    lose_everything(&deployment).await?;
    repeat(&aws, RESET, "again", &reset).await?;
    assert_eq!(aws.queue_number(&place).await?, number);
    Ok(())
}
