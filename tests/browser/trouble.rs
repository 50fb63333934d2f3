//! What the page says when something is not as usual: the room is gone, closed or has no site, the
//! service does not answer, the event has not started.

use std::time::Duration;

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::json;
use vestibule_tests::{
    Deployment, Service,
    browser::{Chromium, Media, Options, Seat},
};

use crate::place::{SOON, fill, page};

/// Within this time, the page says that the service does not answer.
const TOLD: Duration = Duration::from_secs(5);

/// Time runs twenty times as fast for the timers of the page.
const FAST_TIMERS: &str = "const set = window.setTimeout;
    window.setTimeout = (run, pause, ...values) => set(run, pause / 20, ...values);";

/// Notes the states that live updates tell, and whether the time of the last update ever goes.
const LISTEN: &str = "window.live = []; window.withoutTime = 0;
    window.EventSource = class extends EventSource {
        constructor(...all) {
            super(...all);
            this.addEventListener('open', () => live.push('opened'));
            this.addEventListener('message', event => {
                live.push(JSON.parse(event.data).state);
                setTimeout(() => {
                    if (!document.getElementById('updated').checkVisibility()) withoutTime += 1;
                });
            });
        }
    };";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_that_is_gone_is_said_in_words() -> Result<()> {
    let Some(_seat) = Seat::take().await? else { return Ok(()) };
    let deployment = Deployment::builder().start().await?;
    fill(&deployment, "full", &json!({ "total_active_users": 1 })).await?;
    let browser = Chromium::start(&Options::default()).await?;
    for (media, language, told) in [
        (Media::Light, "en", "This waiting room does not exist"),
        (Media::Dark, "ar", "غرفة الانتظار هذه غير موجودة"),
    ] {
        browser.set_media(media).await?;
        browser.goto(&page(&deployment, "nowhere", &format!("?lang={language}"))).await?;
        browser.expect_state("no_room").await?;
        let text = browser.text("status-text").await?;
        ensure!(text.starts_with(told), "it says `{text}`");
        browser.violations().await?.expect_none()?;
    }
    browser.goto(&page(&deployment, "full", "?lang=fr")).await?;
    browser.expect_state("waiting").await?;
    browser.eval("window.mark = 'here'").await?;
    deployment
        .operator()
        .call(Method::DELETE, "/v1/rooms/full?people=9", None)
        .await?
        .expect(204)?;
    browser.reaches("no_room", 2 * SOON).await?;
    let text = browser.text("status").await?;
    ensure!(text.starts_with("Cette salle d’attente n’existe pas"), "it says `{text}`");
    for id in ["position", "ahead", "updated", "go", "auto", "tools"] {
        ensure!(!browser.shows(id).await?, "#{id} is shown");
    }
    let asked = "performance.getEntriesByType('resource').length";
    let before = browser.eval(asked).await?;
    tokio::time::sleep(Duration::from_secs(6)).await;
    ensure!(browser.eval(asked).await? == before, "it still asks");
    ensure!(browser.eval("window.mark").await? == "here", "loaded anew");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_does_not_answer_is_said_and_so_is_its_return() -> Result<()> {
    let Some(_seat) = Seat::take().await? else { return Ok(()) };
    let mut deployment = Deployment::builder().start().await?;
    fill(&deployment, "full", &json!({ "total_active_users": 1 })).await?;
    let browser = Chromium::start(&Options::default()).await?;
    browser.before_scripts(LISTEN).await?;
    browser.goto(&page(&deployment, "full", "?lang=de")).await?;
    browser.until("live.includes('opened')", SOON).await?;
    let place = browser.text("position").await?;
    tokio::time::sleep(Duration::from_secs(6)).await;
    ensure!(!browser.shows("unreachable").await?, "it is reachable");
    deployment.kill(Service::Admission, 0)?;
    let told = "document.getElementById('unreachable').checkVisibility()";
    browser.until(told, TOLD).await?;
    let text = browser.text("unreachable").await?;
    ensure!(text.contains("Ihr Platz ist sicher"), "it says `{text}`");
    ensure!(browser.text("position").await? == place, "the last that was known stays");
    ensure!(browser.shows("updated").await?, "and of when that is");
    browser.violations().await?.expect_none()?;
    deployment.restart(Service::Admission, 0).await?;
    browser.until(&format!("!{told}"), 2 * SOON).await?;
    // An instance that has just started may not know the room yet, and says that it is busy.
    browser.reaches("waiting", 2 * SOON).await?;
    ensure!(browser.text("position").await? == place, "has lost its place");
    // It takes the connection, and says nothing.
    deployment.process_mut(Service::Admission, 0).freeze()?;
    let hangs = browser.until(told, SOON).await;
    deployment.process_mut(Service::Admission, 0).thaw()?;
    hangs?;
    browser.until(&format!("!{told}"), 2 * SOON).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_room_that_opens_again_is_noticed() -> Result<()> {
    let Some(_seat) = Seat::take().await? else { return Ok(()) };
    let deployment = Deployment::builder().start().await?;
    let closed = json!({ "total_active_users": 9, "queueing_method": "reject" });
    deployment.create_room("closed", &closed).await?;
    let browser = Chromium::start(&Options::default()).await?;
    browser.before_scripts(FAST_TIMERS).await?;
    browser.goto(&page(&deployment, "closed", "")).await?;
    browser.expect_state("turned_away").await?;
    let pause = browser.eval("+document.documentElement.dataset.refresh").await?;
    let pause = pause.as_f64().unwrap_or_default();
    ensure!((30.0..=60.0).contains(&pause), "it asks again in {pause} seconds");
    let without_script = browser.eval("document.querySelector('noscript')?.textContent").await?;
    ensure!(without_script.to_string().contains("refresh"), "not without script: {without_script}");
    let open = json!({ "queueing_method": "fifo" });
    deployment.operator().patch_room("closed", &open).await?.expect(200)?;
    browser.reaches("inside", SOON).await?;
    // The room has no routes: there is nowhere that the page could lead to.
    let text = browser.text("status-text").await?;
    ensure!(text.starts_with("Go back to the page you came from"), "it says `{text}`");
    ensure!(!browser.shows("go").await? && !browser.shows("enter").await?, "a link to itself");
    browser.violations().await?.expect_none()?;
    browser.expect_silent_console().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_start_of_an_event_is_counted_down() -> Result<()> {
    let Some(_seat) = Seat::take().await? else { return Ok(()) };
    let deployment = Deployment::builder().start().await?;
    deployment.create_room("early", &json!({ "total_active_users": 9 })).await?;
    let now = deployment.redis().now_seconds().await?;
    let event = json!({
        "prequeue_start_time": now + 3, "event_start_time": now + 1200,
        "event_end_time": now + 7200,
    });
    let path = "/v1/rooms/early/events/launch";
    deployment.operator().call(Method::PUT, path, Some(&event)).await?.expect(201)?;
    let browser = Chromium::start(&Options::default()).await?;
    browser.before_scripts(LISTEN).await?;
    browser.set_media(Media::Light).await?;
    crate::states::until_second(&deployment, now + 4).await?;
    browser.goto(&page(&deployment, "early", "?lang=en")).await?;
    browser.expect_state("early").await?;
    let watch = "window.spoken = 0; window.ticks = [];
        const last = document.getElementById('status').innerText;
        setInterval(() => {
            if (document.getElementById('status').innerText !== last) spoken += 1;
            const clock = document.getElementById('countdown').innerText;
            if (ticks.at(-1) !== clock) ticks.push(clock);
        }, 50);";
    browser.eval(&format!("(() => {{ {watch} }})()")).await?;
    browser.until("ticks.length >= 4", SOON).await?;
    let [ticks, spoken] = [browser.eval("ticks").await?, browser.eval("spoken").await?];
    ensure!(spoken == 0, "said to screen readers {spoken} times");
    let clock = browser.text("countdown").await?;
    ensure!(clock.starts_with("19:") && browser.shows("starts").await?, "{ticks}");
    browser.violations().await?.expect_none()?;
    // Live updates tell the state, and the time of the last update stays.
    browser.until("live.includes('opened')", SOON).await?;
    let held = json!({ "queue_all": true });
    deployment.operator().patch_room("early", &held).await?.expect(200)?;
    browser.until("live.includes('paused')", SOON).await?;
    browser.reaches("paused", SOON).await?;
    ensure!(!browser.shows("countdown").await?, "still counts");
    ensure!(browser.eval("withoutTime").await? == 0, "the time of the last update has gone");
    let open = json!({ "queue_all": false });
    deployment.operator().patch_room("early", &open).await?.expect(200)?;
    browser.reaches("early", SOON).await?;
    browser.set_scripts(false).await?;
    browser.goto(&page(&deployment, "early", "?lang=en")).await?;
    ensure!(browser.text("starts").await?.ends_with(" UTC"), "no time of the start");
    ensure!(!browser.shows("countdown").await? && browser.shows("status-text").await?);
    Ok(())
}
