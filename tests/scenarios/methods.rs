//! Queueing methods, changed while people wait: each does what it says, and the line is as it was
//! after any detour.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use vestibule_tests::{Deployment, Reply, Visitor, eventually};

use crate::crowd::{self, Guest, Manner, all_of, enter_all, stay_and_leave};

const SOON: Duration = Duration::from_secs(20);

/// A room, and one who stands in its line to see what is told there.
struct Sale {
    deployment: Deployment,
    scout: Visitor,
}

// === impl Sale ===

impl Sale {
    /// A room with so many seats, all of them taken; gives those inside.
    async fn full(seats: u64) -> Result<(Self, Vec<Visitor>)> {
        let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
        deployment.create_room("sale", &json!({ "total_active_users": seats })).await?;
        let mut inside = Vec::new();
        for _ in 0..seats {
            let mut visitor = deployment.visitor("sale");
            ensure!(visitor.join().await?.says("admitted"), "a seat is free");
            inside.push(visitor);
        }
        let mut scout = deployment.visitor("sale");
        ensure!(scout.join().await?.expect(200)?.says("waiting"), "the room is full");
        Ok((Self { deployment, scout }, inside))
    }

    /// Changes the room, and waits until every instance answers by it: the scout is told this
    /// method and one of these statuses.
    async fn set(&mut self, changes: Value, method: &str, statuses: &[&str]) -> Result<()> {
        self.deployment.operator().patch_room("sale", &changes).await?.expect(200)?;
        let deadline = Instant::now() + SOON;
        for admissions in self.deployment.admissions().each() {
            self.scout = self.scout.clone().at(admissions);
            loop {
                let told = self.scout.status().await?.expect(200)?;
                let status = told.text_of("status")?;
                if told.body["queueing_method"] == method && statuses.contains(&status.as_str()) {
                    break;
                }
                ensure!(Instant::now() < deadline, "not {statuses:?} by {method}: {}", told.text);
                sleep(Duration::from_millis(50)).await;
            }
        }
        self.scout = self.scout.clone().at(self.deployment.admissions().clone());
        Ok(())
    }

    async fn method(&mut self, method: &str, status: &str) -> Result<()> {
        self.set(json!({ "queueing_method": method }), method, &[status]).await
    }

    /// The scout may be lucky at once.
    async fn random(&mut self) -> Result<()> {
        let random = json!({ "queueing_method": "random" });
        self.set(random, "random", &["waiting", "your_turn"]).await
    }

    async fn newcomer(&self) -> Result<(Visitor, Reply)> {
        let mut visitor = self.deployment.visitor("sale");
        let reply = visitor.join().await?.expect(200)?;
        Ok((visitor, reply))
    }

    async fn active(&self) -> Result<u64> {
        self.deployment.operator().status("sale").await?.number("active_users")
    }
}

/// Everyone is told this status, and keeps the number (`ask` fails otherwise); gives the answers.
async fn all_told(guests: &mut [Guest], status: &str) -> Result<Vec<Reply>> {
    let mut told = Vec::new();
    for guest in guests {
        let reply = guest.ask(false).await?.context("busy")?;
        ensure!(reply.says(status), "number {} is not {status}: {}", guest.number, reply.text);
        told.push(reply);
    }
    Ok(told)
}

/// Everyone stands at the position of its number, and whoever came later has no fewer people ahead:
/// once all are answered by the same snapshot of the line, which comes to one instance after the other.
async fn expect_order(guests: &mut [Guest]) -> Result<()> {
    let deadline = Instant::now() + SOON;
    loop {
        let mut ahead = Vec::new();
        for guest in &mut *guests {
            let told = guest.ask(false).await?.context("busy")?;
            assert_eq!(told.number("position")?, guest.number);
            ahead.push(told.number("people_ahead")?);
        }
        if ahead.is_sorted() {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "people ahead, in order of arrival: {ahead:?}");
        sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_line_is_as_it_was_after_a_detour_through_every_method() -> Result<()> {
    let (mut sale, inside) = Sale::full(1).await?;
    let mut guests = crowd::join(&sale.deployment, "sale", 12).await?;
    ensure!(guests.iter().map(|guest| guest.number).eq(3..15), "others are in line");

    sale.random().await?;
    for guest in &mut guests {
        let told = guest.ask(false).await?.context("busy")?;
        ensure!(told.body["position"].is_null() && told.body["people_ahead"].is_null());
    }
    sale.method("passthrough", "your_turn").await?;
    all_told(&mut guests, "your_turn").await?;
    // Two use the opportunity, over the limit; the others do not.
    let mut entered = vec![guests.remove(7), guests.remove(3)];
    for guest in &mut entered {
        let reply = guest.ask(true).await?.context("busy")?;
        ensure!(reply.says("admitted"), "everyone may enter: {}", reply.text);
    }
    assert_eq!(sale.active().await?, 3);
    sale.method("reject", "closed").await?;
    all_told(&mut guests, "closed").await?;
    all_told(&mut entered, "admitted").await?;
    let fifo = json!({ "queueing_method": "fifo" });
    sale.set(fifo, "fifo", &["waiting", "your_turn"]).await?;
    expect_order(&mut guests).await?;
    all_told(&mut guests[5..], "waiting").await?;
    let mut hasty = guests[0].clone();
    ensure!(!hasty.ask(true).await?.context("busy")?.says("admitted"), "over the limit: 3 of 1");

    // The scout is the first in line.
    for mut visitor in inside.into_iter().chain(entered.into_iter().map(|guest| guest.visitor)) {
        visitor.leave().await?.expect(200)?;
    }
    let scout = sale.scout.claims(SOON).await?;
    assert_eq!(scout.number("queue_number")?, 2);
    sale.scout.leave().await?.expect(200)?;
    let leave = |inside| stay_and_leave(inside, Duration::from_millis(200));
    let entered = all_of(enter_all(guests, Manner::Hammering, leave)).await?;
    assert_eq!(entered.len(), 10, "each of them once");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn passthrough_lets_everyone_in_over_the_limits_unless_all_are_held() -> Result<()> {
    let (mut sale, _inside) = Sale::full(2).await?;
    let aws = sale.deployment.aws("sale");
    let early = aws.assign().await?;
    let number = i64::try_from(aws.queue_number(&early).await?)?;
    aws.generate_token(&early).await?.expect(202)?;
    sale.method("passthrough", "your_turn").await?;
    ensure!(aws.serving().await? >= number, "its number is not served");
    aws.generate_token(&early).await?.expect(200)?;
    let late = aws.assign().await?;
    let newcomers = try_join_all((0..6).map(|_| sale.newcomer())).await?;
    for (_, reply) in &newcomers {
        ensure!(reply.says("admitted") && reply.body["wait_seconds"] == 0, "{}", reply.text);
    }
    assert_eq!(sale.active().await?, 9, "over the limit of 2, and counted");

    let held = json!({ "queue_all": true });
    sale.set(held, "passthrough", &["waiting"]).await?;
    let (mut waiting, reply) = sale.newcomer().await?;
    ensure!(reply.says("waiting") && reply.body["wait_seconds"].is_null(), "{}", reply.text);
    ensure!(waiting.claim().await?.says("waiting"), "all are held");
    aws.generate_token(&late).await?.expect(202)?;
    for (mut visitor, _) in newcomers {
        ensure!(visitor.status().await?.says("admitted"), "those inside stay inside");
    }
    assert_eq!(sale.active().await?, 9);

    // A room that is off lets everyone in whatever else is set, and counts nobody.
    sale.set(json!({ "suspended": true }), "passthrough", &["your_turn"]).await?;
    let (_, reply) = sale.newcomer().await?;
    ensure!(reply.says("admitted"), "{}", reply.text);
    ensure!(waiting.claim().await?.says("admitted"), "the room is off");
    assert_eq!(sale.active().await?, 9);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reject_turns_newcomers_away_and_keeps_the_line_until_it_ends() -> Result<()> {
    let (mut sale, mut inside) = Sale::full(1).await?;
    let mut guests = crowd::join(&sale.deployment, "sale", 3).await?;
    let numbers = sale.deployment.operator().status("sale").await?.number("queue_counter")?;
    sale.method("reject", "closed").await?;
    for _ in 0..4 {
        let (visitor, reply) = sale.newcomer().await?;
        for (field, value) in [
            ("status", json!("closed")),
            ("queueing_method", json!("reject")),
            ("next_check_in_seconds", json!(0.0)),
            ("position", Value::Null),
            ("wait_seconds", Value::Null),
            ("request_id", Value::Null),
        ] {
            ensure!(reply.body[field] == value, "{field}: {}", reply.text);
        }
        let cookie = reply.headers.contains_key("set-cookie");
        ensure!(visitor.ticket().is_empty() && !cookie, "it has a ticket: {:?}", reply.headers);
    }
    for reply in all_told(&mut guests, "closed").await? {
        ensure!(reply.body["queueing_method"] == "reject", "{}", reply.text);
        assert_eq!(reply.body["next_check_in_seconds"], 0.0);
    }
    let status = sale.deployment.operator().status("sale").await?;
    assert_eq!(status.number("queue_counter")?, numbers, "nobody was given a place");
    ensure!(inside[0].status().await?.says("admitted"), "those inside stay inside");
    inside[0].leave().await?.expect(200)?;
    ensure!(!guests[0].ask(true).await?.context("busy")?.says("admitted"), "nobody enters");

    // Whoever is held waits; held newcomers get a place.
    sale.set(json!({ "queue_all": true }), "reject", &["waiting"]).await?;
    all_told(&mut guests, "waiting").await?;
    let (_, reply) = sale.newcomer().await?;
    ensure!(reply.says("waiting") && reply.number("queue_number")? == numbers + 1);
    let over = json!({ "queue_all": false, "queueing_method": "fifo" });
    sale.deployment.operator().patch_room("sale", &over).await?.expect(200)?;
    assert_eq!(sale.scout.claims(SOON).await?.number("queue_number")?, 2, "the first in line");
    for guest in &mut guests {
        let told = guest.ask(false).await?.context("busy")?;
        assert_eq!(told.number("position")?, guest.number);
    }
    Ok(())
}

/// Someone who asks all the time gains nothing by it, and loses nothing. A call is early before four
/// fifths of the time that was told are over; whoever is not done by then proves nothing, and another
/// one tries.
async fn early_calls_change_nothing(sale: &Sale) -> Result<()> {
    let next = |reply: &Reply| reply.body["next_check_in_seconds"].as_f64().unwrap_or_default();
    eventually(SOON, "ten calls before the first is due", || async {
        let joins = Instant::now();
        let (mut eager, told) = sale.newcomer().await?;
        let ticket = eager.ticket().to_owned();
        let mut calls = Vec::new();
        for _ in 0..10 {
            calls.push((eager.status().await?.expect(200)?, eager.ticket().to_owned()));
        }
        // What is told is rounded up to tenths of a second.
        let due = Duration::from_secs_f64((next(&told) - 0.1) * 0.8);
        ensure!(joins.elapsed() < due, "the calls took {:?}", joins.elapsed());
        for (early, newest) in calls {
            assert!(early.says("waiting") && early.body["position"].is_null(), "{}", early.text);
            assert_eq!(newest, ticket, "an early call counts: {}", early.text);
            assert!(next(&early) <= next(&told), "and puts off the next: {}", early.text);
        }
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_tells_nobody_a_position_and_fills_every_slot() -> Result<()> {
    const SEATS: u64 = 8;
    let (mut sale, inside) = Sale::full(SEATS).await?;
    sale.random().await?;
    let guests = crowd::join(&sale.deployment, "sale", 60).await?;
    early_calls_change_nothing(&sale).await?;

    let tasks = enter_all(guests, Manner::Polite, |inside| async { Ok(inside) });
    for mut visitor in inside.into_iter().take(4) {
        visitor.leave().await?.expect(200)?;
    }
    let entered = || tasks.iter().filter(|task| task.is_finished()).count();
    eventually(SOON, "every seat taken", || async {
        let taken = (sale.active().await?, entered());
        ensure!(taken >= (SEATS, 4), "seats taken, and guests inside: {taken:?}");
        Ok(())
    })
    .await?;
    sleep(Duration::from_secs(1)).await;
    assert_eq!((sale.active().await?, entered()), (SEATS, 4), "and no more");
    tasks.iter().for_each(tokio::task::JoinHandle::abort);
    Ok(())
}

/// The waits of one of sixty, of whom a tenth enters each minute; before that, this minute's allowance
/// is used up.
fn expect_quartiles(told: &Reply) -> Result<()> {
    for (share, minutes) in [("p25", 2.73), ("p50", 6.58), ("p75", 13.16)] {
        let wait = told.number(&format!("wait_seconds_{share}"))?;
        let (wait, earliest) = (Duration::from_secs(wait), minutes * 60.0 - 1.0);
        let in_bounds = (earliest..earliest + 63.0).contains(&wait.as_secs_f64());
        ensure!(in_bounds, "{share}: {}", told.text);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_tells_how_long_a_quarter_a_half_and_three_quarters_wait() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let settings = json!({ "new_users_per_minute": 6, "queueing_method": "random" });
    deployment.create_room("sale", &settings).await?;
    let mut guests = crowd::join(&deployment, "sale", 66).await?.split_off(6);
    let deadline = Instant::now() + SOON;
    let told = loop {
        // One after the other: whoever is lucky is told no wait any more.
        guests.rotate_left(1);
        let told = guests[0].ask(false).await?.context("busy")?;
        match expect_quartiles(&told) {
            Ok(()) => break told,
            Err(error) => ensure!(Instant::now() < deadline, "{error:#}"),
        }
        sleep(Duration::from_millis(50)).await;
    };
    assert_eq!(told.body["wait_seconds"], told.body["wait_seconds_p50"]);
    ensure!(told.body["position"].is_null() && told.body["people_ahead"].is_null());
    Ok(())
}
