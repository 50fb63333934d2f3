//! Who is still there: people who stopped asking are passed over, soon are not counted, and find
//! their place when they come back in time.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::json;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};
use vestibule_tests::{Deployment, Operator, Reply, Visitor};

use crate::crowd::{Guest, Manner};

const SOON: Duration = Duration::from_secs(20);
/// The door holds a request for two seconds.
const HALF_A_HOLD: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_silent_holds_no_seat_and_comes_back_to_its_place() -> Result<()> {
    // One instance, so that who is first at the door is not a matter of chance.
    let deployment = Deployment::builder().start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 1 })).await?;
    let operator = deployment.operator();
    let mut inside = deployment.visitor("sale");
    ensure!(inside.join().await?.says("admitted"), "the room is empty");
    let mut silent = Guest::join(deployment.visitor("sale")).await?;
    let present = Guest::join(deployment.visitor("sale")).await?;
    let mut last = Guest::join(deployment.visitor("sale")).await?;
    let (first, second, third) = (silent.number, present.number, last.number);
    assert_eq!((second, third), (first + 1, first + 2));
    let present = tokio::spawn(present.enter(Manner::Polite));
    told_ahead(&mut last, 2).await?;

    let passed = served(&operator, second).await;
    passed.map_err(|error| error.context("the one who is silent holds up the line"))?;
    told_ahead(&mut last, 1).await?;
    inside.leave().await?.expect(200)?;
    let mut present = present.await??;
    let last = tokio::spawn(last.enter(Manner::Polite));

    let back = silent.ask(false).await?.context("busy")?;
    assert_eq!(back.number("position")?, first, "its place");
    ensure!(back.says("your_turn"), "it was served meanwhile: {}", back.text);
    served(&operator, third).await?;
    let mut claims = stays_at_door(&silent.visitor);
    sleep(2 * HALF_A_HOLD).await;
    // Now both stand at the door.
    ensure!(!claims.iter().any(JoinHandle::is_finished) && !last.is_finished(), "the room is full");
    present.visitor.leave().await?.expect(200)?;
    let claimed = claims.remove(0).await??;
    assert_eq!(claimed.number("queue_number")?, first, "it came earlier: {}", claimed.text);
    claims.remove(0).await??;
    ensure!(!last.is_finished(), "two in one seat");
    silent.visitor.with_ticket(claimed.header("vestibule-ticket")).leave().await?.expect(200)?;
    assert_eq!(last.await??.number, third);
    Ok(())
}

/// Claims in two tabs by turns until it is inside, so that one request is held at the door while the
/// other one comes back to it.
fn stays_at_door(visitor: &Visitor) -> Vec<JoinHandle<Result<Reply>>> {
    let tab = |later: Duration| {
        let mut visitor = visitor.clone();
        tokio::spawn(async move {
            sleep(later).await;
            visitor.claims(SOON).await
        })
    };
    vec![tab(Duration::ZERO), tab(HALF_A_HOLD)]
}

/// Asks until it is told that so many people are ahead.
async fn told_ahead(guest: &mut Guest, people: u64) -> Result<()> {
    let deadline = Instant::now() + SOON;
    loop {
        let told = guest.ask(false).await?.map(|reply| reply.number("people_ahead")).transpose()?;
        if told == Some(people) {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "{told:?} ahead, not {people}");
        sleep(Duration::from_millis(100)).await;
    }
}

/// Waits until the line is served up to `position`.
async fn served(operator: &Operator, position: u64) -> Result<()> {
    let position = i64::try_from(position)?;
    let check = |status: &Reply| Ok(status.signed("serving_counter")? >= position);
    operator.until("sale", "the serving counter", SOON, check).await.map(drop)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_place_is_given_up_after_the_grace_time_but_not_at_the_door() -> Result<()> {
    const GRACE: u32 = 5;
    let deployment = Deployment::builder().admissions(2).start().await?;
    // Only the operator lets people in: nobody is passed over because the others are silent.
    deployment.create_room("sale", &json!({ "presence_grace_seconds": GRACE })).await?;
    deployment.create_room("patient", &json!({ "presence_grace_seconds": null })).await?;
    let mut served = deployment.visitor("sale");
    let mut waiting = deployment.visitor("sale");
    let mut patient = deployment.visitor("patient");
    assert_eq!(served.join().await?.number("queue_number")?, 1);
    let joined = waiting.join().await?.expect(200)?;
    assert_eq!(joined.number("queue_number")?, 2);
    patient.join().await?.expect(200)?;
    deployment.aws("sale").serve(1).await?;
    let interval = joined.body["next_check_in_seconds"].as_f64().unwrap_or_default();
    ensure!(interval > 0.0, "{}", joined.text);

    // On time is in time.
    sleep(Duration::from_secs_f64(interval)).await;
    let kept = waiting.status().await?.expect(200)?;
    ensure!(kept.says("waiting") && kept.number("queue_number")? == 2, "{}", kept.text);
    let interval = kept.body["next_check_in_seconds"].as_f64().unwrap_or_default();
    // An instance knows the time by its last snapshot, which may have been on its way for a while.
    sleep(Duration::from_secs_f64(interval + f64::from(GRACE) + 2.0)).await;
    let late = waiting.status().await?.expect(200)?;
    ensure!(late.says("expired"), "{interval} s and {GRACE} s of grace are over: {}", late.text);
    assert_eq!(late.body["next_check_in_seconds"], 0.0);
    ensure!(waiting.claim().await?.says("expired"), "and stays so");
    let again = waiting.join().await?.expect(200)?;
    ensure!(again.says("waiting") && again.number("queue_number")? == 3, "{}", again.text);

    let turn = served.status().await?.expect(200)?;
    ensure!(turn.says("your_turn"), "its turn has come, and does not go by so soon: {}", turn.text);
    let patient = patient.status().await?.expect(200)?;
    ensure!(patient.says("waiting"), "this room waits for ever: {}", patient.text);
    Ok(())
}

/// About 100 seconds: a browser lets a hidden tab sleep for a minute, and nobody is taken for gone who may
/// be one; a check-in counts for 64 to 96 seconds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_gone_is_no_longer_counted_but_a_hidden_tab_is() -> Result<()> {
    const HIDDEN: Duration = Duration::from_mins(1);
    const COUNTED: Duration = Duration::from_secs(96);
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    let settings = json!({ "total_active_users": 1, "session_duration_seconds": 600 });
    deployment.create_room("sale", &settings).await?;
    let operator = deployment.operator();
    ensure!(deployment.visitor("sale").join().await?.says("admitted"), "the room is empty");
    let begun = Instant::now();
    let mut gone = Guest::join(deployment.visitor("sale")).await?;
    let mut hidden = Guest::join(deployment.visitor("sale")).await?;
    let mut steady = Guest::join(deployment.visitor("sale")).await?;
    let waiting = async || operator.status("sale").await?.number("waiting");
    let is_three = |status: &Reply| Ok(status.number("waiting")? == 3);
    operator.until("sale", "three who wait", SOON, is_three).await?;

    let mut looked = false;
    let left = loop {
        sleep(Duration::from_secs(1)).await;
        steady.ask(false).await?;
        if !looked && begun.elapsed() >= HIDDEN {
            looked = true;
            hidden.ask(false).await?;
        }
        match waiting().await? {
            3 => ensure!(begun.elapsed() < COUNTED + SOON, "who has gone is still counted"),
            count => break (begun.elapsed(), count),
        }
    };
    ensure!(left.0 > HIDDEN, "a hidden tab would not be counted: {left:?}");
    assert_eq!(left.1, 2, "after {:?}", left.0);
    let back = gone.ask(false).await?;
    let place = back.map(|reply| reply.number("position")).transpose()?;
    assert_eq!(place, Some(gone.number), "the grace time is not over");
    operator.until("sale", "that it is counted again", SOON, is_three).await?;
    Ok(())
}
