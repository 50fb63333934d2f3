//! Instances die without a word, in the middle of a crowd. The line goes on.

use std::{collections::HashSet, time::Duration};

use anyhow::{Result, ensure};
use serde_json::json;
use tokio::time::Instant;
use vestibule_tests::{Deployment, Operator, Service, eventually};

use crate::{
    crowd::{self, Entered, Guest, Manner, all_of, enter_all, stay_and_leave},
    watch::Watch,
};

const CEILING: u64 = 10;
/// The promise: another leads within this time.
const TAKEOVER: Duration = Duration::from_secs(3);

async fn deployment() -> Result<Deployment> {
    let deployment = Deployment::builder().admissions(3).controllers(3).start().await?;
    let settings = json!({ "total_active_users": CEILING, "session_duration_seconds": 30 });
    deployment.create_room("sale", &settings).await?;
    Ok(deployment)
}

async fn stay(inside: Entered) -> Result<Entered> {
    stay_and_leave(inside, Duration::from_millis(600)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_controller_leads_within_three_seconds() -> Result<()> {
    let mut deployment = deployment().await?;
    let operator = deployment.operator();
    let leader = eventually(TAKEOVER, "a leader", || operator.leader("sale")).await?;
    let watch = Watch::keep(&deployment, "sale")?;
    let guests = crowd::join(&deployment, "sale", 150).await?;
    let tasks = enter_all(guests, Manner::Hammering, stay);
    operator
        .until("sale", "the crowd on its way", Duration::from_secs(20), |status| {
            Ok(status.number("serving_counter")? > 30)
        })
        .await?;
    // The first to start is the one that leads.
    deployment.kill(Service::Controller, 0)?;
    let killed = Instant::now();
    let next = eventually(Duration::from_secs(10), "another leader", || async {
        let next = operator.leader("sale").await?;
        ensure!(next != leader, "{next} is said to lead, and is dead");
        Ok(next)
    })
    .await?;
    let took = killed.elapsed();
    ensure!(took <= TAKEOVER, "{next} leads after {took:?}");
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
    let operator = deployment.operator();
    operator
        .until("sale", "the crowd on its way", Duration::from_secs(20), |status| {
            Ok(status.number("serving_counter")? > 20)
        })
        .await?;
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
    let leader = eventually(TAKEOVER, "a leader", || operator.leader("sale")).await?;
    let watch = Watch::keep(&deployment, "sale")?;
    let guests = crowd::join(&deployment, "sale", 150).await?;
    let tasks = enter_all(guests, Manner::Hammering, stay);
    deployment.controllers().set_up(0, false);
    deployment.process_mut(Service::Controller, 0).freeze()?;
    let next = eventually(Duration::from_secs(10), "another leader", || async {
        let next = operator.leader("sale").await?;
        ensure!(next != leader, "{next} is said to lead, and is frozen");
        Ok(next)
    })
    .await?;
    deployment.process_mut(Service::Controller, 0).thaw()?;
    deployment.controllers().set_up(0, true);
    let woken = Operator::new(deployment.controllers().only(0), deployment.secrets()[1]);
    eventually(Duration::from_secs(10), "the woken one to follow", || async {
        let told = woken.leader("sale").await?;
        ensure!(told == next, "it says that {told} leads");
        Ok(())
    })
    .await?;
    let entered = all_of(tasks).await?;
    let seen = watch.end().await?;
    seen.expect_ceiling(CEILING)?;
    seen.expect_no_step_back()?;
    assert_eq!(operator.leader("sale").await?, next);
    deployment.process_mut(Service::Controller, 0).check_running()?;
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
    let ids: HashSet<_> = entered.iter().map(|one| &one.claims.sub).collect();
    let tokens: HashSet<_> = entered.iter().map(|one| &one.token).collect();
    ensure!(ids.len() == crowd && tokens.len() == crowd, "{} ids, {crowd} people", ids.len());
    Ok(())
}
