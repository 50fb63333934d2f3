//! What runs out in the AWS-style API: positions that nobody claims, and tokens.
//!
//! Time must really pass here. Periods that are waited for are short, and in force only while they
//! are: what must be done before one is over may take its time. That they are exact to the second
//! is tested on the scripts, with the time given.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use vestibule_tests::{Aws, Deployment, eventually};

use crate::aws_matrix::{expect_error, expect_waiting};

const SOON: Duration = Duration::from_secs(30);
/// Long enough for whatever a test does.
const LONG: u64 = 900;
const EXPIRED: &str = "Queue position has expired";
const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

async fn sample(settings: &Value) -> Result<(Deployment, Aws)> {
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    deployment.create_room("Sample", settings).await?;
    let aws = deployment.aws("Sample");
    Ok((deployment, aws))
}

/// From now on positions expire after so many seconds, also those that were served before.
async fn expire_after(deployment: &Deployment, seconds: u64) -> Result<()> {
    let change = json!({ "position_expiry_seconds": seconds });
    deployment.operator().patch_room("Sample", &change).await?.expect(200)?;
    Ok(())
}

/// Fails unless the clock of `id` began at the second `since` of Redis's time, or later.
async fn expect_clock_since(
    (deployment, aws): (&Deployment, &Aws),
    id: &str,
    since: u64,
) -> Result<()> {
    let reply = aws.request_get("/queue_pos_expiry", id).await?.expect(200)?;
    let passed = deployment.redis().now_seconds().await? - since;
    let left = reply.number("expires_in")?;
    ensure!(left <= LONG && left + passed >= LONG, "{left} s left after {passed} s");
    Ok(())
}

async fn position_expired(aws: &Aws, id: &str) -> Result<()> {
    eventually(SOON, "the position's expiry", || async {
        expect_error(&aws.request_get("/queue_pos_expiry", id).await?, 410, EXPIRED)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queue_pos_expiry_in_its_order_of_checks() -> Result<()> {
    let (_deployment, aws) = sample(&json!({ "position_expiry_seconds": 900 })).await?;
    let path = "/queue_pos_expiry";
    let (id, later) = (aws.assign().await?, aws.assign().await?);
    let invalid = "Invalid event or request ID";
    expect_error(&aws.request_get(path, "nonsense").await?, 400, invalid)?;
    expect_error(&aws.of("Other").request_get(path, &id).await?, 400, invalid)?;
    expect_error(&aws.request_get(path, UNKNOWN).await?, 404, "Invalid request ID")?;
    let not_served = "Request ID not being served yet";
    expect_error(&aws.request_get(path, &id).await?, 202, not_served)?;
    aws.serve(1).await?;
    let left = aws.request_get(path, &id).await?.expect(200)?.number("expires_in")?;
    ensure!((890..=900).contains(&left), "expires in {left}");
    expect_error(&aws.request_get(path, &later).await?, 202, not_served)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn positions_do_not_expire_where_that_is_off() -> Result<()> {
    let (_deployment, aws) = sample(&json!({ "position_expiry_seconds": null })).await?;
    let id = aws.assign().await?;
    let path = "/queue_pos_expiry";
    let off = "Queue position expiration not enabled";
    expect_error(&aws.request_get(path, &id).await?, 202, off)?;
    expect_error(&aws.request_get(path, UNKNOWN).await?, 202, off)?;
    aws.serve(1).await?;
    expect_error(&aws.request_get(path, &id).await?, 202, off)?;
    aws.generate_token(&id).await?.expect(200)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_served_position_expires_and_a_token_keeps_it() -> Result<()> {
    let (deployment, aws) = sample(&json!({ "position_expiry_seconds": LONG })).await?;
    let (slow, holder, late) = (aws.assign().await?, aws.assign().await?, aws.assign().await?);
    aws.serve(2).await?;
    let first = aws.generate_token(&holder).await?.expect(200)?;
    expire_after(&deployment, 2).await?;
    position_expired(&aws, &slow).await?;
    expect_error(&aws.generate_token(&slow).await?, 410, EXPIRED)?;
    let again = aws.generate_token(&holder).await?.expect(200)?;
    assert_eq!(first.body["access_token"], again.body["access_token"]);
    // The clock of the one behind them begins when it is served.
    expire_after(&deployment, LONG).await?;
    let served = deployment.redis().now_seconds().await?;
    aws.serve(1).await?;
    expect_clock_since((&deployment, &aws), &late, served).await?;
    // An increment of nothing restarts no clock.
    aws.serve(0).await?;
    expire_after(&deployment, 2).await?;
    position_expired(&aws, &late).await?;
    expect_error(&aws.generate_token(&late).await?, 410, EXPIRED)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_comes_after_the_increment_has_the_whole_period() -> Result<()> {
    let (deployment, aws) = sample(&json!({ "position_expiry_seconds": 2 })).await?;
    let first = aws.assign().await?;
    aws.serve(10).await?;
    position_expired(&aws, &first).await?;
    expire_after(&deployment, LONG).await?;
    let came = deployment.redis().now_seconds().await?;
    let newcomer = aws.assign().await?;
    expect_clock_since((&deployment, &aws), &newcomer, came).await?;
    aws.generate_token(&newcomer).await?.expect(200)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expired_positions_advance_the_counter_where_that_is_on() -> Result<()> {
    let settings = json!({ "position_expiry_seconds": LONG, "advance_on_position_expiry": true });
    let (deployment, aws) = sample(&settings).await?;
    let mut ids = Vec::new();
    for _ in 0..10 {
        ids.push(aws.assign().await?);
    }
    aws.serve(3).await?;
    aws.generate_token(&ids[1]).await?.expect(200)?;
    // Those two are served for as long, which leaves time for what follows.
    expire_after(&deployment, 10).await?;
    eventually(SOON, "two more served for the two who did not come", || async {
        let serving = aws.serving().await?;
        ensure!(serving >= 5, "serving {serving}");
        assert_eq!(serving, 5);
        Ok(())
    })
    .await?;
    expect_waiting(&aws, 10 - 1 - 2).await?;
    expect_error(&aws.generate_token(&ids[0]).await?, 410, EXPIRED)?;
    aws.generate_token(&ids[4]).await?.expect(200)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expired_token_is_told_as_it_was() -> Result<()> {
    let settings = json!({ "token_validity_seconds": 1, "total_active_users": 1 });
    let (_deployment, aws) = sample(&settings).await?;
    let (id, next) = (aws.assign().await?, aws.assign().await?);
    let first =
        eventually(SOON, "a seat", || async { aws.generate_token(&id).await?.expect(200) }).await?;
    eventually(SOON, "the end of the token", || async {
        let again = aws.generate_token(&id).await?.expect(200)?;
        ensure!(again.number("expires_in")? == 0, "{}", again.text);
        assert_eq!(first.body["access_token"], again.body["access_token"]);
        Ok(())
    })
    .await?;
    eventually(SOON, "its place on the list", || async {
        let path = "/api/expired_tokens?event_id=Sample";
        let list = aws.private(path, None).await?.expect(200)?;
        ensure!(list.body == json!([id]), "{}", list.text);
        Ok(())
    })
    .await?;
    assert_eq!(aws.active_tokens().await?, 0);
    // Its seat is free.
    eventually(SOON, "the next one's seat", || async {
        aws.generate_token(&next).await?.expect(200)
    })
    .await?;
    Ok(())
}
