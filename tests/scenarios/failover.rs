//! Instances die without a word, in the middle of a crowd. The line goes on.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Result, ensure};
use redis::aio::MultiplexedConnection;
use serde_json::json;
use tokio::time::{Instant, sleep};
use vestibule_tests::{Deployment, Operator, Reply, Service, eventually};

use crate::{
    crowd::{self, Entered, Guest, Manner, all_of, enter_all, stay_and_leave},
    watch::Watch,
};

const SOON: Duration = Duration::from_secs(30);
const CEILING: u64 = 10;
/// The promise: another leads within this time.
const TAKEOVER: Duration = Duration::from_secs(3);
/// Who leads, as Redis has it.
const LEASE: &str = "vestibule:{deployment}:lease";
const PAUSE: Duration = Duration::from_millis(10);
const STILL: Duration = Duration::from_millis(250);

async fn deployment() -> Result<Deployment> {
    let deployment = Deployment::builder().admissions(3).controllers(3).start().await?;
    let settings = json!({ "total_active_users": CEILING, "session_duration_seconds": 30 });
    deployment.create_room("sale", &settings).await?;
    Ok(deployment)
}

async fn stay(inside: Entered) -> Result<Entered> {
    stay_and_leave(inside, Duration::from_millis(600)).await
}

/// Which controller leads, and its name.
async fn leader(deployment: &Deployment) -> Result<(usize, String)> {
    let index = deployment.leading().await?;
    Ok((index, deployment.operator().leader("sale").await?))
}

/// Waits until the crowd is on its way.
async fn until_served(operator: &Operator, number: u64) -> Result<()> {
    let is_served = |status: &Reply| Ok(status.number("serving_counter")? > number);
    operator.until("sale", "the crowd on its way", SOON, is_served).await?;
    Ok(())
}

/// Waits until another than `old` leads.
async fn another_leader(operator: &Operator, old: &str) -> Result<String> {
    eventually(SOON, "another leader", || async {
        let next = operator.leader("sale").await?;
        ensure!(next != old, "{next} is still said to lead");
        Ok(next)
    })
    .await
}

/// How long it takes from now until another than `old` leads, and who. Redis itself is asked, every
/// few milliseconds; when that takes longer the machine stands still, for everyone, and the time
/// beyond [`STILL`] does not count.
async fn takeover(mut redis: MultiplexedConnection, old: &str) -> Result<(String, Duration)> {
    let (mut took, mut last) = (Duration::ZERO, Instant::now());
    loop {
        let holder: Option<String> = redis::cmd("GET").arg(LEASE).query_async(&mut redis).await?;
        took += last.elapsed().min(STILL);
        last = Instant::now();
        if let Some(next) = holder.filter(|holder| holder != old) {
            return Ok((next, took));
        }
        ensure!(took < SOON, "nobody leads");
        sleep(PAUSE).await;
    }
}

/// Nobody is in the room: what is measured is the takeover, and not what a crowd does to a machine.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_controller_leads_within_three_seconds() -> Result<()> {
    let mut deployment = deployment().await?;
    let operator = deployment.operator();
    let (index, leader) = leader(&deployment).await?;
    let redis = deployment.redis().connection().await?;
    deployment.kill(Service::Controller, index)?;
    let (next, took) = takeover(redis, &leader).await?;
    ensure!(took <= TAKEOVER, "{next} leads after {took:?}");
    assert_eq!(another_leader(&operator, &leader).await?, next);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_goes_on_under_another_leader() -> Result<()> {
    let mut deployment = deployment().await?;
    let operator = deployment.operator();
    let (index, leader) = leader(&deployment).await?;
    let watch = Watch::keep(&deployment, "sale")?;
    let guests = crowd::join(&deployment, "sale", 150).await?;
    let tasks = enter_all(guests, Manner::Hammering, stay);
    until_served(&operator, 30).await?;
    deployment.kill(Service::Controller, index)?;
    another_leader(&operator, &leader).await?;
    let entered = all_of(tasks).await?;
    let seen = watch.end().await?;
    seen.expect_ceiling(CEILING)?;
    seen.expect_no_step_back()?;
    expect_everyone_once(&entered, 150)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_visitor_loses_its_place_with_an_admission_instance() -> Result<()> {
    let mut deployment = deployment().await?;
    let watch = Watch::keep(&deployment, "sale")?;
    let first = deployment.admissions().only(0);
    let at_first = |_| Guest::join(deployment.visitor("sale").at(first.clone()));
    let mut guests = futures_util::future::try_join_all((0..60).map(at_first)).await?;
    for guest in &mut guests {
        guest.visitor = guest.visitor.clone().at(deployment.admissions().clone());
    }
    let more = crowd::join(&deployment, "sale", 60).await?;
    let tasks = enter_all([guests, more].concat(), Manner::Hammering, stay);
    until_served(&deployment.operator(), 20).await?;
    deployment.kill(Service::Admission, 0)?;
    // Every answer is checked for the visitor's own number on the way.
    let entered = all_of(tasks).await?;
    watch.end().await?.expect_ceiling(CEILING)?;
    expect_everyone_once(&entered, 120)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_was_frozen_is_refused_when_it_wakes() -> Result<()> {
    let mut deployment = deployment().await?;
    let operator = deployment.operator();
    let (index, leader) = leader(&deployment).await?;
    let watch = Watch::keep(&deployment, "sale")?;
    let guests = crowd::join(&deployment, "sale", 150).await?;
    let tasks = enter_all(guests, Manner::Hammering, stay);
    deployment.controllers().set_up(index, false);
    deployment.process_mut(Service::Controller, index).freeze()?;
    another_leader(&operator, &leader).await?;
    deployment.process_mut(Service::Controller, index).thaw()?;
    deployment.controllers().set_up(index, true);
    eventually(SOON, "the woken one to follow", || async {
        ensure!(!deployment.leads(index).await?, "it takes itself for the leader");
        Ok(())
    })
    .await?;
    let entered = all_of(tasks).await?;
    let seen = watch.end().await?;
    seen.expect_ceiling(CEILING)?;
    seen.expect_no_step_back()?;
    deployment.process_mut(Service::Controller, index).check_running()?;
    expect_everyone_once(&entered, 150)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_any_controller_the_line_stands_and_then_goes_on() -> Result<()> {
    let mut deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    let settings = json!({ "total_active_users": 3, "session_duration_seconds": 60 });
    deployment.create_room("sale", &settings).await?;
    let watch = Watch::keep(&deployment, "sale")?;
    let mut guests = crowd::join(&deployment, "sale", 20).await?;
    for index in 0..2 {
        deployment.kill(Service::Controller, index)?;
    }
    let inside = guests.remove(0).enter(Manner::Polite).await?;
    ensure!(inside.number == 1, "{} was first", inside.number);
    let late = Guest::join(deployment.visitor("sale")).await?;
    assert_eq!(late.number, 21);
    for guest in guests.iter().rev() {
        ensure!(guest.clone().ask(false).await?.is_some(), "no answer for {}", guest.number);
    }
    for index in 0..2 {
        deployment.restart(Service::Controller, index).await?;
    }
    let tasks = enter_all([guests, vec![late]].concat(), Manner::Hammering, stay);
    stay(inside).await?;
    let entered = all_of(tasks).await?;
    let seen = watch.end().await?;
    seen.expect_ceiling(3)?;
    seen.expect_no_step_back()?;
    expect_everyone_once(&entered, 20)
}

fn expect_everyone_once(entered: &[Entered], crowd: usize) -> Result<()> {
    let ids: BTreeSet<_> = entered.iter().map(|one| &one.claims.sub).collect();
    let tokens: BTreeSet<_> = entered.iter().map(|one| &one.token).collect();
    ensure!(ids.len() == crowd && tokens.len() == crowd, "{} ids, {crowd} people", ids.len());
    Ok(())
}

/// Whoever writes another type there, by hand or by another program, has put nobody out of the lead for good.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_that_nobody_can_read_is_removed_and_said() -> Result<()> {
    let begun = Instant::now();
    let deployment = deployment().await?;
    let (_, old) = leader(&deployment).await?;
    let client = redis::Client::open(deployment.redis().url())?;
    let mut redis = client.get_multiplexed_async_connection().await?;
    redis::pipe().del(LEASE).lpush(LEASE, "x").exec_async(&mut redis).await?;
    eventually(SOON, "a lease that can be read", || async {
        let mut redis = redis.clone();
        redis::cmd("GET").arg(LEASE).query_async::<Option<String>>(&mut redis).await?;
        deployment.operator().leader("sale").await
    })
    .await?;
    let log = deployment.logs();
    let said = log.matches("the lease could not be asked for").count() as u64;
    let minutes = begun.elapsed().as_secs() / 60 + 1;
    ensure!((1..=3 * minutes).contains(&said), "{said} times; who led was {old}: {log}");
    Ok(())
}
