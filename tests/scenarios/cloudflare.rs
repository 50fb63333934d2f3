//! An app that was written for Cloudflare's waiting rooms: one address, asked with exactly
//! `Accept: application/json` and a cookie jar, through everything that can happen to it.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Context, Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use vestibule_tests::{Carries, Deployment, Reply, Visitor};

use crate::{crowd, draw};

const SOON: Duration = Duration::from_secs(20);
const KEYS: [&str; 25] = [
    "inWaitingRoom",
    "waitTimeKnown",
    "waitTime",
    "waitTime25Percentile",
    "waitTime50Percentile",
    "waitTime75Percentile",
    "waitTimeFormatted",
    "queueIsFull",
    "queueAll",
    "lastUpdated",
    "refreshIntervalSeconds",
    "queueingMethod",
    "isFIFOQueue",
    "isRandomQueue",
    "isPassthroughQueue",
    "isRejectQueue",
    "isEventActive",
    "isEventPrequeueing",
    "timeUntilEventStart",
    "timeUntilEventStartFormatted",
    "timeUntilEventEnd",
    "timeUntilEventEndFormatted",
    "shuffleAtEventStart",
    "turnstile",
    "infiniteQueue",
];

/// An app with its cookie jar.
#[derive(Debug, Clone)]
struct App(Visitor);

/// What it was told.
#[derive(Debug)]
struct Told(Reply);

// === impl App ===

impl App {
    fn new(deployment: &Deployment) -> Self {
        let fleet = deployment.admissions().clone();
        Self(Visitor::new(fleet, "sale", Carries::Cookie).accepting("application/json"))
    }

    /// The only call that it knows.
    async fn get(&mut self) -> Result<Told> {
        let told = Told(self.0.status().await?.expect(200)?);
        let room = told.0.body["cfWaitingRoom"].as_object();
        let room = room.with_context(|| format!("no cfWaitingRoom in {}", told.0.text))?;
        let keys: BTreeSet<_> = room.keys().map(String::as_str).collect();
        ensure!(keys == BTreeSet::from(KEYS), "its keys are {keys:?}");
        Ok(told)
    }

    /// Comes back when it was told to, until `check` says so.
    async fn until(&mut self, what: &str, check: impl Fn(&Told) -> bool) -> Result<Told> {
        let deadline = Instant::now() + SOON;
        loop {
            let told = self.get().await?;
            if check(&told) {
                return Ok(told);
            }
            ensure!(Instant::now() < deadline, "not {what}: {}", told.0.text);
            sleep(Duration::from_millis(100)).await;
        }
    }
}

// === impl Told ===

impl Told {
    fn of(&self, key: &str) -> &Value {
        &self.0.body["cfWaitingRoom"][key]
    }

    fn expect(&self, expected: &Value) -> Result<()> {
        for (key, value) in expected.as_object().into_iter().flatten() {
            ensure!(self.of(key) == value, "{key} is not {value}: {}", self.0.text);
        }
        Ok(())
    }

    fn interval(&self) -> u64 {
        self.of("refreshIntervalSeconds").as_u64().unwrap_or_default()
    }

    /// After how many seconds a page that shows this comes back by itself; `None`: never.
    fn refresh(&self) -> Result<Option<u64>> {
        let header = self.0.headers.get("refresh");
        header.map(|value| anyhow::Ok(value.to_str()?.parse()?)).transpose()
    }
}

async fn sale(seats: u64) -> Result<Deployment> {
    let deployment = Deployment::builder().admissions(2).controllers(2).start().await?;
    let settings = json!({ "total_active_users": seats, "json_response_enabled": true });
    deployment.create_room("sale", &settings).await?;
    Ok(deployment)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_joins_waits_and_enters_by_asking_one_address() -> Result<()> {
    let deployment = sale(1).await?;
    let mut inside = deployment.visitor("sale");
    ensure!(inside.join().await?.says("admitted"), "the room is empty");
    let (mut first, mut second) = (App::new(&deployment), App::new(&deployment));
    first.get().await?;
    let told = second.get().await?;
    told.expect(&json!({
        "inWaitingRoom": true, "waitTime25Percentile": 0, "waitTime50Percentile": 0,
        "waitTime75Percentile": 0, "queueIsFull": false, "queueAll": false,
        "queueingMethod": "fifo", "isFIFOQueue": true, "isRandomQueue": false,
        "isPassthroughQueue": false, "isRejectQueue": false, "isEventActive": false,
        "isEventPrequeueing": false, "timeUntilEventStart": 0,
        "timeUntilEventStartFormatted": "unavailable", "timeUntilEventEnd": 0,
        "timeUntilEventEndFormatted": "unavailable", "shuffleAtEventStart": false,
        "turnstile": "", "infiniteQueue": false,
    }))?;
    ensure!(told.of("waitTimeFormatted").is_string() && told.of("waitTime").is_u64());
    ensure!(told.interval() > 0, "{}", told.0.text);
    ensure!(told.refresh()? > Some(0), "{:?}", told.0.headers);
    ensure!(told.0.headers.contains_key("set-cookie") && told.0.body["vestibule"].is_null());
    ensure!(told.0.header("cache-control") == "no-store", "{:?}", told.0.headers);
    let updated = expect_early_call_does_not_count(&mut second).await?;
    let status = deployment.operator().status("sale").await?;
    assert_eq!(status.number("queue_counter")?, 3, "one place for each cookie jar");
    second.until("counted", |told| *told.of("lastUpdated") != updated).await?;

    inside.leave().await?.expect(200)?;
    let told = first.until("inside", |told| *told.of("inWaitingRoom") == false).await?;
    told.expect(&json!({
        "waitTimeKnown": false, "waitTime": 0, "waitTimeFormatted": "unavailable",
        "refreshIntervalSeconds": 0, "queueingMethod": "fifo",
    }))?;
    ensure!(told.refresh()?.is_none(), "it has nothing to wait for: {:?}", told.0.headers);
    let token = told.0.body["vestibule"]["access_token"].as_str().context("a token")?;
    let claims = deployment.verifier().await?.verify(token, "sale")?;
    assert_eq!((claims.queue_position, claims.token_use.as_str()), (2, "access"));
    let again = first.get().await?;
    ensure!(again.0.body["vestibule"]["access_token"] == token, "{}", again.0.text);
    second.get().await?.expect(&json!({ "inWaitingRoom": true }))
}

/// Calls twice in a row until the second call comes before it is due; gives what it then tells as
/// `lastUpdated`. Between two calls a check-in may have become due, though not every time.
async fn expect_early_call_does_not_count(app: &mut App) -> Result<Value> {
    let deadline = Instant::now() + SOON;
    loop {
        let told = app.get().await?;
        let (updated, cookie) = (told.of("lastUpdated").clone(), app.0.ticket().to_owned());
        expect_timestamp(&updated)?;
        let early = app.get().await?;
        if *early.of("lastUpdated") == updated {
            assert_eq!(early.interval(), told.interval());
            assert_eq!(app.0.ticket(), cookie, "and it changes nothing");
            return Ok(updated);
        }
        ensure!(Instant::now() < deadline, "every call counts: {}", early.0.text);
    }
}

/// As `2020-08-03T23:46:00.000Z`.
fn expect_timestamp(value: &Value) -> Result<()> {
    let text = value.as_str().context("lastUpdated")?;
    let form: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    ensure!(form == "0000-00-00T00:00:00.000Z", "{text}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_is_told_how_the_room_queues() -> Result<()> {
    // It is the rate that holds people back: in a full room nobody knows yet how soon seats come free.
    let deployment = sale(50).await?;
    let operator = deployment.operator();
    let rate = json!({ "new_users_per_minute": 2 });
    operator.patch_room("sale", &rate).await?.expect(200)?;
    for _ in 0..2 {
        ensure!(deployment.visitor("sale").join().await?.says("admitted"), "seats are free");
    }
    crowd::join(&deployment, "sale", 30).await?;
    let mut app = App::new(&deployment);
    app.get().await?.expect(&json!({ "inWaitingRoom": true, "isFIFOQueue": true }))?;

    let change = json!({ "queueing_method": "random" });
    operator.patch_room("sale", &change).await?.expect(200)?;
    let told = app.until("random", |told| *told.of("isRandomQueue") == true).await?;
    told.expect(&json!({ "queueingMethod": "random", "isFIFOQueue": false }))?;
    ensure!(told.refresh()? > Some(0), "{:?}", told.0.headers);
    let known = |told: &Told| *told.of("waitTimeKnown") == true;
    let told = app.until("a wait that is known", known).await?;
    let minutes = |key: &str| told.of(key).as_u64().context(key.to_owned());
    let [p25, p50, p75] = [25, 50, 75].map(|share| minutes(&format!("waitTime{share}Percentile")));
    let (p25, p50, p75) = (p25?, p50?, p75?);
    ensure!(0 < p25 && p25 <= p50 && p50 <= p75 && minutes("waitTime")? == p50, "{}", told.0.text);
    let formatted = told.of("waitTimeFormatted").as_str().context("waitTimeFormatted")?;
    let written = |count: u64| format!("{count} minute{}", if count == 1 { "" } else { "s" });
    // Those who only joined are gone after a minute: then there is nothing between the quartiles.
    let range =
        if p25 < p75 { format!("{} to {}", written(p25), written(p75)) } else { written(p75) };
    ensure!(formatted == range, "{formatted}, and not {range}");

    let change = json!({ "queueing_method": "passthrough", "queue_all": true });
    operator.patch_room("sale", &change).await?.expect(200)?;
    let told = app.until("held", |told| *told.of("queueAll") == true).await?;
    told.expect(&json!({
        "inWaitingRoom": true, "queueingMethod": "passthrough", "isPassthroughQueue": true,
        "waitTimeKnown": false, "waitTimeFormatted": "unavailable",
    }))?;
    ensure!(told.refresh()? > Some(0) && told.interval() > 0, "{:?}", told.0);

    let change = json!({ "queueing_method": "reject", "queue_all": false });
    operator.patch_room("sale", &change).await?.expect(200)?;
    app.until("rejected", |told| *told.of("isRejectQueue") == true).await?;
    for app in [&mut app, &mut App::new(&deployment)] {
        let told = app.until("rejected", |told| *told.of("isRejectQueue") == true).await?;
        told.expect(&json!({
            "inWaitingRoom": true, "queueingMethod": "reject", "refreshIntervalSeconds": 0,
            "waitTimeKnown": false, "queueAll": false,
        }))?;
        ensure!(told.refresh()?.is_none(), "nobody comes back by itself: {:?}", told.0.headers);
        ensure!(!told.0.headers.contains_key("set-cookie"), "{:?}", told.0.headers);
    }
    // Whoever was in line is still there.
    let change = json!({ "queueing_method": "passthrough" });
    operator.patch_room("sale", &change).await?.expect(200)?;
    let told = app.until("let in", |told| *told.of("inWaitingRoom") == false).await?;
    assert_eq!(told.0.body["vestibule"]["queue_number"], 33, "{}", told.0.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_is_told_of_the_event_that_it_came_early_for() -> Result<()> {
    let deployment = sale(5).await?;
    let opens = deployment.redis().now_seconds().await? + 5;
    draw::plan_launch(&deployment, opens).await?.expect(201)?;
    let is_open = |status: &Reply| Ok(status.body["state"] == "event_prequeueing");
    deployment.operator().until("sale", "the pre-queue", SOON, is_open).await?;
    let mut app = App::new(&deployment);
    let told = app.until("early", |told| *told.of("isEventPrequeueing") == true).await?;
    told.expect(&json!({ "inWaitingRoom": true }))?;
    told.expect(&json!({
        "isEventActive": true, "shuffleAtEventStart": true, "waitTimeKnown": false,
        "waitTime": 0, "waitTimeFormatted": "unavailable", "queueAll": false,
    }))?;
    let start = told.of("timeUntilEventStart").as_u64().context("timeUntilEventStart")?;
    ensure!((4..=5).contains(&start), "{}", told.0.text);
    assert_eq!(*told.of("timeUntilEventStartFormatted"), format!("{start} minutes"));
    let end = told.of("timeUntilEventEnd").as_u64().context("timeUntilEventEnd")?;
    ensure!((start + 60..=start + 61).contains(&end), "{}", told.0.text);
    assert_eq!(*told.of("timeUntilEventEndFormatted"), format!("1 hour {} minutes", end - 60));
    ensure!(told.refresh()? > Some(0) && told.interval() > 0, "{:?}", told.0);
    let path = "/v1/rooms/sale/events/launch";
    deployment.operator().call(Method::DELETE, path, None).await?.expect(204)?;
    let told = app.until("inside", |told| *told.of("inWaitingRoom") == false).await?;
    told.expect(&json!({ "isEventActive": false, "shuffleAtEventStart": false }))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_asks_otherwise_is_answered_in_our_form() -> Result<()> {
    let deployment = sale(0).await?;
    let mut app = App::new(&deployment);
    app.get().await?;
    for accept in ["*/*", "text/html", "application/json, text/html", "application/problem+json"] {
        let reply = app.0.clone().accepting(accept).status().await?.expect(200)?;
        ensure!(reply.says("waiting") && reply.body["cfWaitingRoom"].is_null(), "{}", reply.text);
        let stranger = Visitor::new(deployment.admissions().clone(), "sale", Carries::Cookie);
        stranger.accepting(accept).status().await?.expect(400)?;
    }
    let reply = app.0.clone().join().await?.expect(200)?;
    ensure!(reply.says("waiting") && reply.body["cfWaitingRoom"].is_null(), "{}", reply.text);

    let off = json!({ "json_response_enabled": false });
    deployment.operator().patch_room("sale", &off).await?.expect(200)?;
    let deadline = Instant::now() + SOON;
    for admissions in deployment.admissions().each() {
        let mut app = app.0.clone().at(admissions);
        while !app.status().await?.expect(200)?.says("waiting") {
            ensure!(Instant::now() < deadline, "still in the form of others");
        }
    }
    let mut stranger = App::new(&deployment);
    stranger.0.status().await?.expect(400)?;
    Ok(())
}
