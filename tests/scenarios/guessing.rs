//! Guessing the operators' token: ever slower, seen in the log and in the metrics, and no operator is slowed.

use std::time::Duration;

use anyhow::{Result, ensure};
use reqwest::Method;
use tokio::time::Instant;
use vestibule_tests::{Deployment, Operator, Service, eventually};

/// So many are answered at once: somebody may have mistyped it, or a program still has the old one.
const AT_ONCE: u32 = 5;
const WRONG: &str = "a-wrong-api-token";
const REFUSED: &str = r#"vestibule_operator_calls_refused_total{reason="wrong"} "#;

async fn call(operator: &Operator, path: &str) -> Result<u16> {
    Ok(operator.call(Method::GET, path, None).await?.status)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_tokens_are_answered_ever_more_slowly_and_right_ones_are_not() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let operator = deployment.operator();
    let guesser = operator.with_token(WRONG);
    for _ in 0..AT_ONCE {
        assert_eq!(call(&guesser, "/v1/rooms").await?, 401);
    }
    let start = Instant::now();
    for (path, status) in [("/v1/rooms", 401), ("/api/num_active_tokens", 403), ("/v1/rooms", 401)]
    {
        assert_eq!(call(&guesser, path).await?, status);
    }
    ensure!(start.elapsed() >= Duration::from_millis(100 + 200 + 400), "{:?}", start.elapsed());

    // The next one is held while operators, at the same address, go on with their work.
    let held = tokio::spawn(async move { call(&guesser, "/v1/rooms").await });
    let refused = format!("{REFUSED}{}", AT_ONCE + 4);
    eventually(Duration::from_secs(5), "the next guess", || async {
        let metrics = deployment.admin(Service::Controller, 0, "/metrics").await?;
        ensure!(metrics.text.contains(&refused), "{}", metrics.text);
        Ok(())
    })
    .await?;
    assert_eq!(call(&operator, "/v1/rooms").await?, 200);
    ensure!(!held.is_finished(), "a wrong token was answered before a right one");
    assert_eq!(held.await??, 401);

    let log = deployment.process(Service::Controller, 0).log();
    let said = log.lines().filter(|line| line.contains("wrong API token")).count();
    ensure!((1..=2).contains(&said) && log.contains("address=127.0.0.1"), "{said} times: {log}");
    ensure!(!log.contains(WRONG), "{log}");
    Ok(())
}
