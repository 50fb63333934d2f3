//! What the first in line is told: that nobody is ahead of it, and no wait that nobody knows.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::json;
use tokio::time::{Instant, sleep};
use vestibule_tests::{Deployment, Reply, Service, Visitor};

const SOON: Duration = Duration::from_secs(20);

/// A room with one seat, and who has it.
async fn full_room() -> Result<(Deployment, Visitor)> {
    let deployment = Deployment::builder().start().await?;
    let settings = json!({ "total_active_users": 1, "session_duration_seconds": 120 });
    deployment.create_room("demo", &settings).await?;
    let mut inside = deployment.visitor("demo");
    let told = inside.join().await?.expect(200)?;
    ensure!(told.says("admitted"), "{}", told.text);
    Ok((deployment, inside))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_in_line_does_not_count_itself() -> Result<()> {
    let (deployment, _inside) = full_room().await?;
    let (mut first, mut next) = (deployment.visitor("demo"), deployment.visitor("demo"));
    first.join().await?.expect(200)?;
    next.join().await?.expect(200)?;
    let deadline = Instant::now() + SOON;
    loop {
        let behind = next.status().await?.expect(200)?.number("people_ahead")?;
        let told = first.status().await?.expect(200)?;
        let ahead = told.number("people_ahead")?;
        // Served ahead of the seats, and the one behind it is told that it stands there.
        if told.says("your_turn") && behind == 1 {
            ensure!(ahead == 0, "nobody is: {}", told.text);
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "{behind} ahead of the next; the first: {}", told.text);
        sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_newcomer_to_a_full_room_is_told_no_wait_while_nobody_knows_it() -> Result<()> {
    let (deployment, mut inside) = full_room().await?;
    let operator = deployment.operator();
    let mut second = deployment.visitor("demo");
    second.join().await?.expect(200)?;
    let seen = |room: &Reply| Ok(room.number("waiting")? == 1);
    operator.until("demo", "a tick that saw it wait", SOON, seen).await?;
    inside.leave().await?.expect(200)?;
    second.claims(SOON).await?;
    let pace = |room: &Reply| room.body["admissions_per_second"].as_f64();
    let entered = |room: &Reply| Ok(room.number("waiting")? == 0 && pace(room) > Some(0.0));
    operator.until("demo", "a tick that saw it enter", SOON, entered).await?;
    let told = deployment.visitor("demo").join().await?.expect(200)?;
    ensure!(told.says("waiting") && told.body["wait_seconds"].is_null(), "{}", told.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_just_entered_is_ahead_of_nobody_and_does_not_wait() -> Result<()> {
    let mut deployment = Deployment::builder().start().await?;
    deployment.create_room("demo", &json!({ "total_active_users": 2 })).await?;
    let admitted = deployment.visitor("demo").join().await?.expect(200)?;
    ensure!(admitted.says("admitted"), "{}", admitted.text);
    let seen = |room: &Reply| Ok(room.number("active_users")? == 1);
    deployment.operator().until("demo", "a tick that saw it enter", SOON, seen).await?;
    // From here on no tick says who waits: the instance that let people in knows it by itself.
    deployment.process_mut(Service::Controller, 0).freeze()?;
    let (mut second, mut third) = (deployment.visitor("demo"), deployment.visitor("demo"));
    ensure!(second.join().await?.expect(200)?.says("admitted"), "the second seat is free");
    let told = third.join().await?.expect(200)?;
    ensure!(told.says("waiting") && told.number("people_ahead")? == 0, "{}", told.text);
    let behind = deployment.visitor("demo").join().await?.expect(200)?;
    ensure!(behind.number("people_ahead")? == 1, "{}", behind.text);
    let waiting = deployment.aws("demo").event_get("/waiting_num").await?.expect(200)?;
    ensure!(waiting.number("waiting_num")? == 2, "{}", waiting.text);
    deployment.process_mut(Service::Controller, 0).thaw()
}
