//! A serving counter that follows the seats: AWS-style clients who wait for their number to be shown and then ask for
//! their tokens get them at once, as from the original. Without the setting some of them are answered 202, and wait at the
//! door.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use tokio::time::Instant;
use vestibule_tests::{Aws, Deployment, eventually};

use crate::watch::{Seen, Watch};

const SEATS: u64 = 8;
const CROWD: usize = 60;
/// As the original's own page looks, only faster.
const LOOKS_EVERY: Duration = Duration::from_millis(300);
/// A call that is held at the door for longer was called too early.
const AT_ONCE: Duration = Duration::from_secs(6);
const SOON: Duration = Duration::from_mins(1);

/// A room of so many seats at three admissions and two controllers.
async fn sample(follows: bool, more: &Value) -> Result<(Deployment, Aws)> {
    let deployment = Deployment::builder().admissions(3).controllers(2).start().await?;
    let mut settings = json!({
        "total_active_users": SEATS, "serving_counter_follows_seats": follows, "seats_end_with": "session", "seats_per_network": null,
        "places_per_network": null, "joins_per_network_per_minute": null,
    });
    let fields = more.as_object().context("an object")?.clone();
    settings.as_object_mut().context("an object")?.extend(fields);
    deployment.create_room("Sample", &settings).await?;
    let aws = deployment.aws("Sample");
    Ok((deployment, aws))
}

/// What one client met on its way in.
#[derive(Debug, Default)]
struct Met {
    /// How often it was answered 202 after its number was shown.
    refused: u64,
    /// How long its longest call took.
    longest: Duration,
    /// The highest counter that it saw go back.
    went_back: Option<i64>,
}

/// Waits until `number` is shown.
async fn see_its_number(aws: &Aws, number: u64, met: &mut Met) -> Result<()> {
    let mut highest = 0;
    let number = i64::try_from(number)?;
    while highest < number {
        let shown = aws.serving().await?;
        met.went_back = met.went_back.max((shown < highest).then_some(highest));
        highest = highest.max(shown);
        tokio::time::sleep(LOOKS_EVERY).await;
    }
    Ok(())
}

/// A visitor of one instance, from its place to the end of its session.
async fn visit(aws: Aws, stays: Duration) -> Result<Met> {
    let id = aws.assign().await?;
    let (number, mut met) = (aws.queue_number(&id).await?, Met::default());
    see_its_number(&aws, number, &mut met).await?;
    loop {
        let asked = Instant::now();
        let status = aws.generate_token(&id).await?.status;
        met.longest = met.longest.max(asked.elapsed());
        match status {
            200 => break,
            202 => met.refused += 1,
            other => anyhow::bail!("{number} was answered {other}"),
        }
        tokio::time::sleep(LOOKS_EVERY).await;
    }
    tokio::time::sleep(stays).await;
    aws.update_session(&id, 1).await?.expect(200)?;
    Ok(met)
}

async fn crowd(deployment: &Deployment, aws: &Aws) -> Result<(Vec<Met>, Seen)> {
    let watch = Watch::keep(deployment, "Sample")?;
    let visits = (0..CROWD).map(|nth| {
        // Each at one instance, since those hear of a counter at slightly different times.
        let aws = aws.at(deployment.admissions().only(nth % 3));
        visit(aws, Duration::from_millis(400 + 70 * (nth as u64 % 9)))
    });
    let met = try_join_all(visits).await?;
    let seen = watch.end().await?;
    seen.expect_ceiling(SEATS)?;
    seen.expect_no_step_back()?;
    Ok((met, seen))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_shown_its_number_enters_at_once() -> Result<()> {
    let (deployment, aws) = sample(true, &json!({})).await?;
    let (met, seen) = crowd(&deployment, &aws).await?;
    for met in &met {
        ensure!(met.refused == 0 && met.longest < AT_ONCE && met.went_back.is_none(), "{met:?}");
    }
    ensure!(seen.most_active == SEATS, "only {} were ever inside", seen.most_active);
    Ok(())
}

/// So that the test before says something.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn otherwise_some_are_called_before_there_is_a_seat() -> Result<()> {
    let (_deployment, aws) = sample(false, &json!({ "total_active_users": 2 })).await?;
    let mut ids = Vec::new();
    for _ in 0..6 {
        ids.push(aws.assign().await?);
    }
    for id in &ids[..2] {
        eventually(SOON, "a seat", || async { aws.generate_token(id).await?.expect(200) }).await?;
    }
    // Somebody stands by, and is told so.
    eventually(SOON, "a number beyond the seats", || async {
        let shown = aws.serving().await?;
        ensure!(shown > 2, "{shown}");
        Ok(())
    })
    .await?;
    assert_eq!(aws.generate_token(&ids[2]).await?.status, 202);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn people_who_never_come_hold_nobody_up_for_long() -> Result<()> {
    let settings = json!({ "total_active_users": 2, "position_expiry_seconds": 900 });
    let (deployment, aws) = sample(true, &settings).await?;
    let mut ids = Vec::new();
    for _ in 0..6 {
        ids.push(aws.assign().await?);
    }
    let shown = |number: i64| {
        let aws = &aws;
        eventually(SOON, "the next number", move || async move {
            let shown = aws.serving().await?;
            ensure!(shown >= number, "{shown}");
            Ok(shown)
        })
    };
    assert_eq!(shown(2).await?, 2);
    aws.generate_token(&ids[1]).await?.expect(200)?;
    // The first one never comes. Its seat is the third one's after a while, and the fourth one's turn is not yet.
    assert_eq!(shown(3).await?, 3);
    aws.generate_token(&ids[2]).await?.expect(200)?;
    let late = aws.generate_token(&ids[0]).await?;
    assert_eq!(late.status, 202, "it came too late for this one");
    // By hand no number is shown that has no seat, and nobody is told that its time runs.
    assert_eq!(aws.increment(10).await?, 13);
    let unseen = aws.request_get("/queue_pos_expiry", &ids[5]).await?;
    assert_eq!((unseen.status, aws.serving().await?), (202, 3));
    // Nor does a lower ceiling, or another leader, take a number back.
    let lower = json!({ "total_active_users": 1 });
    deployment.operator().patch_room("Sample", &lower).await?.expect(200)?;
    aws.update_session(&ids[1], 1).await?.expect(200)?;
    aws.update_session(&ids[2], 1).await?.expect(200)?;
    assert_eq!(shown(4).await?, 4);
    aws.generate_token(&ids[3]).await?.expect(200)?;
    Ok(())
}

/// Turns come as the rate lets people in, and are not held back by it at the door.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn turns_follow_a_rate_too() -> Result<()> {
    let settings = json!({ "total_active_users": null, "new_users_per_minute": 240 });
    let (_deployment, aws) = sample(true, &settings).await?;
    let visits = (0..24).map(|_| visit(aws.clone(), Duration::ZERO));
    for met in try_join_all(visits).await? {
        ensure!(met.refused == 0 && met.longest < AT_ONCE, "{met:?}");
    }
    Ok(())
}
