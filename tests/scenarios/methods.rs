//! Queueing methods, changed while people wait: each does what it says, and the line is as it was
//! after any detour.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use vestibule_tests::{Deployment, Reply, Visitor};

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
    /// status and this method.
    async fn set(&mut self, changes: Value, status: &str, method: &str) -> Result<()> {
        self.deployment.operator().patch_room("sale", &changes).await?.expect(200)?;
        let deadline = Instant::now() + SOON;
        for admissions in self.deployment.admissions().each() {
            let mut scout = self.scout.clone().at(admissions);
            loop {
                let told = scout.status().await?.expect(200)?;
                if told.says(status) && told.body["queueing_method"] == method {
                    break;
                }
                ensure!(Instant::now() < deadline, "not {status} by {method}: {}", told.text);
                sleep(Duration::from_millis(50)).await;
            }
            self.scout = scout.at(self.deployment.admissions().clone());
        }
        Ok(())
    }

    async fn method(&mut self, method: &str, status: &str) -> Result<()> {
        self.set(json!({ "queueing_method": method }), status, method).await
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_line_is_as_it_was_after_a_detour_through_every_method() -> Result<()> {
    let (mut sale, inside) = Sale::full(1).await?;
    let mut guests = crowd::join(&sale.deployment, "sale", 12).await?;
    assert_eq!(guests.iter().map(|guest| guest.number).collect::<Vec<_>>(), Vec::from_iter(3..15));

    sale.method("random", "waiting").await?;
    for told in all_told(&mut guests, "waiting").await? {
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
    sale.method("fifo", "waiting").await?;
    let mut before = 0;
    for (told, guest) in all_told(&mut guests, "waiting").await?.iter().zip(&guests) {
        assert_eq!(told.number("position")?, guest.number);
        let ahead = told.number("people_ahead")?;
        ensure!(ahead >= before, "{ahead} ahead of {}, and {before} before", guest.number);
        before = ahead;
    }
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
    let mut entered = all_of(enter_all(guests, Manner::Polite, leave)).await?;
    entered.sort_by_key(|one| one.told);
    let order: Vec<_> = entered.iter().map(|one| one.number).collect();
    eprintln!("ORDER {order:?}");
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
    sale.set(held, "waiting", "passthrough").await?;
    let (mut waiting, reply) = sale.newcomer().await?;
    ensure!(reply.says("waiting") && reply.body["wait_seconds"].is_null(), "{}", reply.text);
    ensure!(waiting.claim().await?.says("waiting"), "all are held");
    aws.generate_token(&late).await?.expect(202)?;
    for (mut visitor, _) in newcomers {
        ensure!(visitor.status().await?.says("admitted"), "those inside stay inside");
    }
    assert_eq!(sale.active().await?, 9);

    // A room that is off lets everyone in whatever else is set, and counts nobody.
    sale.set(json!({ "suspended": true }), "your_turn", "passthrough").await?;
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
    sale.set(json!({ "queue_all": true }), "waiting", "reject").await?;
    all_told(&mut guests, "waiting").await?;
    let (_, reply) = sale.newcomer().await?;
    ensure!(reply.says("waiting") && reply.number("queue_number")? == numbers + 1);
    let over = json!({ "queue_all": false, "queueing_method": "fifo" });
    sale.deployment.operator().patch_room("sale", &over).await?.expect(200)?;
    assert_eq!(sale.scout.claims(SOON).await?.number("queue_number")?, 2, "the first in line");
    for (told, guest) in all_told(&mut guests, "waiting").await?.iter().zip(&guests) {
        assert_eq!(told.number("position")?, guest.number);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_tells_nobody_a_position_and_fills_every_slot() -> Result<()> {
    const SEATS: u64 = 8;
    let (mut sale, inside) = Sale::full(SEATS).await?;
    sale.method("random", "waiting").await?;
    let guests = crowd::join(&sale.deployment, "sale", 60).await?;
    let mut eager = guests[0].clone();
    let told = eager.ask(false).await?.context("busy")?;
    let (ticket, next) =
        (eager.visitor.ticket().to_owned(), told.body["next_check_in_seconds"].as_f64());
    for _ in 0..20 {
        let early = eager.ask(false).await?.context("busy")?;
        ensure!(early.says("waiting") && early.body["position"].is_null(), "{}", early.text);
        ensure!(
            eager.visitor.ticket() == ticket,
            "an early call changed something: {}",
            early.text
        );
        ensure!(early.body["next_check_in_seconds"].as_f64() <= next, "{}", early.text);
    }

    sale.set(json!({ "queue_all": true }), "waiting", "random").await?;
    for mut visitor in inside {
        visitor.leave().await?.expect(200)?;
    }
    assert_eq!(sale.active().await?, 0, "all are held");
    let open = json!({ "queue_all": false });
    sale.set(open, "waiting", "random").await?;
    let opened = Instant::now();
    let stay = |inside| async move { Ok(inside) };
    let tasks = enter_all(guests, Manner::Polite, stay);
    while sale.active().await? < SEATS {
        ensure!(opened.elapsed() < SOON, "{} of {SEATS} seats are taken", sale.active().await?);
        sleep(Duration::from_millis(100)).await;
    }
    eprintln!("FILLED {:?}", opened.elapsed());
    let told = loop {
        let told = sale.scout.status().await?.expect(200)?;
        if !told.body["wait_seconds"].is_null() {
            break told;
        }
        ensure!(opened.elapsed() < SOON, "no wait is told: {}", told.text);
        sleep(Duration::from_millis(100)).await;
    };
    eprintln!("TOLD {}", told.text);
    let waits = ["wait_seconds_p25", "wait_seconds_p50", "wait_seconds_p75"];
    let [p25, p50, p75] = waits.map(|field| told.number(field));
    let (p25, p50, p75) = (p25?, p50?, p75?);
    ensure!(0 < p25 && p25 < p50 && p50 < p75, "{}", told.text);
    assert_eq!(told.number("wait_seconds")?, p50);
    assert_eq!(sale.active().await?, SEATS, "never more");
    let numbers: Vec<_> = tasks.iter().filter(|task| task.is_finished()).collect();
    assert_eq!(numbers.len(), usize::try_from(SEATS)?);
    tasks.iter().for_each(tokio::task::JoinHandle::abort);
    Ok(())
}
