//! No 60 seconds ever admit more than `new_users_per_minute`, and what it allows is used.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::json;
use tokio::time::{Instant, sleep};
use vestibule_tests::{Deployment, claims_of};

use crate::crowd::{self, Guest};

const RATE: usize = 60;
/// Long enough for the first admissions to leave the window.
const RUN: Duration = Duration::from_secs(75);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_sixty_seconds_admit_more_than_the_rate() -> Result<()> {
    let deployment = Deployment::builder().admissions(3).controllers(2).start().await?;
    deployment.create_room("sale", &json!({ "new_users_per_minute": RATE })).await?;
    let guests = crowd::join(&deployment, "sale", 4 * RATE).await?;
    let deadline = Instant::now() + RUN;
    let tasks: Vec<_> =
        guests.into_iter().map(|guest| tokio::spawn(hammer(guest, deadline))).collect();
    let mut seconds = Vec::new();
    for task in tasks {
        seconds.extend(task.await??);
    }
    seconds.sort_unstable();
    let most = most_in_sixty_seconds(&seconds);
    ensure!(most <= RATE, "{most} were admitted within 60 seconds: {seconds:?}");
    // In 75 s: the first minute's allowance, and at least a tenth of the next.
    ensure!(seconds.len() > RATE + RATE / 10, "only {} were admitted", seconds.len());
    Ok(())
}

/// The second in which it was admitted, if it was in time.
#[expect(clippy::disallowed_methods, reason = "visitors come at random")]
async fn hammer(mut guest: Guest, deadline: Instant) -> Result<Option<u64>> {
    while Instant::now() < deadline {
        if let Some(reply) = guest.ask(true).await?
            && reply.says("admitted")
        {
            return Ok(Some(claims_of(&reply.text_of("access_token")?)?.iat));
        }
        sleep(Duration::from_millis(rand::random_range(100..300))).await;
    }
    Ok(None)
}

/// Whole seconds are exact enough: sixty of them are never longer than a minute.
fn most_in_sixty_seconds(sorted: &[u64]) -> usize {
    let upto = |second: u64| sorted.partition_point(|one| *one < second);
    sorted.iter().map(|first| upto(first + 60) - upto(*first)).max().unwrap_or(0)
}

#[test]
fn windows_are_counted_rightly() {
    assert_eq!(most_in_sixty_seconds(&[]), 0);
    assert_eq!(most_in_sixty_seconds(&[0, 0, 30, 59, 60, 61]), 4);
    assert_eq!(most_in_sixty_seconds(&[0, 60, 119, 120, 120]), 3);
}
