//! The serving counter never goes back, except by an operator's explicit act, and a number keeps
//! its meaning.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::json;
use vestibule_tests::{Aws, Deployment};

use crate::{
    crowd::{self, Manner, all_of, enter_all, stay_and_leave},
    watch::Watch,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_counter_goes_forward_under_ticks_and_increments() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).controllers(3).start().await?;
    let settings = json!({ "total_active_users": 10, "session_duration_seconds": 60 });
    deployment.create_room("sale", &settings).await?;
    let watch = Watch::keep(&deployment, "sale")?;
    let guests = crowd::join(&deployment, "sale", 200).await?;
    let tasks = enter_all(guests, Manner::Hammering, |inside| {
        stay_and_leave(inside, Duration::from_millis(300))
    });
    let aws = deployment.aws("sale");
    let mut last = aws.serving().await?;
    for _ in 0..10 {
        // With ticks in between it may have moved by more, and never by less.
        let now = aws.increment(1).await?;
        ensure!(now > last, "an increment led from {last} to {now}");
        last = now;
    }
    all_of(tasks).await?;
    let seen = watch.end().await?;
    seen.expect_no_step_back()?;
    ensure!(seen.highest_serving >= last, "{seen:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_may_take_it_back_and_numbers_keep_their_meaning() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    deployment.create_room("sale", &json!({})).await?;
    let aws = deployment.aws("sale");
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(aws.assign().await?);
    }
    assert_eq!(aws.serve(3).await?, 3);
    aws.generate_token(&ids[2]).await?.expect(200)?;
    assert_eq!(aws.serve(-2).await?, 1);
    aws.generate_token(&ids[1]).await?.expect(202)?;
    aws.generate_token(&ids[0]).await?.expect(200)?;
    expect_numbers(&aws, &ids).await?;
    assert_eq!(aws.serve(0).await?, 1);
    assert_eq!(aws.serve(-4).await?, -3);
    assert_eq!(aws.serve(7).await?, 4);
    aws.generate_token(&ids[3]).await?.expect(200)?;
    aws.generate_token(&ids[4]).await?.expect(202)?;
    deployment.operator().patch_room("sale", &json!({ "queue_all": true })).await?.expect(200)?;
    expect_numbers(&aws, &ids).await
}

async fn expect_numbers(aws: &Aws, ids: &[String]) -> Result<()> {
    for (id, expected) in ids.iter().zip(1..) {
        assert_eq!(aws.queue_number(id).await?, expected);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_with_a_name_takes_effect_once() -> Result<()> {
    let deployment = Deployment::builder().admissions(1).controllers(2).start().await?;
    deployment.create_room("sale", &json!({})).await?;
    let aws = deployment.aws("sale");
    let increment = async |key: &str, by: i64| {
        let body = json!({ "event_id": "sale", "increment_by": by });
        aws.private_once("/api/increment_serving_counter", key, &body).await
    };
    for key in ["first-1", "\"first-1\"", "first-1"] {
        let reply = increment(key, 3).await?.expect(200)?;
        assert_eq!(reply.signed("serving_num")?, 3, "by whichever controller");
    }
    increment("first-1", 4).await?.expect(409)?;
    increment("not a name", 4).await?.expect(400)?;
    assert_eq!(aws.increment(0).await?, 3);
    let number = aws.queue_number(&aws.assign().await?).await?;
    assert_eq!(number, 1);
    let body = json!({ "event_id": "sale" });
    for _ in 0..2 {
        aws.private_once("/api/reset_initial_state", "again", &body).await?.expect(200)?;
    }
    let first = aws.assign().await?;
    aws.private_once("/api/reset_initial_state", "again", &body).await?.expect(200)?;
    assert_eq!(aws.queue_number(&first).await?, 1, "its place is kept");
    Ok(())
}
