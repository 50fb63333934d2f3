//! Beacons that events name: for whom the controllers ask one, where it may be, and how many are asked at a time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Result, ensure};
use axum::{Router, http::StatusCode, routing::get};
use reqwest::Method;
use serde_json::{Map, Value, json};
use tokio::{net::TcpListener, task::AbortHandle, time::sleep};
use vestibule_tests::Deployment;

use crate::rooms::expect_problem;

const TOKENS: &str = "see:viewer:viewer-token-000;sales:operator:sale:sales-token-0000";

/// A beacon whose rounds are never there, and which counts the questions for them. Of its chain it tells nothing.
struct Beacon {
    url: String,
    asked: Arc<AtomicUsize>,
    /// How many it was asked at a time, at most.
    at_a_time: Arc<AtomicUsize>,
    task: AbortHandle,
}

// === impl Beacon ===

impl Beacon {
    async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let (asked, at_a_time) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let (count, most, now) = (Arc::clone(&asked), Arc::clone(&at_a_time), AtomicUsize::new(0));
        let now = Arc::new(now);
        let routes = Router::new().route("/info", get(StatusCode::NOT_FOUND)).fallback(move || {
            let (count, most, now) = (Arc::clone(&count), Arc::clone(&most), Arc::clone(&now));
            async move {
                count.fetch_add(1, Ordering::SeqCst);
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                sleep(Duration::from_millis(100)).await;
                now.fetch_sub(1, Ordering::SeqCst);
                StatusCode::NOT_FOUND
            }
        });
        let task = tokio::spawn(async move { axum::serve(listener, routes).await }).abort_handle();
        Ok(Self { url, asked, at_a_time, task })
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// Events of a room, one after the other, of which each names a round of its own.
    async fn events(&self, deployment: &Deployment, count: u64) -> Result<Value> {
        let start = deployment.redis().now_seconds().await? + 10_000;
        let events = (0..count).map(|number| {
            let start = start + number * 1_000;
            let event = json!({
                "prequeue_start_time": start, "event_start_time": start + 300,
                "event_end_time": start + 600, "draw_at_event_start": true,
                "beacon": { "url": self.url, "round": number + 1, "public_key": "ab".repeat(48) },
            });
            (format!("event-{number}"), event)
        });
        Ok(events.collect::<Map<_, _>>().into())
    }

    /// A document with such a room.
    async fn document(&self, deployment: &Deployment, count: u64) -> Result<Value> {
        let events = self.events(deployment, count).await?;
        Ok(json!({ "rooms": { "sale": { "events": events } } }))
    }
}

impl Drop for Beacon {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn deployment(private: bool) -> Result<Deployment> {
    let builder = Deployment::builder().environment("VESTIBULE_API_TOKENS", TOKENS);
    let builder = builder.environment("VESTIBULE_PRIVATE_BEACONS", &private.to_string());
    let deployment = builder.start().await?;
    deployment.create_room("sale", &json!({})).await?;
    Ok(deployment)
}

const DRY: &str = "/v1/config?dry_run=true";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_operators_have_beacons_asked_a_few_at_a_time_once_all_else_is_well() -> Result<()> {
    let (deployment, beacon) = (deployment(true).await?, Beacon::start().await?);
    let operator = deployment.operator();
    let document = beacon.document(&deployment, 20).await?;
    let viewer = operator.with_token("viewer-token-000");
    let told = viewer.call(Method::PUT, DRY, Some(&document)).await?.expect(200)?;
    ensure!(beacon.asked() == 0, "a viewer had {} questions asked", beacon.asked());
    ensure!(told.body["unasked_beacons"] == 20, "{}", told.text);

    let sales = operator.with_token("sales-token-0000");
    let mut wrong = document.clone();
    wrong["rooms"]["sale"]["events"]["event-0"]["event_end_time"] = json!(1);
    let refused = sales.call(Method::PUT, DRY, Some(&wrong)).await?;
    expect_problem(&refused, 400, "rooms.sale.events.event-0")?;
    ensure!(beacon.asked() == 0, "of a document that cannot be applied");

    let told = sales.call(Method::PUT, DRY, Some(&document)).await?.expect(200)?;
    ensure!(told.body.get("unasked_beacons").is_none(), "{}", told.text);
    let at_a_time = beacon.at_a_time.load(Ordering::SeqCst);
    ensure!(beacon.asked() == 20 && at_a_time <= 8, "{} {at_a_time}", beacon.asked());

    let many = beacon.document(&deployment, 33).await?;
    let refused = sales.call(Method::PUT, DRY, Some(&many)).await?;
    expect_problem(&refused, 400, "33 rounds of beacons")?;
    sales.call(Method::PUT, "/v1/config", Some(&document)).await?.expect(200)?;
    ensure!(beacon.asked() == 40, "{}", beacon.asked());
    sales.call(Method::PUT, "/v1/config", Some(&document)).await?.expect(200)?;
    ensure!(beacon.asked() == 40, "rounds that are named already were asked for again");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_private_address_is_asked_unless_that_was_said() -> Result<()> {
    let (deployment, beacon) = (deployment(false).await?, Beacon::start().await?);
    let sales = deployment.operator().with_token("sales-token-0000");
    let mut event = beacon.events(&deployment, 1).await?["event-0"].clone();
    let path = "/v1/rooms/sale/events/launch";
    for host in ["127.0.0.1", "2130706433", "[::ffff:127.0.0.1]"] {
        event["beacon"]["url"] = beacon.url.replace("127.0.0.1", host).into();
        let reply = sales.call(Method::PUT, path, Some(&event)).await?;
        expect_problem(&reply, 400, "beacon.url")?;
        ensure!(reply.text.contains("VESTIBULE_PRIVATE_BEACONS"), "{}", reply.text);
    }
    for more in ["?x=1", "#x", "/@x"] {
        event["beacon"]["url"] = format!("{}{more}", beacon.url).into();
        let reply = sales.call(Method::PUT, path, Some(&event)).await?;
        expect_problem(&reply, 400, "beacon.url")?;
    }
    // A name is looked up when it is connected to. Without an answer the event is as it would be later.
    event["beacon"]["url"] = beacon.url.replace("127.0.0.1", "localhost").into();
    sales.call(Method::PUT, path, Some(&event)).await?.expect(201)?;
    ensure!(beacon.asked() == 0, "{}", beacon.asked());
    Ok(())
}
