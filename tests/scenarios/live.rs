//! Live updates for the waiting page: they come when something has changed, they count as no check-in,
//! and a page without them goes on asking.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use reqwest::{Response, header::COOKIE};
use serde_json::{Value, json};
use tokio::time::timeout;
use vestibule_tests::{Deployment, Service, Visitor, eventually};

use crate::page::{Browser, is};

/// Shorter than the time-out of the client.
const SOON: Duration = Duration::from_secs(10);

/// A page's stream.
struct Live(Response);

// === impl Live ===

impl Live {
    async fn open(deployment: &Deployment, browser: &Browser) -> Result<Self> {
        let url = deployment.admissions().at("/room/sale/live?lang=de&return=%2Fx")?;
        let cookies: Vec<_> = browser.cookies.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let request = deployment.admissions().http().get(url).header(COOKIE, cookies.join("; "));
        Ok(Self(request.send().await?))
    }

    /// Reads until an update of this state comes.
    async fn sees(mut self, state: &str) -> Result<Value> {
        let mut bytes = Vec::new();
        let news = async {
            while let Some(chunk) = self.0.chunk().await? {
                bytes.extend_from_slice(&chunk);
                // The last line may not have come whole yet.
                while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = bytes.drain(..=end).collect();
                    let Some(event) = line.strip_prefix(b"data: ") else { continue };
                    let event: Value = serde_json::from_slice(event)?;
                    if event["state"] == state {
                        return Ok(event);
                    }
                }
            }
            anyhow::bail!("the stream ended")
        };
        timeout(SOON, news).await.context("in time")?
    }

    /// The server ends it, not a time-out.
    async fn ends(mut self) -> Result<()> {
        let end = async {
            while self.0.chunk().await?.is_some() {}
            anyhow::Ok(())
        };
        timeout(SOON, end).await.context("it does not end")?
    }
}

async fn full_room(deployment: &Deployment) -> Result<(Visitor, Browser)> {
    deployment.create_room("sale", &json!({ "total_active_users": 1 })).await?;
    let mut first = deployment.visitor("sale");
    ensure!(first.join().await?.expect(200)?.says("admitted"));
    let mut ann = Browser::new(deployment);
    is(&ann.get("/room/sale").await?, "waiting")?;
    Ok((first, ann))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_turn_is_told_as_it_comes() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let (mut first, ann) = full_room(&deployment).await?;
    let live = Live::open(&deployment, &ann).await?;
    assert_eq!(live.0.headers()["content-type"], "text/event-stream");
    assert_eq!(live.0.headers()["cache-control"], "no-store");
    let metrics = deployment.admin(Service::Admission, 0, "/metrics").await?;
    ensure!(metrics.text.contains("live_updates 1"), "{}", metrics.text);
    first.leave().await?;
    let news = live.sees("turn").await?;
    assert_eq!(news["wanted"], "/x");
    assert_eq!(news["texts"]["headline"], "Sie sind an der Reihe");
    ensure!(news["hold_seconds"].is_null() && news["times"]["updated"].is_u64(), "{news}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn beyond_the_limit_pages_go_on_asking_and_room_is_made_when_one_goes() -> Result<()> {
    let builder = Deployment::builder().environment("VESTIBULE_MAX_LIVE_UPDATES", "1");
    let deployment = builder.start().await?;
    let (_first, ann) = full_room(&deployment).await?;
    let live = Live::open(&deployment, &ann).await?;
    assert_eq!(live.0.status(), 200);
    let refused = Live::open(&deployment, &ann).await?;
    assert_eq!(refused.0.status(), 503);
    ensure!(refused.0.headers().contains_key("retry-after"));
    drop(live);
    eventually(SOON, "room for another one", || async {
        let live = Live::open(&deployment, &ann).await?;
        ensure!(live.0.status() == 200, "{}", live.0.status());
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_visitor_has_a_few_streams_and_the_others_theirs() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let (_first, ann) = full_room(&deployment).await?;
    let mut open = Vec::new();
    for _ in 0..4 {
        let live = Live::open(&deployment, &ann).await?;
        assert_eq!(live.0.status(), 200);
        open.push(live);
    }
    for _ in 0..20 {
        let refused = Live::open(&deployment, &ann).await?;
        assert_eq!(refused.0.status(), 429);
        ensure!(refused.0.headers().contains_key("retry-after"));
    }
    let mut bob = Browser::new(&deployment);
    is(&bob.get("/room/sale").await?, "waiting")?;
    assert_eq!(Live::open(&deployment, &bob).await?.0.status(), 200);
    open.pop();
    eventually(SOON, "room for another one", || async {
        let live = Live::open(&deployment, &ann).await?;
        ensure!(live.0.status() == 200, "{}", live.0.status());
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_no_place_in_line_has_nothing_to_watch() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let (_first, _ann) = full_room(&deployment).await?;
    let stranger = Live::open(&deployment, &Browser::new(&deployment)).await?;
    assert_eq!(stranger.0.status(), 204);
    let mut forged = Browser::new(&deployment);
    forged.cookies.insert("vestibule_sale".into(), "nonsense".into());
    assert_eq!(Live::open(&deployment, &forged).await?.0.status(), 204);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_do_not_hold_up_a_stop() -> Result<()> {
    let mut deployment = Deployment::builder().grace_seconds(60).start().await?;
    let (_first, ann) = full_room(&deployment).await?;
    let live = Live::open(&deployment, &ann).await?;
    let process = deployment.process_mut(Service::Admission, 0);
    process.terminate()?;
    live.ends().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_ends_when_the_room_is_reset() -> Result<()> {
    let deployment = Deployment::builder().start().await?;
    let (_first, ann) = full_room(&deployment).await?;
    let live = Live::open(&deployment, &ann).await?;
    let reset = deployment.operator();
    reset.call(reqwest::Method::POST, "/v1/rooms/sale/reset", None).await?;
    live.ends().await
}
