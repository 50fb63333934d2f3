//! A draw as everyone sees it: promised from the day it is planned, collecting while people come
//! early, and revealed at the start, or withdrawn.

use std::{fs, process::Command, time::Duration};

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use vestibule_tests::{Deployment, Exited, Fleet, Process, Reply, eventually, ours};

use crate::{
    crowd::{self, Guest, Manner, all_of, enter_all, stay_and_leave},
    leaks,
    rooms::expect_problem,
};

const SOON: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);
/// The shortest pre-queue there is, in seconds.
const PREQUEUE: u64 = 300;

/// Plans the event `launch` of the room `sale`: its pre-queue opens at this second and is followed
/// by a draw.
pub(crate) async fn plan_launch(deployment: &Deployment, opens: u64) -> Result<Reply> {
    let start = opens + PREQUEUE;
    let event = json!({
        "prequeue_start_time": opens, "event_start_time": start, "event_end_time": start + 3600,
        "draw_at_event_start": true,
    });
    let path = "/v1/rooms/sale/events/launch";
    deployment.operator().call(Method::PUT, path, Some(&event)).await
}

async fn published(admissions: &Fleet, query: &str) -> Result<Reply> {
    let url = admissions.at(&format!("/v1/rooms/sale/draw{query}"))?;
    Reply::of(admissions.http().get(url)).await
}

/// Waits until every instance publishes the draw in this state.
async fn until_published(deployment: &Deployment, state: &str) -> Result<Reply> {
    let mut last = None;
    for admissions in deployment.admissions().each() {
        let found = eventually(SOON, state, || async {
            let reply = published(&admissions, "").await?.expect(200)?;
            ensure!(reply.body["state"] == state, "{}", reply.text);
            Ok(reply)
        });
        last = Some(found.await?);
    }
    last.context("no admission")
}

/// A launch that is planned, and its commitment.
struct Launch {
    deployment: Deployment,
    commitment: String,
    planned: String,
}

// === impl Launch ===

impl Launch {
    /// Plans it, and sees what is promised from now on: well before it opens.
    async fn planned(deployment: Deployment) -> Result<Self> {
        let opens = deployment.redis().now_seconds().await? + 10;
        let planned = plan_launch(&deployment, opens).await?.expect(201)?;
        let commitment = planned.text_of("commitment")?;
        let promise = until_published(&deployment, "committed").await?;
        for (field, value) in [
            ("room", json!("sale")),
            ("event", json!("launch")),
            ("commitment", json!(commitment)),
            ("prequeue_start", json!(opens)),
            ("event_start", json!(opens + PREQUEUE)),
        ] {
            assert_eq!(promise.body[field], value, "{field}");
        }
        expect_unrevealed(&promise)?;
        let named = published(deployment.admissions(), "?event=launch").await?.expect(200)?;
        assert_eq!(named.body["commitment"], commitment);
        let other = published(deployment.admissions(), "?event=other").await?;
        expect_problem(&other, 404, "no such draw")?;
        Ok(Self { deployment, commitment, planned: planned.text })
    }

    /// While the pre-queue is open, those in it wait without a position, in front of free seats;
    /// gives what they are told.
    async fn holds(&self, guests: &mut [Guest]) -> Result<String> {
        until_told(&self.deployment, &mut guests[0], None).await?;
        let mut answers = String::new();
        for guest in guests {
            answers += &guest.visitor.join().await?.expect(200)?.text;
            let told = guest.ask(true).await?.context("busy")?;
            ensure!(told.says("waiting"), "nobody enters before the start: {}", told.text);
            for field in ["position", "people_ahead", "wait_seconds"] {
                ensure!(told.body[field].is_null(), "{field} is told: {}", told.text);
            }
            let starts = told.number("event_starts_in_seconds")?;
            ensure!((PREQUEUE - 60..=PREQUEUE).contains(&starts), "{}", told.text);
            answers += &told.text;
        }
        let all = |status: &Reply| Ok(status.number("waiting")? == 7);
        let operator = self.deployment.operator();
        let status = operator.until("sale", "all of them waiting", SOON, all).await?;
        for (field, value) in [
            ("state", json!("event_prequeueing")),
            ("event", json!("launch")),
            ("active_users", json!(1)),
            ("wait_seconds", Value::Null),
        ] {
            assert_eq!(status.body[field], value, "{field}: three seats are free");
        }
        Ok(answers + status.text.as_str())
    }

    /// Nobody who looks for the seed finds it: not in these answers, nor in anything that operators
    /// are told, that lies in Redis or that is logged.
    async fn keeps_its_seed(&self, answers: &str) -> Result<()> {
        let path = "/v1/rooms/sale/events/launch/details";
        let details = self.deployment.operator().call(Method::GET, path, None).await?;
        let stored = leaks::stored(&mut self.deployment.redis().connection().await?).await?;
        let logs = self.deployment.logs();
        for (place, text) in [
            ("an answer", answers.as_bytes()),
            ("the event", self.planned.as_bytes()),
            ("its details", details.text.as_bytes()),
            ("the store", &stored),
            ("the logs", logs.as_bytes()),
        ] {
            ensure!(text.len() > 20, "nothing to look at in {place}");
            ensure!(!leaks::reveals(text, &self.commitment)?, "the seed is in {place}");
        }
        let commitment = self.commitment.as_bytes();
        ensure!(stored.windows(64).any(|part| part == commitment), "nothing was looked at");
        Ok(())
    }

    /// Withdraws it: those who came early stand in order of arrival.
    async fn is_withdrawn(&self, guests: &mut [Guest]) -> Result<()> {
        let path = "/v1/rooms/sale/events/launch";
        self.deployment.operator().call(Method::DELETE, path, None).await?.expect(204)?;
        let cancelled = until_published(&self.deployment, "cancelled").await?;
        assert_eq!(cancelled.body["commitment"], self.commitment, "it stays on record");
        expect_unrevealed(&cancelled)?;
        let first = guests[0].number;
        until_told(&self.deployment, &mut guests[0], Some(first)).await?;
        for guest in guests {
            let told = guest.ask(false).await?.context("busy")?;
            assert_eq!(told.number("position")?, guest.number, "in order of arrival");
            ensure!(told.body["event_starts_in_seconds"].is_null(), "{}", told.text);
        }
        Ok(())
    }

    /// A reset takes everybody's number: what is on record speaks of nobody's any more.
    async fn is_superseded_by_a_reset(&self) -> Result<()> {
        let before = until_published(&self.deployment, "cancelled").await?;
        ensure!(before.body["superseded"].is_null(), "{}", before.text);
        let operator = self.deployment.operator();
        operator.call(Method::POST, "/v1/rooms/sale/reset", None).await?.expect(200)?;
        let superseded = || async {
            let record = published(self.deployment.admissions(), "").await?.expect(200)?;
            ensure!(record.body["superseded"] == true, "{}", record.text);
            ensure!(record.body["commitment"] == before.body["commitment"], "{}", record.text);
            Ok(())
        };
        eventually(SOON, "a record of before the reset", superseded).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_draw_is_promised_collects_and_is_withdrawn_with_its_seed() -> Result<()> {
    let deployment =
        Deployment::builder().admissions(2).controllers(2).log("trace").start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 4 })).await?;
    expect_problem(&published(deployment.admissions(), "").await?, 404, "no such draw")?;
    let launch = Launch::planned(deployment).await?;
    let deployment = &launch.deployment;
    let mut early = deployment.visitor("sale");
    let joined = early.join().await?.expect(200)?;
    ensure!(joined.says("admitted"), "the pre-queue is not open yet: {}", joined.text);

    let collecting = until_published(deployment, "collecting").await?;
    expect_unrevealed(&collecting)?;
    let mut guests = crowd::join(deployment, "sale", 6).await?;
    let aws = deployment.aws("sale");
    let id = aws.assign().await?;
    let answers = launch.holds(&mut guests).await?;
    aws.generate_token(&id).await?.expect(202)?;
    ensure!(early.status().await?.says("admitted"), "whoever is inside stays inside");
    launch.keeps_its_seed(&(answers + collecting.text.as_str())).await?;

    launch.is_withdrawn(&mut guests).await?;
    let leave = |inside| stay_and_leave(inside, Duration::from_millis(300));
    let entered = all_of(enter_all(guests, Manner::Hammering, leave)).await?;
    assert_eq!(entered.len(), 6);
    let seated = || async { aws.generate_token(&id).await?.expect(200) };
    eventually(SOON, "the seat of one who has left", seated).await?;
    launch.keeps_its_seed(&collecting.text).await?;
    launch.is_superseded_by_a_reset().await
}

/// Waits until every instance tells `guest` this position, or none. Redis, and so what is published
/// of a draw, is ahead of what the instances have heard.
async fn until_told(
    deployment: &Deployment,
    guest: &mut Guest,
    position: Option<u64>,
) -> Result<()> {
    let everywhere = deployment.admissions();
    for admissions in everywhere.each() {
        guest.visitor = guest.visitor.clone().at(admissions);
        let deadline = Instant::now() + SOON;
        loop {
            let told = guest.ask(false).await?.context("busy")?;
            if told.body["position"].as_u64() == position {
                break;
            }
            ensure!(Instant::now() < deadline, "it is not at {position:?}: {}", told.text);
            sleep(PAUSE).await;
        }
    }
    guest.visitor = guest.visitor.clone().at(everywhere.clone());
    Ok(())
}

/// Everyone claims in vain, again and again, until the second `start` of Redis's time.
async fn nobody_enters_before(
    deployment: &Deployment,
    start: u64,
    guests: &mut [Guest],
) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(PREQUEUE) + SOON;
    loop {
        for guest in &mut *guests {
            let told = guest.ask(true).await?.context("busy")?;
            if deployment.redis().now_seconds().await? >= start {
                return Ok(());
            }
            ensure!(told.says("waiting") && told.body["position"].is_null(), "{}", told.text);
        }
        ensure!(Instant::now() < deadline, "the start does not come");
        sleep(Duration::from_secs(2)).await;
    }
}

/// Nothing of what only a draw that was held may tell.
fn expect_unrevealed(record: &Reply) -> Result<()> {
    for field in ["seed", "committed_seed", "participants", "first_queue_number", "drawn_at"] {
        ensure!(record.body[field].is_null(), "{field} is told: {}", record.text);
    }
    ensure!(record.text_of("commitment")?.len() == 64, "{}", record.text);
    Ok(())
}

/// Five minutes and a few seconds of real time, of which nearly all is waiting for the start.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a pre-queue lasts five minutes"]
async fn a_whole_draw_gives_everyone_the_place_that_anyone_can_compute() -> Result<()> {
    const CROWD: u64 = 50;
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    deployment.create_room("sale", &json!({ "total_active_users": 5 })).await?;
    let opens = deployment.redis().now_seconds().await? + 5;
    let planned = plan_launch(&deployment, opens).await?.expect(201)?;
    until_published(&deployment, "collecting").await?;
    let mut guests = crowd::join(&deployment, "sale", usize::try_from(CROWD)?).await?;
    let first = guests[0].number;
    until_told(&deployment, &mut guests[0], None).await?;
    nobody_enters_before(&deployment, opens + PREQUEUE, &mut guests).await?;
    let record = until_published(&deployment, "drawn").await?;
    println!("published: {}", record.text);
    assert_eq!(record.number("event_start")?, opens + PREQUEUE);
    assert_eq!(record.number("participants")?, CROWD);
    assert_eq!(record.number("first_queue_number")?, first);
    assert_eq!(record.text_of("commitment")?, planned.text_of("commitment")?);
    ensure!(leaks::reveals(record.text_of("seed")?.as_bytes(), &record.text_of("commitment")?)?);
    let late = Guest::join(deployment.visitor("sale")).await?;
    ensure!(late.number == first + CROWD, "{late:?}");

    let computed = places(&record).await?;
    println!("places, in order of arrival: {computed:?}");
    until_told(&deployment, &mut guests[0], Some(computed[0])).await?;
    for guest in &mut guests {
        let told = guest.ask(false).await?.context("busy")?;
        let place = computed[usize::try_from(guest.number - first)?];
        assert_eq!(told.number("position")?, place, "number {}", guest.number);
    }
    let leave = |inside| stay_and_leave(inside, Duration::from_millis(500));
    let mut entered = all_of(enter_all(guests, Manner::Polite, leave)).await?;
    entered.sort_by_key(|inside| inside.told);
    let place = |number: u64| Ok(computed[usize::try_from(number - first)?]);
    let order: Result<Vec<u64>> = entered.iter().map(|inside| place(inside.number)).collect();
    let order = order?;
    println!("they entered in this order of their places: {order:?}");
    // Five seats, and one who stands by.
    ensure!(order[..5].iter().all(|place| *place < first + 6), "others were first: {order:?}");
    late.enter(Manner::Polite).await?;
    Ok(())
}

/// The place of each number, by the published record alone and as anyone computes it.
async fn places(record: &Reply) -> Result<Vec<u64>> {
    let dir = tempfile::tempdir()?;
    let (file, all) = (dir.path().join("record.json"), dir.path().join("places.csv"));
    fs::write(&file, &record.text)?;
    let mut command = Command::new(ours("vestibule-crowd")?);
    command.env_clear().arg("verify-draw").arg("--file").arg(&file).arg("--all").arg(&all);
    command.args(["--commitment", &record.text_of("commitment")?]);
    let mut check = Process::start(&mut command, &dir.path().join("check"))?;
    let ended = check.ended(Duration::from_mins(1)).await?;
    println!("{}", check.stdout());
    ensure!(ended == Exited::Code(0), "{ended:?}: {}", check.log_end());
    let places = fs::read_to_string(&all)?;
    let place = |line: &str| Ok(line.split(',').next_back().context("a position")?.parse()?);
    places.lines().skip(1).map(place).collect()
}
