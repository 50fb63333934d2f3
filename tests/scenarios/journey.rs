//! One visitor's way through a room, on both servers that are supported: waits while the room is
//! full, enters when a seat frees, and its token opens the gateway.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::json;
use tokio::time::sleep;
use vestibule_tests::{Carries, Deployment, Flavor, Visitor};

use crate::crowd::{Guest, Manner};

const SOON: Duration = Duration::from_secs(20);

async fn journey(flavor: Flavor, carries: Carries) -> Result<()> {
    let deployment =
        Deployment::builder().flavor(flavor).admissions(2).controllers(2).start().await?;
    let settings = json!({ "total_active_users": 2, "session_duration_seconds": 120 });
    deployment.create_room("demo", &settings).await?;
    let newcomer = || Visitor::new(deployment.admissions().clone(), "demo", carries);
    let verifier = deployment.verifier().await?;

    let mut inside = Vec::new();
    for number in 1..=2 {
        let mut visitor = newcomer();
        let reply = visitor.join().await?.expect(200)?;
        ensure!(reply.says("admitted"), "a seat is free: {}", reply.text);
        let claims = verifier.verify(&reply.text_of("access_token")?, "demo")?;
        assert_eq!((claims.queue_position, claims.token_use.as_str()), (number, "access"));
        assert_eq!(claims.exp - claims.iat, 120);
        inside.push(visitor);
    }

    let mut third = newcomer();
    let reply = third.join().await?.expect(200)?;
    ensure!(!reply.says("admitted") && reply.body["access_token"].is_null(), "{}", reply.text);
    assert_eq!(reply.number("queue_number")?, 3);
    assert_eq!(reply.number("position")?, 3);
    ensure!(reply.body["next_check_in_seconds"].as_f64() > Some(0.0), "{}", reply.text);
    let reply = third.claim().await?.expect(200)?;
    ensure!(!reply.says("admitted"), "the room is full: {}", reply.text);

    inside[0].leave().await?.expect(200)?;
    let reply = third.claims(SOON).await?;
    let claims = verifier.verify(&reply.text_of("access_token")?, "demo")?;
    assert_eq!(claims.queue_position, 3);

    // Coming back with the ticket is coming back inside.
    let again = third.clone().status().await?.expect(200)?;
    ensure!(again.says("admitted"), "{}", again.text);
    assert_eq!(again.text_of("access_token")?, reply.text_of("access_token")?);
    // Who has left does not come back in without a new place.
    let gone = inside[0].status().await?;
    ensure!(!gone.says("admitted"), "{}", gone.text);
    let status = deployment.operator().status("demo").await?;
    assert_eq!(status.number("active_users")?, 2, "{}", status.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_visitor_with_a_header_waits_and_enters() -> Result<()> {
    journey(Flavor::Redis7, Carries::Header).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_visitor_with_a_cookie_waits_and_enters() -> Result<()> {
    journey(Flavor::Redis7, Carries::Cookie).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_visitor_on_valkey_9_waits_and_enters() -> Result<()> {
    if Flavor::Valkey9.is_left_out() {
        return Ok(());
    }
    journey(Flavor::Valkey9, Carries::Header).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ticket_is_one_visitor_however_often_it_joins() -> Result<()> {
    let deployment = Deployment::builder().admissions(2).start().await?;
    deployment.create_room("demo", &json!({})).await?;
    let guest = Guest::join(deployment.visitor("demo")).await?;
    let again = Guest::join(guest.visitor.clone()).await?;
    assert_eq!((guest.number, again.number), (1, 1));
    let other = Guest::join(deployment.visitor("demo")).await?;
    assert_eq!(other.number, 2);
    deployment.aws("demo").serve(1).await?;
    assert_eq!(again.enter(Manner::Hammering).await?.number, 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_left_joins_again_at_the_end_of_the_line() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    deployment.create_room("demo", &json!({ "total_active_users": 5 })).await?;
    let mut visitor = deployment.visitor("demo");
    let first = visitor.join().await?.expect(200)?;
    ensure!(first.says("admitted"), "{}", first.text);
    ensure!(visitor.leave().await?.expect(200)?.says("closed"));
    ensure!(visitor.status().await?.expect(200)?.says("closed"));
    ensure!(visitor.claim().await?.expect(200)?.says("closed"));
    let second = visitor.join().await?.expect(200)?;
    ensure!(second.says("admitted"), "{}", second.text);
    assert_eq!((first.number("queue_number")?, second.number("queue_number")?), (1, 2));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_suspended_room_lets_everyone_in_and_counts_nobody() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let settings = json!({ "total_active_users": 1, "suspended": true });
    deployment.create_room("demo", &settings).await?;
    let verifier = deployment.verifier().await?;
    for _ in 0..3 {
        let mut visitor = deployment.visitor("demo");
        let reply = visitor.join().await?.expect(200)?;
        ensure!(reply.says("admitted"), "{}", reply.text);
        verifier.verify(&reply.text_of("access_token")?, "demo")?;
        ensure!(visitor.status().await?.expect(200)?.says("admitted"), "and stays in");
    }
    let status = deployment.operator().status("demo").await?;
    assert_eq!(status.number("active_users")?, 0, "{}", status.text);
    Ok(())
}

/// Whoever waits enters meanwhile, and stands where it stood afterwards; a seat goes on, also for longer than a session
/// lasts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_suspension_costs_nobody_a_place_or_a_seat() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let settings = json!({ "total_active_users": 1, "session_duration_seconds": 4 });
    deployment.create_room("demo", &settings).await?;
    let mut visitors = [(); 3].map(|()| deployment.visitor("demo"));
    for (visitor, status) in visitors.iter_mut().zip(["admitted", "waiting", "waiting"]) {
        let joined = visitor.join().await?.expect(200)?;
        ensure!(joined.says(status), "{}", joined.text);
    }
    let [mut inside, mut second, third] = visitors;
    let suspend = async |suspended: bool| {
        let change = json!({ "suspended": suspended });
        deployment.operator().patch_room("demo", &change).await?.expect(200)
    };
    suspend(true).await?;
    let newcomer_joined = deployment.visitor("demo").join().await?.expect(200)?;
    ensure!(newcomer_joined.says("admitted"), "{}", newcomer_joined.text);
    ensure!(second.claim().await?.expect(200)?.says("admitted"), "everybody enters");
    for _ in 0..14 {
        sleep(Duration::from_millis(500)).await;
        for visitor in [&mut inside, &mut second] {
            ensure!(visitor.status().await?.expect(200)?.says("admitted"), "it is inside");
        }
    }
    suspend(false).await?;
    let told = inside.status().await?.expect(200)?;
    ensure!(told.says("admitted"), "it has its seat: {}", told.text);
    for (mut visitor, number) in [(second.clone(), 2), (third, 3)] {
        let told = visitor.join().await?.expect(200)?;
        ensure!(told.says("waiting") || told.says("your_turn"), "{}", told.text);
        assert_eq!(told.number("queue_number")?, number, "{}", told.text);
    }
    inside.leave().await?.expect(200)?;
    ensure!(second.claims(SOON).await?.says("admitted"), "it is the next");
    Ok(())
}
